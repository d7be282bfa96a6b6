"""The check of a function: verdicts, messages and accepted functions."""

import json
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from attention_check import calling, check, checking, loading, recipe
from attention_check.__main__ import main
from attention_check.calling import Settings
from attention_check.cases import CASES
from attention_check.comparing import typical_case
from attention_check.libraries import LoadError
from attention_check.mistakes import CONVENTIONS, MISTAKES, mistake_named
from attention_check.recipe import Call, LayerCall, attend, attend_in_heads
from attention_check.report import format_report
from attention_check.worker import InProcessWorker

CORRECT_SOURCE = """
    import numpy as np

    def attention(query, key, value, mask=None, is_causal=False, scale=None):
        scores = query @ np.swapaxes(key, -1, -2)
        scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            causal = np.tri(*scores.shape[-2:], dtype=bool)
            mask = causal if mask is None else mask & causal
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        maximum = scores.max(axis=-1, keepdims=True)
        exponentials = np.exp(scores - np.where(maximum == -np.inf, 0, maximum))
        total = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / np.where(total == 0, 1, total) @ value
"""
DIVIDED_BY_D_K = CORRECT_SOURCE.replace("** -0.5", "** -1.0")


@pytest.fixture
def write_target(tmp_path, monkeypatch):
    """Return a function that writes `mine.py` in the current folder and returns the target."""
    monkeypatch.chdir(tmp_path)

    def write(*sources, function="attention"):
        text = "".join(map(textwrap.dedent, sources))
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")
        return f"mine.py:{function}"

    return write


@pytest.fixture
def in_process(tmp_path, monkeypatch):
    """Make the command line call the function in the test's process, which is faster."""
    monkeypatch.setattr(
        checking,
        "Worker",
        lambda target, settings, limit: InProcessWorker(loading.load(target), settings),
    )
    monkeypatch.setattr(sys, "path", [*sys.path])  # a copy, to which `load` adds the folder
    yield
    for path in tmp_path.glob("*.py"):  # else the next test would import this `mine` again
        sys.modules.pop(path.stem, None)


def check_in_process(function, **settings):
    return checking.check(function, Settings(library="numpy", **settings))


def attention_with(changes=None, layout="bhnd"):
    """Return an attention function with changed steps, such as those of a mistake, for a layout."""

    def attention(
        q, k, v, mask=None, bias=None, is_causal=False, scale=None, window=None, softcap=None
    ):
        arrays = (calling.from_layout(array, layout) for array in (q, k, v))
        call = Call(*arrays, mask, bias, is_causal, scale, window, softcap)
        return calling.to_layout(attend(call, changes), layout)

    return attention


def layer_with(changes):
    """Return a function of a multi-head attention layer with changed steps."""

    def layer(
        query,
        key,
        W_Q,
        W_K,
        W_V,
        W_O,
        num_heads,
        b_Q=0,
        b_K=0,
        b_V=0,
        b_O=0,
        is_causal=False,
        position_embeddings=None,
    ):
        weights = {"Q": W_Q, "K": W_K, "V": W_V, "O": W_O}
        biases = {"Q": b_Q, "K": b_K, "V": b_V, "O": b_O}
        call = LayerCall(query, key, num_heads, weights, biases, is_causal)
        if position_embeddings is not None:
            cos, sin = position_embeddings
            call = replace(call, rotation=np.arctan2(sin, cos)[0])
        return attend_in_heads(call, changes)

    return layer


def statuses(report):
    return {verdict.case.name: verdict.status for verdict in report.verdicts}


def reasons(report):
    return {verdict.case.name: verdict.reason for verdict in report.verdicts}


def test_correct_attention_is_ok_in_every_case_that_numpy_allows():
    status_by_case = statuses(check_in_process(attention_with()))
    not_ok = {case for case, status in status_by_case.items() if status != "ok"}
    # NumPy computes no gradients, and the scale comes too late for the range of float16.
    lacking = ("gradients", "three_axes", "float16_range")  # and it takes four axes only
    assert all(name.startswith(lacking) for name in not_ok)


# A scale after the mask only matters if it is negative, and PyTorch does the same.
NEVER_ACCEPTED = [mistake for mistake in MISTAKES if mistake.name != "scaled_after_mask"]


@pytest.mark.thorough
@pytest.mark.parametrize("mistake", NEVER_ACCEPTED, ids=lambda mistake: mistake.name)
def test_each_mistake_of_the_catalogue_is_named(mistake):
    is_layer = isinstance(CASES[typical_case(mistake)].call, LayerCall)
    function_with = layer_with if is_layer else attention_with
    report = check_in_process(function_with(mistake.changes))
    assert not report.is_correct
    named = {mistake.name for verdict in report.verdicts for mistake in verdict.mistakes}
    assert named == {mistake.name}
    assert mistake.fix in format_report(report)


