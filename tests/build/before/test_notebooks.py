"""Notebooks: stored without outputs, executed only after changes, and converted to pages."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from attention_docs.publish import cache
from attention_docs.publish.before import notebooks
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import Inserts, insert
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT, link_folder, mkdocs, replace_in_file

pytestmark = pytest.mark.independent_tests

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# Only a traceback through MkDocs is an error: a kernel may print another one on shutdown.
MKDOCS_TRACEBACK = re.compile(r'File ".*[/\\]mkdocs[/\\]')
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read_notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cell_texts(path, cell_type):
    cells = read_notebook(path)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == cell_type]


def run_hook(path):
    """Clear a notebook with the pre-commit hook, and return 1 if there were outputs, otherwise 0."""
    command = [sys.executable, ROOT / "scripts" / "clear_notebooks.py", path]
    return subprocess.run(command, capture_output=True).returncode


@each_notebook
def test_notebook_is_stored_without_outputs(path, tmp_path):
    assert run_hook(shutil.copy(path, tmp_path)) == 0


def test_hook_clears_outputs(tmp_path):
    notebook = read_notebook(NOTEBOOKS[0])
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    code_cells[0].update(outputs=[{"output_type": "stream"}], execution_count=3)
    path = tmp_path / "executed.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert run_hook(path) == 1
    assert not any(cell.get("outputs") for cell in read_notebook(path)["cells"])
    assert run_hook(path) == 0


@each_notebook
def test_notebook_begins_with_its_title(path):
    assert cell_texts(path, "markdown")[0].startswith("# ")


@each_notebook
def test_notebook_links_to_a_mechanism(path):
    assert "](../mechanisms/" in "\n".join(cell_texts(path, "markdown"))


@each_notebook
def test_notebook_asserts_what_it_says(path):
    assert re.search(r"^assert ", "\n".join(cell_texts(path, "code")), re.M)


@each_notebook
def test_cells_of_a_notebook_have_unique_ids(path):
    ids = [cell["id"] for cell in read_notebook(path)["cells"]]
    assert len(set(ids)) == len(ids)


@each_notebook
def test_notebook_imports_neither_torch_nor_publish(path):
    code = "\n".join(cell_texts(path, "code"))
    assert not re.search(r"^(?:import|from) .*torch", code, re.M)
    assert "publish" not in code


@each_notebook
def test_notebook_is_installed_from_the_repository_of_the_project(path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    expected = list(project.get("urls", {}).values())  # empty, or the repository alone
    assert re.findall(r'"git\+(.+?)"', "\n".join(cell_texts(path, "code"))) == expected


def code_cell(code, *tags, id="one"):
    return {"cell_type": "code", "id": id, "metadata": {"tags": list(tags)}, "source": code}


def markdown_page(cells, outputs="", repository=None):
    """Convert a notebook to a page; the outputs belong to the cell with the id "one"."""
    inserts = Inserts()
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Title"]}
    notebook = {"metadata": {"description": "A toy."}, "cells": [title, *cells]}
    page_file = PageFile("notebooks/toy.ipynb", json.dumps(notebook))
    cell_html = f'<div class="jp-CodeCell" id="cell-id=one">{outputs}</div>'
    html = f'<div class="jp-Notebook">{cell_html}</div>'
    return insert(notebooks.markdown_page(page_file, html, repository, inserts.add), inserts)


def output_html(mime_type, content):
    return f'<div class="jp-OutputArea-output" data-mime-type="{mime_type}">{content}</div>'


def test_download_link_is_below_the_title():
    assert markdown_page([]).startswith('# Title\n\n<p class="take-away"')


def test_page_has_code_and_printed_output():
    stdout = output_html("application/vnd.jupyter.stdout", "<pre>1 &lt; 2\n</pre>")
    markdown = markdown_page([code_cell("print('1 < 2')")], stdout)
    assert "```python\nprint('1 < 2')\n```" in markdown
    assert "<pre>1 &lt; 2</pre>" in markdown


def test_page_has_figures_with_the_case_of_attributes_that_svg_needs():
    from_nbconvert = '<svg id="x" class="drawing" viewbox="0 0 1 1"></svg>'
    markdown = markdown_page([code_cell("1", "figure")], output_html("text/html", from_nbconvert))
    assert '<svg id="x" class="drawing" viewBox="0 0 1 1"></svg>' in markdown


@pytest.mark.parametrize(
    ("tags", "outputs", "message"),
    [
        ([], output_html("application/vnd.jupyter.stderr", "<pre>UserWarning: odd</pre>"), "UserWarning: odd"),
        (["figure"], output_html("text/plain", "<pre>&lt;Figure&gt;</pre>"), "expected a figure, but the cell shows none"),
        (["figure"], "", "expected a figure, but the cell shows none"),
        ([], output_html("image/png", "<img>"), "output of kind image/png is not supported"),
    ],
    ids=["warning", "text", "nothing", "picture"],
)  # fmt: skip
def test_wrong_or_missing_output_stops_the_build(tags, outputs, message):
    with pytest.raises(PublishError) as caught:
        markdown_page([code_cell("1", *tags)], outputs)
    assert str(caught.value) == f"docs/notebooks/toy.ipynb: cell one: {message}"


CELL, INSTALL_CELL = code_cell("1"), code_cell("%pip install", "install", id="two")
REPOSITORY = "https://github.com/someone/docs"


def test_page_links_to_colab_instead_of_showing_the_install_cell():
    page = markdown_page([CELL, INSTALL_CELL], repository=REPOSITORY)
    colab = "https://colab.research.google.com/github/someone/docs"
    assert f"{colab}/blob/main/docs/notebooks/toy.ipynb" in page
    assert "%pip" not in page


def test_colab_link_needs_repository_and_install_cell():
    assert "colab" not in markdown_page([CELL], repository=REPOSITORY)
    assert "colab" not in markdown_page([CELL, INSTALL_CELL], repository=None)


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(ROOT / "attention_docs", tmp_path / "package"))


def test_package_digest_depends_on_installed_versions(package, monkeypatch):
    digest = cache.package_digest(package)
    assert cache.package_digest(package) == digest
    assert "\nnumpy-" in cache.installed_versions()
    monkeypatch.setattr(cache, "installed_versions", lambda: "numpy-9.9.dist-info")
    assert cache.package_digest(package) != digest


def test_package_digest_depends_on_all_modules_but_publish(package):
    digest = cache.package_digest(package)
    (package / "publish" / "project.py").write_text("# changed\n", encoding="utf-8")
    assert cache.package_digest(package) == digest
    (package / "render" / "numbers.py").write_text("# changed\n", encoding="utf-8")
    assert cache.package_digest(package) != digest


SHOW_WEIGHTS = (
    "from attention_docs import examples, show\nshow(examples.steps('self_attention')['weights'])"
)
WEIGHT = "0.0287"  # one of the weights that SHOW_WEIGHTS prints
EXECUTION_LOG = "Converting notebook (execute=True)"


@pytest.fixture
def notebook_project(one_page_project):
    """A project with one page and one small notebook."""
    nav = "  - index.md\n"
    replace_in_file(one_page_project / "mkdocs.yml", nav, f"{nav}  - notebooks/toy.ipynb\n")
    write_notebook(one_page_project, SHOW_WEIGHTS)
    return one_page_project


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
    """Build the site, and return the log and the notebook's page."""
    built = mkdocs(project, "build", "--strict")
    assert built.returncode == 0, built.stderr
    page = project / "site" / "notebooks" / "toy" / "index.html"
    return built.stderr, page.read_text(encoding="utf-8")


