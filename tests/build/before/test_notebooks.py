"""Notebooks: stored without outputs, executed only after changes, and converted to pages."""

import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from attention_docs.publish import cache
from attention_docs.publish.before import notebooks
from attention_docs.publish.errors import PublishError
from attention_docs.publish.parts import Parts, insert
from attention_docs.publish.sources import Source
from tests.build.forked import mkdocs
from tests.build.test_pages import MATRIX
from tests.conftest import ROOT

pytestmark = pytest.mark.independent_tests

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# MkDocs' traceback: a kernel may print one of its sockets on shutdown.
TRACEBACK = re.compile(r'File ".*[/\\]mkdocs[/\\]')
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read_notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cell_sources(path, kind):
    return ["".join(c["source"]) for c in read_notebook(path)["cells"] if c["cell_type"] == kind]


@each_notebook
def test_notebook_is_stored_without_outputs(path, tmp_path):
    copy = shutil.copy(path, tmp_path)
    process = subprocess.run([sys.executable, ROOT / "scripts" / "clear_notebooks.py", copy])
    assert process.returncode == 0


def test_hook_clears_outputs(tmp_path):
    notebook = read_notebook(NOTEBOOKS[0])
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    code.update(outputs=[{"output_type": "stream"}], execution_count=3)
    path = tmp_path / "run.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    command = [sys.executable, ROOT / "scripts" / "clear_notebooks.py", path]
    assert subprocess.run(command, capture_output=True).returncode == 1
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert all(not cell.get("outputs") for cell in read_notebook(path)["cells"])


@each_notebook
def test_notebook_prose_has_no_typed_matrix(path):
    prose = "\n".join(cell_sources(path, "markdown"))
    assert [m for m in MATRIX.findall(prose) if re.search(r"\d", m)] == []


@each_notebook
def test_notebook_has_title_description_links_and_assertions(path):
    notebook = read_notebook(path)
    prose = "\n".join(cell_sources(path, "markdown"))
    assert len(re.findall(r"^# ", prose, re.M)) == 1
    assert prose.startswith("# ")
    assert notebook["metadata"]["description"]
    assert "](../mechanisms/" in prose
    assert any(re.search(r"^assert ", code, re.M) for code in cell_sources(path, "code"))
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)


@each_notebook
def test_notebook_does_not_import_torch(path):
    assert "torch" not in "".join(
        re.findall(r"^(?:import|from) .*", "\n".join(cell_sources(path, "code")), re.M)
    )


@each_notebook
def test_notebook_does_not_import_publish(path):
    assert "publish" not in "".join(cell_sources(path, "code"))


def repository_url():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository")


@each_notebook
def test_install_cell_matches_the_configured_repository(path):
    install_cells = [
        "".join(cell["source"])
        for cell in read_notebook(path)["cells"]
        if "install" in cell["metadata"].get("tags", [])
    ]
    assert len(install_cells) == (repository_url() is not None)
    assert all(f"git+{repository_url()}" in source for source in install_cells)


def code_cell(source, *tags, id="one"):
    return {"cell_type": "code", "id": id, "metadata": {"tags": list(tags)}, "source": source}


def page(cells, outputs="", repository=None):
    parts = Parts()
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Title"]}
    notebook = {"metadata": {"description": "A toy."}, "cells": [title, *cells]}
    source = Source("notebooks/toy.ipynb", json.dumps(notebook))
    html = (
        f'<div class="jp-Notebook"><div class="jp-CodeCell" id="cell-id=one">{outputs}</div></div>'
    )
    return insert(notebooks.page(source, html, repository, parts.add), parts)


def output_html(kind, content):
    return f'<div class="jp-OutputArea-output" data-mime-type="{kind}">{content}</div>'


def test_page_has_code_and_outputs():
    stdout = output_html("application/vnd.jupyter.stdout", "<pre>1 &lt; 2\n</pre>")
    figure = output_html("text/html", '<svg id="x" class="drawing" viewbox="0 0 1 1"></svg>')
    markdown = page([code_cell("print(1)", "figure")], stdout + figure)
    assert "```python\nprint(1)\n```" in markdown
    assert "<pre>1 &lt; 2</pre>" in markdown
    assert '<svg id="x" class="drawing" viewBox="0 0 1 1"></svg>' in markdown
    assert markdown.startswith('# Title\n\n<p class="take-away"')