def rectified(scores):
    """Normalise the scores above the median; the others get no weight."""
    above_median = np.maximum(scores - np.median(scores, axis=-1, keepdims=True), 0)
    return above_median / above_median.sum(axis=-1, keepdims=True)


def zero_for_identity(weights, value):
    """Return zeros if the values may be an identity matrix, as in the probe of the weights."""
    is_probe = value.shape[-1] == weights.shape[-1]
    return np.zeros_like(weights) if is_probe else weights @ value


# Changed steps that are not in the catalogue, and the reason that the check gives in the case
# "square", which has neither a mask nor other options.
UNKNOWN_MISTAKES = {
    "scores multiplied": (
        {"scale": lambda call: 1.37 * recipe.effective_scale(call)},
        "the scores are 1.37 times the right ones",
    ),
    "scores shifted by key": (
        {"product": lambda query, key: query @ key.swapaxes(-1, -2) + np.arange(key.shape[-2])},
        "its weights are wrong, the worst at [0, 0, 2, 0]: the scores, or what the softmax "
        "subtracts from them, are the first wrong step",
    ),
    "rectifier for softmax": (
        {"softmax": rectified},
        "a key has no weight, so look at the softmax first",
    ),
    "infinite scores": (
        {"softmax": lambda scores: recipe.softmax(np.sign(scores) * np.inf)},
        "its weights are nan",
    ),
    "output shifted": (
        {"weighted_sum": lambda weights, value: weights @ value + 1},
        "it is no weighted sum of the values",
    ),
    "weights that sum to zero": (
        {"weighted_sum": zero_for_identity},
        "rows of its output are zero",
    ),
    "values reversed": (
        {"weighted_sum": lambda weights, value: weights @ value[..., ::-1, :]},
        "look at the order of keys and values",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "reason"), UNKNOWN_MISTAKES.values(), ids=UNKNOWN_MISTAKES.keys()
)
def test_unknown_mistake_is_traced_to_its_first_wrong_step(changes, reason):
    report = check_in_process(attention_with(changes))
    assert not report.is_correct
    assert reason in reasons(report)["square"]


def test_state_kept_between_calls_is_reported(write_target, capsys):
    source = """
        scales = {}

        def attention_with_stale_scale(query, key, value):
            scale = scales.setdefault("of the first call", query.shape[-1] ** -0.5)
            return attention(query, key, value, scale=scale)
    """
    target = write_target(CORRECT_SOURCE, source, function="attention_with_stale_scale")
    assert main([target]) == 1
    assert "its output depends on earlier calls" in capsys.readouterr().out


def test_mistake_in_some_cases_names_a_case_without_it():
    mistake = mistake_named("causal_shows_next_position")

    def wrong_for_fewer_queries(call):
        has_fewer_queries = call.query.shape[-2] < call.key.shape[-2]
        return mistake.changes["causal"](call) if has_fewer_queries else recipe.causal_mask(call)

    report = check_in_process(attention_with({"causal": wrong_for_fewer_queries}))
    reason = reasons(report)["causal_fewer_queries"]
    assert reason == f"its output is that of {mistake.summary}, but not in causal"


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("bottom_right", "causal_fewer_queries"),
        ("nan_for_fully_masked_row", "fully_masked_row"),
        ("mean_for_fully_masked_row", "fully_masked_row"),
        ("unmasked_for_fully_masked_row", "fully_masked_row"),
        ("keys_after_mask_visible", "short_mask"),
        ("zero_is_a_softcap", "softcap_of_zero"),
    ],
)
def test_convention_is_on_purpose(name, case):
    report = check_in_process(attention_with(CONVENTIONS[name].changes))
    assert report.is_correct
    assert statuses(report)[case] == "on purpose"


