"""The check of a function: what it finds, what it says, and what it takes."""

import json
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import pytest

from attention_docs.__main__ import main
from attention_docs.diagnosis import calling, checking, checks, recipe, report
from attention_docs.diagnosis.calling import LoadError, Settings
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.mistakes import CONVENTIONS, MISTAKES, named
from attention_docs.diagnosis.recipe import Call, LayerCall, attend, attend_in_heads
from attention_docs.diagnosis.worker import InThisProcess
from tests.conftest import environment_of_an_inner_pytest

RIGHT = """
    import numpy as np

    def attention(query, key, value, mask=None, is_causal=False, scale=None):
        scores = query @ np.swapaxes(key, -1, -2)
        scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            causal = np.tri(*scores.shape[-2:], dtype=bool)
            mask = causal if mask is None else mask & causal
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        peak = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(peak == -np.inf, 0, peak))
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1, total) @ value
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file in the current folder and return its name with that of a function."""
    monkeypatch.chdir(tmp_path)

    def write(source, function="attention"):
        (tmp_path / "mine.py").write_text(textwrap.dedent(source), encoding="utf-8")
        return f"mine.py:{function}"

    return write


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Check in this process too what the command line is asked to: most questions need no other."""
    monkeypatch.setattr(
        checking, "Worker", lambda target, limit: InThisProcess(calling.load(target))
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def check_here(function, **settings):
    """Check a function of this process."""
    worker = InThisProcess(function)
    return checking.check_with(worker, Settings(library="numpy", **settings))


def attention_with(mistakes, layout="bhnd"):
    """Return attention with mistakes, for another layout if need be."""
    changes = {}
    for mistake in mistakes:
        changes |= mistake.changes

    def attention(
        query,
        key,
        value,
        mask=None,
        bias=None,
        is_causal=False,
        scale=None,
        window=None,
        softcap=None,
    ):
        arrays = (calling.restored(array, layout) for array in (query, key, value))
        call = Call(*arrays, mask, bias, is_causal, scale, window, softcap)
        return calling.arranged(attend(call, changes), layout)

    return attention


def layer_with(changes):
    def layer(
        query,
        key,
        W_Q,
        W_K,
        W_V,
        W_O,
        num_heads,
        b_Q=None,
        b_K=None,
        b_V=None,
        b_O=None,
        is_causal=False,
    ):
        biases = dict(zip("QKVO", (b_Q, b_K, b_V, b_O), strict=True))
        given = {letter: bias for letter, bias in biases.items() if bias is not None}
        weights = dict(zip("QKVO", (W_Q, W_K, W_V, W_O), strict=True))
        call = LayerCall(query, key, num_heads, weights, given, is_causal)
        return attend_in_heads(call, changes)

    return layer


def statuses(found):
    return {finding.case.name: finding.status for finding in found.findings}


def test_a_mask_of_minus_1e9_that_is_added_is_no_mistake():
    def attention(query, key, value, mask=None):
        bias = None if mask is None else np.where(mask, 0, -1e9)
        return attention_with([])(query, key, value, bias=bias)

    found = check_here(attention)
    assert found.right
    assert statuses(found)["fully_masked_row"] == "on purpose"


@pytest.mark.parametrize("layout", ["bhnd", "bnhd"])
def test_right_attention_is_right_in_every_case_and_its_layout_is_found(layout):
    found = check_here(attention_with([], layout))
    assert found.settings.layout == layout
    assert found.right
    assert {name for name, status in statuses(found).items() if status != "ok"} <= {
        "gradients",
        "gradients_causal",
    }


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_of_the_catalogue_is_named(mistake):
    is_layer = isinstance(CASES[mistake.shows_in].call, LayerCall)
    found = check_here(layer_with(mistake.changes) if is_layer else attention_with([mistake]))
    assert not found.right
    wrong = [finding for finding in found.findings if finding.status == "wrong"]
    assert {m.name for finding in wrong for m in finding.mistakes} == {mistake.name}
    assert named(mistake.name).fix in report.text(found)


@pytest.mark.parametrize(
    "names",
    [
        ("not_scaled", "mask_after_softmax"),
        ("divided_by_d_k", "softmax_over_queries"),
        ("causal_shows_next_position", "scale_ignored"),
        ("heads_tiled", "mask_flipped"),
    ],
    ids=" and ".join,
)
def test_two_mistakes_at_once_are_both_named(names):
    found = check_here(attention_with([named(name) for name in names]))
    assert {m.name for finding in found.findings for m in finding.mistakes} == set(names)


def with_steps(**changes):
    return attention_with([type("Change", (), {"changes": changes})])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (with_steps(scale=lambda call: 1.37 * (call.scale or call.key.shape[-1] ** -0.5)), "the scores are 1.37 times the right ones"),
        (with_steps(product=lambda q, k: q @ k.swapaxes(-1, -2) + np.arange(k.shape[-2])), "the scores, or what the softmax takes off them, are the first wrong step"),
        (with_steps(blend=lambda weights, value: weights @ value + 1), "it is no weighted sum of the values"),
        (with_steps(blend=lambda weights, value: weights @ value * (value.shape[-1] != weights.shape[-1])), "weights sum to 0"),
        (with_steps(blend=lambda weights, value: weights @ value[..., ::-1, :]), "look at the order of keys and values"),
        (with_steps(softmax=lambda scores: (s := np.maximum(scores - np.median(scores, -1, keepdims=True), 0)) / s.sum(-1, keepdims=True)), "a key has no weight, so look at the softmax first"),
        (with_steps(late=lambda weights, visible: 0.9 * weights), "only their sum is wrong"),
        (with_steps(softmax=lambda scores: recipe.softmax(np.sign(scores) * np.inf)), "its weights are nan"),
        (with_steps(product=lambda q, k: np.zeros((*q.shape[:-1], k.shape[-2]))), "all keys of a query have the same score"),
    ],
    ids=["scale", "scores", "output", "blend", "order", "zeros", "normalisation", "nan", "uniform"],
)  # fmt: skip
def test_what_is_in_no_catalogue_is_traced_to_its_first_wrong_step(function, words):
    found = check_here(function)
    assert not found.right
    said = {f.words for f in found.findings if f.case.name in ("distinct_sizes", "square")}
    assert any(words in each for each in said), said


def test_attention_in_float32_is_judged_by_that_precision():
    def attention(query, key, value):
        narrow = (array.astype(np.float32) for array in (query, key, value))
        return attention_with([])(*narrow).astype(np.float32)

    found = check_here(attention)
    assert found.settings.precision == "float32"
    assert found.right


@pytest.mark.thorough  # in each case all pairs of mistakes are tried
def test_rounding_is_told_from_a_mistake():
    found = check_here(with_steps(late=lambda weights, visible: weights.astype(np.float16)))
    words = {finding.case.name: finding.words for finding in found.findings}
    assert "which is the size of rounding in float16" in words["distinct_sizes"]


def test_an_output_that_is_random_is_told_as_such(monkeypatch):
    # In each case all pairs of mistakes are tried, so two are enough.
    few = {name: CASES[name] for name in ("square", "boolean_mask")}
    monkeypatch.setattr(checking, "CASES", few)
    random = np.random.RandomState(0)
    drop = with_steps(
        late=lambda weights, visible: weights * random.binomial(1, 0.5, weights.shape)
    )
    words = {finding.case.name: finding.words for finding in check_here(drop).findings}
    assert "turn off what is random, such as dropout" in words["square"]


def test_a_mistake_is_not_named_where_it_changes_nothing():
    """An error of one part in a thousand is within the tolerance for scores of a thousand."""
    found = check_here(with_steps(late=lambda weights, visible: 0.999 * weights))
    assert not found.right
    assert not any(finding.mistakes for finding in found.findings)


def test_a_mistake_that_is_made_in_some_cases_only_is_told_as_such():
    mistaken = named("causal_shows_next_position").changes["causal"]

    def causal(call):
        more_keys = call.key.shape[-2] > call.query.shape[-2]
        return (mistaken if more_keys else recipe.causal)(call)

    found = check_here(with_steps(causal=causal))
    words = {finding.case.name: finding.words for finding in found.findings}
    assert words["causal_fewer_queries"] == (
        "its output is that of a causal mask that shows each query the position after its own, "
        "but not in causal"
    )


@pytest.mark.parametrize(
    ("convention", "case"),
    [
        ("bottom_right", "causal_fewer_queries"),
        ("nan_for_hidden_row", "fully_masked_row"),
        ("mean_for_hidden_row", "fully_masked_row"),
        ("unmasked_for_hidden_row", "fully_masked_row"),
        ("boolean_only", "float_mask"),
    ],
)
def test_a_convention_is_no_mistake(convention, case):
    known = next(c for c in CONVENTIONS if c.name == convention)
    found = check_here(attention_with([known]))
    assert found.right
    assert statuses(found)[case] == "on purpose"


def test_a_mask_that_hides_is_found_out_and_all_else_is_checked_with_it():
    known = next(c for c in CONVENTIONS if c.name == "true_hides")
    found = check_here(attention_with([known]))
    assert found.settings.mask == "hide"
    assert found.right
    assert statuses(found)["fully_masked_row"] == "ok"
    assert "mask: True hides" in report.text(found)


def test_a_mask_of_numbers_is_found_out():
    plain = attention_with([])
    found = check_here(lambda q, k, v, attn_mask=None: plain(q, k, v, bias=attn_mask))
    assert found.settings.mask == "additive"
    assert found.right


def test_names_that_are_told_are_used():
    plain = attention_with([])

    def attention(frage, schluessel, wert, verdeckt=None):
        return plain(frage, schluessel, wert, mask=verdeckt)

    found = check_here(attention, names={"mask": "verdeckt"})
    assert found.right
    assert statuses(found)["boolean_mask"] == "ok"


def test_the_command_line_ends_with_0_or_1_and_prints_json(file, capsys):
    assert main(["check", file(RIGHT)]) == 0
    assert "0 wrong" in capsys.readouterr().out
    assert main(["check", file(RIGHT.replace("** -0.5", "** -1.0")), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    cases = {case["case"]: case for case in found["cases"]}
    assert cases["distinct_sizes"]["mistakes"][0]["name"] == "divided_by_d_k"
    assert not found["right"]
    assert found["library"] == "numpy"


def test_a_check_leaves_nothing_beside_the_file_of_the_reader(file, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    main(["check", file(RIGHT)])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


BAD = {
    "no such module": ("nowhere.at_all:attention", "there is no module 'nowhere'"),
    "no such file": ("nowhere.py:attention", "there is no file nowhere.py"),
    "no such function": ("mine.py:nothing", "what can be called there: Layer, attention"),
    "no function named": ("mine.py", "write module:function or file.py:function"),
    "not callable": ("mine.py:number", "number is of type int; name a function"),
    "a name misspelt": ("mine.py:atention", "what can be called there: attention"),
    "a class": ("mine.py:Layer", "layer = Layer(6, 3)"),
    "raises on import": (
        "broken.py:attention",
        "ZeroDivisionError: division by zero; `python broken.py` shows where",
    ),
    "a file of a package": (
        "inside.py:attention",
        "for a file of a package, write package.module:attention",
    ),
    "ends on import": ("ending.py:attention", "cannot be imported: SystemExit"),
    "kills on import": (
        "killing.py:attention",
        "the import of killing.py ended its process with status 3",
    ),
    "raises always": (
        "mine.py:raising",
        "in every layout it raised RuntimeError: no; say with --layout and --names",
    ),
    "wrong rank": ("mine.py:flat", "in bnd its output has shape (5,); expected (1, 4, 3)"),
    "returns nothing": ("mine.py:nothing_at_all", "it returns None; expected an array"),
    "returns a list": (
        "mine.py:nested",
        "it returns a list that begins with a float; expected an array",
    ),
    "returns complex numbers": (
        "mine.py:complexly",
        "its result has dtype complex128; expected real numbers",
    ),
    "one argument": (
        "mine.py:lonely",
        "it takes (tokens), and attention takes query, key and value",
    ),
    "hangs": ("mine.py:hanging", "gave no answer within 0.2 s and was stopped"),
    "kills": ("mine.py:killing", "ended its process with status 3"),
    "two libraries": ("mine.py:both", "say whose arrays it takes with --library"),
}
# What ends a process or has to be stopped, and two errors that come back through its pipe.
IN_A_PROCESS = {
    "no such function",
    "raises on import",
    "ends on import",
    "kills on import",
    "hangs",
    "kills",
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_meets_one_line_that_says_what_to_do(what, file, tmp_path, capsys, request):
    if what not in IN_A_PROCESS:
        request.getfixturevalue("here")
    file("""
        import os, time
        number = 3
        class Layer:
            pass
        def attention(q, k, v): return v
        def raising(q, k, v): raise RuntimeError("no")
        def flat(q, k, v): return v.ravel()[:5]
        def nothing_at_all(q, k, v): pass
        def nested(q, k, v): return [1.0]
        def complexly(q, k, v): return 1j * v
        def lonely(tokens): return tokens
        def hanging(q, k, v): time.sleep(60)
        def killing(q, k, v): os._exit(3)
        def both(q, k, v): return v
        class Foreign: pass
        torch, jax = Foreign(), Foreign()
        torch.__module__, jax.__module__ = "torch.nn", "jax.numpy"
    """)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "inside.py").write_text("from .beside import attention")
    (tmp_path / "ending.py").write_text("raise SystemExit('no')")
    (tmp_path / "killing.py").write_text("import os; os._exit(3)")
    target, words = BAD[what]
    library = [] if what == "two libraries" else ["--library", "numpy"]
    limit = ["--limit", "0.2"] if what == "hangs" else []
    assert main(["check", target, *library, *limit]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--layout", "nbd", "attention without weights has one of bhnd, bnhd, bnd, nd"),
        ("--names", "mask=m", "the arguments are query, key, value"),
        ("--names", "mask", "is not of the form query=their_name"),
        ("--limit", "-1", "'-1' is no number of seconds above zero"),
        ("--limit", "soon", "'soon' is no number of seconds above zero"),
    ],
)
def test_a_bad_option_meets_words_that_say_what_to_do(here, option, value, words, file, capsys):
    assert status_of(["check", file(RIGHT), option, value]) == 2
    assert words in capsys.readouterr().err.splitlines()[-1]


def status_of(arguments):
    """Run the command line and return its exit status."""
    try:
        return main(arguments)
    except SystemExit as exit:
        return exit.code


def test_a_library_that_is_not_there_is_refused():
    with pytest.raises(LoadError, match="nowhere_at_all is not installed for"):
        calling.describe(lambda q, k, v: None, Settings("nowhere_at_all"))


@pytest.mark.parametrize("signature", ["*, query, key, value", "*rows"])
def test_arguments_by_name_only_and_by_position_only_are_passed_so(here, signature, file):
    rows = "query, key, value" if "query" in signature else "*rows"
    source = textwrap.dedent(RIGHT) + f"\ndef other({signature}): return attention({rows})\n"
    assert main(["check", file(source, "other")]) == 0


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("query, value, key", {}),
        ("value, key, query, mask=None", {}),
        ("mask, query, key, value", {}),
        ("a, b, c", {"q": "c", "k": "b", "v": "a"}),
    ],
)
def test_arguments_in_another_order_are_passed_by_their_names(here, signature, names, file):
    given = "c, b, a" if names else "query, key, value"
    given += ", mask" if "mask" in signature else ""
    source = textwrap.dedent(RIGHT) + f"\ndef other({signature}): return attention({given})\n"
    told = ["--names", *(f"{ours}={theirs}" for ours, theirs in names.items())] if names else []
    assert main(["check", file(source, "other"), *told]) == 0


def test_a_mask_that_is_told_to_be_true_or_false_holds_no_numbers(here, file, capsys):
    hidden = "scores = scores - 1e30 * (1.0 - mask)"
    target = file(RIGHT.replace("scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask", hidden))  # fmt: skip
    assert main(["check", target]) == 1
    assert "wrong: float_mask" in capsys.readouterr().out
    assert main(["check", target, "--mask", "keep"]) == 0


def test_a_name_that_nothing_has_is_wrong_and_not_unsupported(here, file, capsys):
    assert main(["check", file(RIGHT.replace("where(mask,", "where(msak,"))]) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrong")]
    assert len(wrong) == 1
    assert "boolean_mask" in wrong[0]
    assert "it raised NameError: name 'msak' is not defined" in wrong[0]


def test_what_a_function_does_besides_is_told(file, capsys):
    source = (
        RIGHT.replace("    scores =", "    import warnings; print('hello'); warnings.warn('careful')\n        scores =", 1)
        .replace("    peak =", "    query[...] = 0\n        peak =")
        .replace("@ value", "@ value, None")
    )  # fmt: skip
    assert main(["check", file(source)]) == 0
    said = capsys.readouterr().out
    for note in (
        "prints",
        "changes its input query",
        "warns: UserWarning: careful",
        "returns a tuple; its first item is taken",
    ):
        assert f"note: it {note}" in said


@pytest.mark.thorough
def test_a_case_that_hangs_or_kills_is_wrong_and_the_others_still_run(file, capsys):
    source = RIGHT.replace(
        "    scores = query @",
        """    import os
        if is_causal and query.shape[-2] < key.shape[-2]:
            os._exit(7)
        while is_causal and query.shape[-2] > key.shape[-2]:
            pass
        scores = query @""",
        1,
    )
    assert main(["check", file(source), "--limit", "2"]) == 1
    said = capsys.readouterr().out
    assert "wrong: causal_fewer_queries: it ended its process" in said
    assert "wrong: causal_more_queries: it gave no answer within 2 s and was stopped" in said
    assert "2 wrong" in said


@pytest.mark.thorough
def test_three_lines_of_pytest_give_one_test_a_case(file, tmp_path):
    file(RIGHT.replace("** -0.5", "** -1.0"))
    (tmp_path / "test_mine.py").write_text(
        textwrap.dedent("""
        import pytest
        from attention_docs.diagnosis import checks

        @pytest.mark.parametrize("case", checks("mine.py:attention"), ids=str)
        def test_attention(case):
            case.check()
        """)
    )
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        capture_output=True, encoding="utf-8", env=environment_of_an_inner_pytest(),
    )  # fmt: skip
    assert "FAILED test_mine.py::test_attention[distinct_sizes]" in ran.stdout
    assert "its output is that of scores divided by d_k instead of its root" in ran.stdout
    assert "scores / math.sqrt(d_k)" in ran.stdout
    assert "passed" in ran.stdout
    assert "skipped" in ran.stdout


def test_a_case_of_another_kind_is_skipped(here, file):
    target = file(RIGHT)
    by_name = {str(case): case for case in checks(target, library="numpy")}
    by_name["distinct_sizes"].check()
    with pytest.raises(unittest.SkipTest, match="another kind"):
        by_name["layer"].check()
    with pytest.raises(unittest.SkipTest, match="no argument seems to be for window"):
        by_name["window"].check()


def test_each_case_tells_why_nothing_can_be_checked(here, file):
    target = file("def attention(query, key, value, mask=None): pass", "attenton")
    for case in checks(target)[:2]:
        with pytest.raises(LoadError, match="attention"):
            case.check()
    with pytest.raises(LoadError, match="mask 'foo': expected one of keep"):
        checks("mine.py:attention", mask="foo")[0].check()


def test_array_api_strict_is_checked_too(here, file, capsys):
    source = """
        import array_api_strict as xp

        def attention(query, key, value):
            scores = query @ xp.matrix_transpose(key) / query.shape[-1] ** 0.5
            powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
            return powers / xp.sum(powers, axis=-1, keepdims=True) @ value
    """
    assert main(["check", file(source)]) == 0
    said = capsys.readouterr().out
    assert "array-api-strict" in said
    assert "array_api_strict has no float16" in said


def test_pytorch_is_right_but_for_its_negative_scale(torch, capsys):
    main(["check", "torch.nn.functional:scaled_dot_product_attention", "--json"])
    found = json.loads(capsys.readouterr().out)
    wrong = {case["case"] for case in found["cases"] if case["status"] == "wrong"}
    assert wrong <= {"negative_scale"}


def test_a_layer_of_pytorch_gets_our_weights(torch, file, capsys):
    target = file("import torch\nlayer = torch.nn.MultiheadAttention(6, 3)", "layer")
    assert main(["check", target]) == 0
    assert "layer, layer_with_biases, layer_cross" in capsys.readouterr().out


def test_a_name_that_is_no_argument_is_refused():
    with pytest.raises(LoadError, match="the arguments are a, b"):
        calling.describe(lambda a, b: None, Settings("numpy", names={"mask": "m"}))
    with pytest.raises(LoadError, match="expected one of query"):
        calling.describe(lambda a, b: None, Settings("numpy", names={"nope": "a"}))