@pytest.mark.parametrize(
    ("tags", "outputs", "message"),
    [
        ([], output_html("application/vnd.jupyter.stderr", "<pre>UserWarning: odd</pre>"), "docs/notebooks/toy.ipynb: cell one: UserWarning: odd"),
        (["figure"], output_html("text/plain", "<pre>&lt;Figure&gt;</pre>"), "docs/notebooks/toy.ipynb: cell one: expected a figure, but the cell shows none"),
        (["figure"], "", "docs/notebooks/toy.ipynb: cell one: expected a figure, but the cell shows none"),
        ([], output_html("image/png", "<img>"), "docs/notebooks/toy.ipynb: cell one: output of kind image/png is not supported"),
    ],
    ids=["warning", "text", "nothing", "picture"],
)  # fmt: skip
def test_warning_or_missing_figure_stops_the_build(tags, outputs, message):
    with pytest.raises(PublishError) as caught:
        page([code_cell("1", *tags)], outputs)
    assert str(caught.value) == message


def test_colab_link_needs_repository_and_install_cell():
    install = code_cell("%pip install", "install", id="two")
    github = "https://github.com/someone/docs"
    colab = (
        "https://colab.research.google.com/github/someone/docs/blob/main/docs/notebooks/toy.ipynb"
    )
    assert colab in page([code_cell("1"), install], repository=github)
    assert "%pip" not in page([code_cell("1"), install], repository=github)
    assert "colab" not in page([code_cell("1")], repository=github)
    assert "colab" not in page([code_cell("1"), install])


def test_package_digest_covers_package_and_installed_versions(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "attention_docs", tmp_path / "package")
    digest = cache.package_digest(tmp_path / "package")
    assert cache.package_digest(tmp_path / "package") == digest
    assert "\nnumpy-" in cache.installed_versions()
    monkeypatch.setattr(cache, "installed_versions", lambda: "numpy-9.9.dist-info")
    assert cache.package_digest(tmp_path / "package") != digest
    monkeypatch.undo()
    for name, is_covered in (("publish/project.py", False), ("render/numbers.py", True)):
        source = tmp_path / "package" / name
        source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert (cache.package_digest(tmp_path / "package") != digest) is is_covered, name


CODE = (
    "from attention_docs import examples, show\nshow(examples.steps('self_attention')['weights'])"
)
EXECUTION_LOG = "Converting notebook (execute=True)"


@pytest.fixture
def notebook_project(one_page):
    """A project with one page and one small notebook."""
    return add_notebook(one_page)


def add_notebook(project):
    settings = project / "mkdocs.yml"
    nav = "  - index.md\n"
    text = settings.read_text(encoding="utf-8").replace(nav, f"{nav}  - notebooks/toy.ipynb\n")
    settings.write_text(text, encoding="utf-8")
    write_notebook(project, CODE)
    return project


def write_notebook(project, code):
    notebook = read_notebook(NOTEBOOKS[0])
    notebook["cells"] = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Toy\n", "\n", "$a^2$ and [home](../index.md)"]},
        {**code_cell(code), "outputs": [], "execution_count": None},
    ]  # fmt: skip
    path = project / "docs" / "notebooks" / "toy.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def build(project):
    built = mkdocs(project, "build", "--strict")
    assert built.returncode == 0, built.stderr
    page = project / "site" / "notebooks" / "toy" / "index.html"
    return built.stderr, page.read_text(encoding="utf-8")


def test_notebook_is_executed_again_only_after_a_change(notebook_project):
    log, first = build(notebook_project)
    assert EXECUTION_LOG in log
    assert "0.0287" in first
    assert "</math>" in first
    assert 'href="../.."' in first
    log, second = build(notebook_project)
    assert EXECUTION_LOG not in log
    assert second == first
    example = notebook_project / "attention_docs" / "examples" / "self_attention.py"
    changed = example.read_text(encoding="utf-8").replace("[1, 1, 1, 1]]", "[1, 1, 1, 3]]")
    example.write_text(changed, encoding="utf-8")
    log, third = build(notebook_project)
    assert EXECUTION_LOG in log
    assert "0.0033" in third


# A kernel that dies at its first start, as if its port were taken.
DIES_ONCE = """
import pathlib
import sys

died = pathlib.Path(__file__).with_name("died")
if not died.exists():
    died.touch()
    sys.exit("Address already in use")

from ipykernel.kernelapp import launch_new_instance

launch_new_instance()
"""


def test_kernel_that_dies_at_startup_is_restarted(notebook_project):
    (notebook_project / "ipykernel_launcher.py").write_text(DIES_ONCE, encoding="utf-8")
    write_notebook(notebook_project, "print('Came up')")
    _, page = build(notebook_project)
    assert (notebook_project / "died").exists()
    assert "<pre>Came up</pre>" in page