def build_error(project):
    """Return what a failing build prints, which must not be a traceback."""
    built = mkdocs(project, "build", "--strict")
    assert built.returncode != 0
    assert not MKDOCS_TRACEBACK.search(built.stderr)
    return built.stderr


def test_notebook_is_executed_again_only_after_a_change(notebook_project):
    log, first_page = build(notebook_project)
    assert EXECUTION_LOG in log
    assert WEIGHT in first_page
    log, unchanged_page = build(notebook_project)
    assert EXECUTION_LOG not in log
    assert unchanged_page == first_page
    example = notebook_project / "attention_docs" / "examples" / "self_attention.py"
    replace_in_file(example, "[1, 1, 1, 1]]", "[1, 1, 1, 3]]")
    log, changed_page = build(notebook_project)
    assert EXECUTION_LOG in log
    changed_weight = "0.0033"
    assert changed_weight in changed_page


# A kernel that dies at its first start, as if its port were taken.
KERNEL_THAT_DIES_ONCE = """
import pathlib
import sys

has_died = pathlib.Path(__file__).with_name("has_died")
if not has_died.exists():
    has_died.touch()
    sys.exit("Address already in use")

from ipykernel.kernelapp import launch_new_instance

launch_new_instance()
"""


def test_kernel_that_dies_at_startup_is_restarted(notebook_project):
    launcher = notebook_project / "ipykernel_launcher.py"
    launcher.write_text(KERNEL_THAT_DIES_ONCE, encoding="utf-8")
    write_notebook(notebook_project, "print('Executed')")
    _, page = build(notebook_project)
    assert (notebook_project / "has_died").exists()
    assert "<pre>Executed</pre>" in page


def test_printed_pieces_are_joined_into_one_output(notebook_project):
    print_in_two_pieces = (
        "import time\nprint('One', end='', flush=True)\ntime.sleep(0.5)\nprint(' line')"
    )
    write_notebook(notebook_project, print_in_two_pieces)
    _, page = build(notebook_project)
    assert page.count('class="cell-output"') == 1
    assert "<pre>One line</pre>" in page


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("one = 1\nassert one + one == 3", "docs/notebooks/toy.ipynb: cell one, line 2: `assert one + one == 3`: AssertionError\n"),
        ("1 +", "docs/notebooks/toy.ipynb: cell one, line 1: `1 +`: SyntaxError: invalid syntax"),
        ("import warnings\nwarnings.warn('odd')", "UserWarning: odd warnings.warn('odd')\n"),
    ],
    ids=["assertion", "syntax", "warning"],
)  # fmt: skip
def test_failing_cell_or_warning_stops_the_build(notebook_project, code, message):
    write_notebook(notebook_project, code)
    assert message in build_error(notebook_project)