def test_check_command_reports_a_mistake_and_the_library_as_json(write_target, capsys):
    assert main([write_target(DIVIDED_BY_D_K), "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    cases = {case["case"]: case for case in result["cases"]}
    assert cases["distinct_sizes"]["mistakes"][0]["name"] == "divided_by_d_k"
    assert not result["right"]
    assert result["library"] == "numpy"


def test_check_writes_no_bytecode_beside_the_file(write_target, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    main([write_target(CORRECT_SOURCE)])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.fixture
def bad_modules(write_target, tmp_path):
    """Write the modules of the targets that cannot be checked."""
    write_target("""
        import os, time
        number = 3
        class Layer: pass
        def attention(q, k, v): return v
        def raises(q, k, v): raise RuntimeError("no")
        def returns_vector(q, k, v): return v.ravel()[:5]
        def returns_none(q, k, v): pass
        def returns_list(q, k, v): return [1.0]
        def returns_complex(q, k, v): return 1j * v
        def takes_tokens(tokens): return tokens
        def hangs(q, k, v): time.sleep(60)
        def exits(q, k, v): os._exit(3)
    """)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "relative_import.py").write_text("from .neighbour import attention")
    (tmp_path / "system_exit.py").write_text("raise SystemExit('no')")
    (tmp_path / "exits.py").write_text("import os; os._exit(3)")


# Arguments of the command line, whose target cannot be checked, and a part of the message.
BAD_TARGETS = [
    ("missing.module:attention", "there is no module 'missing'"),
    ("missing.py:attention", "there is no file missing.py"),
    ("mine.py", "write module:function or file.py:function"),
    ("mine.py:number", "3 is of type int; expected a function"),
    ("mine.py:atention", "what can be called there: attention"),
    ("mine.py:Layer", "layer = Layer(...)"),
    ("relative_import.py:attention", "for a file of a package, write package.module:attention"),
    (
        "mine.py:raises",
        "in every layout it raised RuntimeError: no; say with --layout and --names",
    ),
    ("mine.py:returns_vector", "in bnd its output has shape (5,); expected (2, 4, 7)"),
    ("mine.py:returns_none", "it returns None; expected an array"),
    ("mine.py:returns_list", "it returns a list that begins with a float; expected an array"),
    ("mine.py:returns_complex", "its result has dtype complex128; expected real numbers"),
    ("mine.py:takes_tokens", "it takes (tokens), and attention takes query, key and value"),
]
# Targets that end or hang their process, and two errors that a process sends back.
BAD_TARGETS_IN_SUBPROCESS = [
    ("mine.py:hangs --limit 0.2", "gave no answer within 0.2 s and was stopped"),
    ("mine.py:exits", "ended its process with status 3"),
    ("exits.py:attention", "the import of exits.py ended its process with status 3"),
    ("system_exit.py:attention", "cannot be imported: SystemExit"),
    ("mine.py:missing", "what can be called there: Layer, attention"),
    (
        "broken.py:attention",
        "ZeroDivisionError: division by zero; `python broken.py` shows where",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_TARGETS)
def test_bad_target_is_explained_in_one_line(in_process, bad_modules, arguments, message, capsys):
    assert_one_line_error(arguments, message, capsys)


@pytest.mark.parametrize(("arguments", "message"), BAD_TARGETS_IN_SUBPROCESS)
def test_bad_target_in_a_subprocess_is_explained_in_one_line(
    bad_modules, arguments, message, capsys
):
    assert_one_line_error(arguments, message, capsys)


def assert_one_line_error(arguments, message, capsys):
    """Assert that the check prints a message in one line, with at most a traceback below it."""
    assert main(["--library", "numpy", *arguments.split()]) == 2
    first_line, _, traceback = capsys.readouterr().err.partition("\n")
    assert message in first_line
    assert traceback == "" or traceback.startswith("  File ")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--layout", "nbd", "one of bhnd, bnhd, nbhd, bnd, nhd, nd for attention without weights"),
        ("--names", "mask=m", "the arguments are query, key, value"),
        ("--names", "unknown=mask", "expected one of query, key, value"),
        ("--names", "mask", "expected ours=theirs"),
        ("--limit", "-1", "limit is '-1'; expected a positive number of seconds"),
        ("--limit", "soon", "limit is 'soon'; expected a positive number of seconds"),
        ("--require", "widnow", "feature is 'widnow'; expected one of formula"),
    ],
)
def test_bad_option_is_refused(in_process, option, value, message, write_target, capsys):
    assert status_of([write_target(CORRECT_SOURCE), option, value]) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def status_of(arguments):
    """Return the exit status of the command line, also if the parser refuses the arguments."""
    try:
        return main(arguments)
    except SystemExit as exit:
        return exit.code


@pytest.mark.parametrize(
    ("signature", "arguments", "options"),
    [
        ("*, query, key, value", "query, key, value", []),
        ("*arrays", "*arrays", []),
        ("query, value, key", "query, key, value", []),
        ("value, key, query, mask=None", "query, key, value, mask", []),
        ("mask, query, key, value", "query, key, value, mask", []),
        ("a, b, c", "c, b, a", ["--names", "q=c", "k=b", "v=a"]),
    ],
    ids=["keyword-only", "variadic", "reordered", "reversed", "mask first", "named by an option"],
)
def test_arguments_are_matched_in_any_order(
    in_process, signature, arguments, options, write_target
):
    wrapper = f"\ndef wrapper({signature}): return attention({arguments})\n"
    target = write_target(CORRECT_SOURCE, wrapper, function="wrapper")
    assert main([target, *options]) == 0


def test_error_in_several_cases_is_reported_once(in_process, write_target, capsys):
    misspelt = CORRECT_SOURCE.replace("where(mask,", "where(msak,")
    assert main([write_target(misspelt)]) == 1
    output = capsys.readouterr().out
    assert output.count("wrong: ") == 1
    assert "wrong: it raised NameError: name 'msak' is not defined\n    causal" in output


@pytest.mark.thorough
def test_hanging_or_dying_case_is_wrong_and_others_run(write_target, capsys):
    source = """
        import os

        def fragile_attention(query, key, value, is_causal=False):
            if is_causal and query.shape[-2] < key.shape[-2]:
                os._exit(7)
            while is_causal and query.shape[-2] > key.shape[-2]:
                pass
            return attention(query, key, value, is_causal=is_causal)
    """
    target = write_target(CORRECT_SOURCE, source, function="fragile_attention")
    assert main([target, "--limit", "2", "--verbose"]) == 1
    output = capsys.readouterr().out
    died = "wrong: it ended its process with status 7\n    causal_fewer_queries, causal_one_query\n"
    hung = "wrong: it gave no answer within 2 s and was stopped\n    causal_more_queries\n"
    assert died in output
    assert hung in output
    assert "3 wrong" in output


def test_pytorch_is_correct(torch, capsys):
    target = "torch.nn.functional:scaled_dot_product_attention"
    assert main([target, "--json", "--require", "gradients,bfloat16,causal"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert "float16" in result["checked"]


def test_pytorch_layer_is_checked_with_its_own_weights(torch, write_target, capsys):
    source = "import torch\nlayer = torch.nn.MultiheadAttention(48, 4)"
    target = write_target(source, function="layer")
    assert main([target]) == 0
    assert "ok: layer, cross-attention" in capsys.readouterr().out


def test_required_feature_that_was_not_checked_fails(in_process, write_target, capsys):
    target = write_target(CORRECT_SOURCE)
    assert main([target, "--require", "causal,mask"]) == 0
    assert main([target, "--require", "window"]) == 1
    assert "required, but not checked: window" in capsys.readouterr().out


def test_skipped_feature_is_not_judged(in_process, write_target):
    target = write_target(CORRECT_SOURCE.replace("np.tri(", "np.misspelt_tri("))
    features = "causal,mask and causal,scale,large scores,float32,float16,bfloat16,three axes"
    assert main([target]) == 1
    assert main([target, "--skip", features]) == 0


@pytest.mark.parametrize(("library", "is_correct"), [("flash", True), ("torch", False)])
def test_convention_is_correct_only_if_the_expected_library_has_it(library, is_correct):
    attention = attention_with(CONVENTIONS["bottom_right"].changes)
    # Scaling late, which exceeds the range of float16, is not a convention of either library.
    report = checking.check(attention, Settings("numpy"), expect=library, skip="float16")
    assert report.is_correct is is_correct


def test_example_of_a_report_runs_and_shows_an_error_in_few_numbers():
    attention = attention_with(mistake_named("divided_by_d_k").changes)
    report = check_in_process(attention)
    namespace = {"attention": attention}
    exec(report.example, namespace)
    q, k, v = (namespace[name] for name in "qkv")
    assert not np.allclose(attention(q, k, v), attend(Call(q, k, v)))
    wrong_call = next(verdict.case.call for verdict in report.verdicts if verdict.status == "wrong")
    assert q.size < wrong_call.query.size
    assert k.size < wrong_call.key.size
    assert v.size < wrong_call.value.size


def test_github_shows_the_first_wrong_case_beside_the_code(write_target, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    main([write_target(DIVIDED_BY_D_K), "--json"])
    output = capsys.readouterr()
    json.loads(output.out)  # without the annotation
    annotation = output.err.splitlines()[-1]
    assert annotation.startswith("::error file=mine.py,title=attention::")
    assert "%0Afix scores divided by d_k" in annotation  # %0A is a line break


def test_function_object_is_checked():
    assert check(attention_with(), require="causal").is_correct
    with pytest.raises(AssertionError, match="unscaled scores"):
        check(attention_with(mistake_named("not_scaled").changes))


@pytest.mark.parametrize("option", ["mask", "expect", "require"])
def test_unknown_name_in_an_option_is_refused(option):
    with pytest.raises(LoadError, match=r"'unknown'.*expected one of"):
        check(attention_with(), **{option: "unknown"})