def test_printed_pieces_are_joined_into_one_output(notebook_project):
    write_notebook(
        notebook_project,
        "import time\nprint('One', end='', flush=True)\ntime.sleep(0.5)\nprint(' line')",
    )
    _, page = build(notebook_project)
    assert page.count('class="cell-output"') == page.count("<pre>One line</pre>") == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("one = 1\nassert one + one == 3", "docs/notebooks/toy.ipynb: cell one, line 2: `assert one + one == 3`: AssertionError\n"),
        ("import numpy as np\n\nnp.ones(2) @ np.ones(3)", "docs/notebooks/toy.ipynb: cell one, line 3: `np.ones(2) @ np.ones(3)`: ValueError: matmul"),
        ("1 +", "docs/notebooks/toy.ipynb: cell one, line 1: `1 +`: SyntaxError: invalid syntax"),
        ("import warnings\nwarnings.warn('odd')", "UserWarning: odd warnings.warn('odd')\n"),
    ],
    ids=["assertion", "error", "syntax", "warning"],
)  # fmt: skip
def test_failing_cell_or_warning_stops_the_build(notebook_project, code, message):
    write_notebook(notebook_project, code)
    built = mkdocs(notebook_project, "build", "--strict")
    assert built.returncode != 0
    assert message in built.stderr
    assert not TRACEBACK.search(built.stderr)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# Toy", "```ruby\\n1\\n```", ": cell title, line 1: unknown code language 'ruby'; expected console, mermaid or python\ndocs/notebooks/toy.ipynb: cell title, line 1: the page has no title"),
        ("# Toy", "# Toy\\n\\n\\\\val{self_attention.Q}", r": cell title, line 3: \val{self_attention.Q}: a notebook shows what"),
        ("# Toy", "# Toy\\n\\n$\\\\nope$", ": cell title, line 3: "),
        ('"description"', '"summary"', ": the notebook's metadata has no description\n"),
        ('"cells":', '\n"cells"', ":2: Expecting ':' delimiter\n"),
    ],
    ids=["code block and title", "macro", "formula", "description", "JSON"],
)  # fmt: skip
def test_notebook_errors_are_reported_with_their_locations(notebook_project, old, new, message):
    path = notebook_project / "docs" / "notebooks" / "toy.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    built = mkdocs(notebook_project, "build", "--strict")
    assert built.returncode != 0
    assert f"docs/notebooks/toy.ipynb{message}" in built.stderr
    assert not TRACEBACK.search(built.stderr)


def test_notebook_outside_nav_is_executed(notebook_project):
    omitted = notebook_project / "docs" / "notebooks" / "omitted.ipynb"
    shutil.copy(notebook_project / "docs" / "notebooks" / "toy.ipynb", omitted)
    built = mkdocs(notebook_project, "build")
    assert built.returncode == 0, built.stderr
    pages = [
        notebook_project / "site" / "notebooks" / name / "index.html" for name in ("toy", "omitted")
    ]
    assert all("0.0287" in page.read_text(encoding="utf-8") for page in pages)


def test_broken_link_in_a_notebook_stops_a_strict_build(notebook_project):
    write_notebook(notebook_project, "1")
    path = notebook_project / "docs" / "notebooks" / "toy.ipynb"
    path.write_text(
        path.read_text(encoding="utf-8").replace("index.md", "nowhere.md"), encoding="utf-8"
    )
    built = mkdocs(notebook_project, "build", "--strict")
    assert built.returncode != 0
    assert "nowhere.md" in built.stderr


def test_repository_script_updates_all_files(project):
    shutil.copytree(ROOT / "scripts", project / "scripts")
    shutil.copy(ROOT / "README.md", project)
    command = [sys.executable, project / "scripts" / "repository"]
    for url in ("https://github.com/someone/first", "https://github.com/someone/docs"):
        assert subprocess.run([*command, url], capture_output=True).returncode == 0
    text = (project / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["urls"] == {"Repository": url}
    readme = (project / "README.md").read_text(encoding="utf-8")
    assert readme.count('src="https://someone.github.io/docs/assets/pictures/index.png"') == 1
    assert "github.io/first/" not in readme
    for path in (project / "docs" / "notebooks").glob("*.ipynb"):
        cells = read_notebook(path)["cells"]
        assert [cell["id"] for cell in cells].count("install") == 1
        assert f"git+{url}" in "".join(cells[1]["source"])
    for tool in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *tool, "docs"]
        assert subprocess.run(ruff, cwd=project, capture_output=True).returncode == 0
    rejected = subprocess.run([*command, "github.com/x"], capture_output=True, encoding="utf-8")
    assert rejected.returncode == 1
    assert rejected.stderr.startswith("repository: expected one address")


def test_notebook_page_has_the_markup_of_other_pages(site):
    page = (site / "notebooks" / "self_and_cross_attention" / "index.html").read_text(
        encoding="utf-8"
    )
    assert page.count('class="drawing') == page.count('id="figure-') // 3 >= 8
    assert '<div class="highlight"><pre>' in page
    assert "</math>" in page
    assert "<style>" not in page
    assert not re.search(r"jp-|mathjax|\$[A-Z]", page)
    assert (
        site / "notebooks" / "self_and_cross_attention" / "self_and_cross_attention.ipynb"
    ).is_file()
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