FAIL_ONCE = """
import pathlib
import sys

flag = pathlib.Path({flag!r})
if not flag.exists():
    flag.touch()
    sys.stderr.write("port taken")
"""


def test_notebook_that_wrote_to_stderr_is_executed_again(notebook_project):
    flag = str(notebook_project / "has_failed")
    write_notebook(notebook_project, FAIL_ONCE.format(flag=flag))
    assert "port taken" in build_error(notebook_project)
    build(notebook_project)


# Text in the notebook's file, wrong text that replaces it, and the error message.
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# Toy", "```ruby\\n1\\n```", ": cell title, line 1: unknown code language 'ruby'; expected console, mermaid or python\ndocs/notebooks/toy.ipynb: cell title, line 1: the page has no title"),
        ("# Toy", "# Toy\\n\\n\\\\val{self_attention.Q}", r": cell title, line 3: \val{self_attention.Q}: expected no macros in a notebook"),
        ("# Toy", "# Toy\\n\\n$\\\\nope$", ": cell title, line 3: "),
        ('"description"', '"summary"', ": the notebook's metadata has no description\n"),
        ('"cells":', '\n"cells"', ":2: Expecting ':' delimiter\n"),
    ],
    ids=["code block and title", "macro", "formula", "description", "JSON"],
)  # fmt: skip
def test_notebook_errors_are_reported_with_their_locations(notebook_project, old, new, message):
    path = notebook_project / "docs" / "notebooks" / "toy.ipynb"
    replace_in_file(path, old, new)
    assert f"docs/notebooks/toy.ipynb{message}" in build_error(notebook_project)


def test_notebook_outside_nav_is_executed(notebook_project):
    omitted = notebook_project / "docs" / "notebooks" / "omitted.ipynb"
    shutil.copy(notebook_project / "docs" / "notebooks" / "toy.ipynb", omitted)
    built = mkdocs(notebook_project, "build")
    assert built.returncode == 0, built.stderr
    page = notebook_project / "site" / "notebooks" / "omitted" / "index.html"
    assert WEIGHT in page.read_text(encoding="utf-8")


def test_broken_link_in_a_notebook_stops_a_strict_build(notebook_project):
    write_notebook(notebook_project, "1")
    path = notebook_project / "docs" / "notebooks" / "toy.ipynb"
    replace_in_file(path, "index.md", "nowhere.md")
    assert "nowhere.md" in build_error(notebook_project)


def set_repository(project, url):
    command = [sys.executable, project / "scripts" / "repository", url]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


@pytest.fixture
def addressed_project(tmp_path):
    """The files that `scripts/repository` changes, after it has set one address and then REPOSITORY."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / "docs" / "notebooks", tmp_path / "docs" / "notebooks")
    # Ruff needs the package to tell its imports from those of other packages.
    link_folder(ROOT / "attention_docs", tmp_path / "attention_docs")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    for url in ("https://github.com/someone/first", REPOSITORY):
        assert set_repository(tmp_path, url).returncode == 0
    return tmp_path


def test_repository_script_replaces_the_address_in_pyproject_and_readme(addressed_project):
    pyproject = tomllib.loads((addressed_project / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["project"]["urls"] == {"Repository": REPOSITORY}
    readme = (addressed_project / "README.md").read_text(encoding="utf-8")
    assert readme.count('src="https://someone.github.io/docs/assets/pictures/index.png"') == 1
    assert "github.io/first/" not in readme


def test_repository_script_replaces_the_install_cell_of_each_notebook(addressed_project):
    for path in (addressed_project / "docs" / "notebooks").glob("*.ipynb"):
        cells = read_notebook(path)["cells"]
        assert [cell["id"] for cell in cells].count("install") == 1
        assert f"git+{REPOSITORY}" in "".join(cells[1]["source"])


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_accepts_what_the_repository_script_writes(addressed_project, arguments):
    ruff = [sys.executable, "-m", "ruff", *arguments, "docs"]
    assert subprocess.run(ruff, cwd=addressed_project, capture_output=True).returncode == 0


def test_repository_script_rejects_other_addresses(addressed_project):
    rejected = set_repository(addressed_project, "github.com/x")
    assert rejected.returncode == 1
    assert rejected.stderr.startswith("repository: expected one address")


def test_notebook_page_has_the_markup_of_other_pages(site):
    folder = site / "notebooks" / "self_and_cross_attention"
    page = (folder / "index.html").read_text(encoding="utf-8")
    figures = page.count('class="drawing')
    assert figures >= 8
    ids_per_figure = 2  # of the drawing and its description
    assert page.count('id="figure-') == ids_per_figure * figures
    assert '<div class="highlight"><pre>' in page
    assert "</math>" in page
    assert "<style>" not in page
    assert not re.search(r"jp-|mathjax|\$[A-Z]", page)
    assert (folder / "self_and_cross_attention.ipynb").is_file()
