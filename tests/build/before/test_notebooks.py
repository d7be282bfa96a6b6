"""Notebooks: stored without outputs, executed once, and converted to pages."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from attention_docs.publish import cache
from attention_docs.publish.before import execution, notebooks
from attention_docs.publish.before.pages import MarkdownConverter
from attention_docs.publish.cache import Cache
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import Inserts, insert
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT, link_folder

pytestmark = pytest.mark.independent_tests

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
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
def test_notebook_has_the_common_structure_and_no_outputs(path):
    cells = read_notebook(path)["cells"]
    texts, code = cell_texts(path, "markdown"), "\n".join(cell_texts(path, "code"))
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert texts[0].startswith("# ")
    assert "](../mechanisms/" in "\n".join(texts)
    assert re.search(r"^assert ", code, re.M)
    assert not re.search(r"^(?:import|from) .*torch|publish", code, re.M)


@each_notebook
def test_notebook_is_installed_from_the_repository_of_the_project(path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    expected = list(project.get("urls", {}).values())  # empty, or the repository alone
    assert re.findall(r'"git\+(.+?)"', "\n".join(cell_texts(path, "code"))) == expected


def code_cell(code, *tags, id="one"):
    return {"cell_type": "code", "id": id, "metadata": {"tags": list(tags)}, "source": code}


def notebook_file(*cells):
    """Return the text of a notebook with a title and cells."""
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Title"]}
    notebook = read_notebook(NOTEBOOKS[0])
    return json.dumps({**notebook, "cells": [title, *cells]})


def markdown_page(cells, outputs="", repository=None):
    """Convert a notebook to a page; the outputs belong to the cell with the id "one"."""
    inserts = Inserts()
    page_file = PageFile("notebooks/toy.ipynb", notebook_file(*cells))
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


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """A function that executes a notebook with one cell of code, and returns its page."""
    monkeypatch.setenv("IPYTHONDIR", "")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", "")  # both are restored after the test
    execution.configure_jupyter(tmp_path)
    (tmp_path / "docs" / "notebooks").mkdir(parents=True)
    (tmp_path / "attention_docs").mkdir()
    project = SimpleNamespace(root=tmp_path, cache=Cache(tmp_path / "results"))

    def execute(code):
        cell = {**code_cell(code), "outputs": [], "execution_count": None}
        page_file = PageFile("notebooks/toy.ipynb", notebook_file(cell))
        (tmp_path / page_file.file).write_text(page_file.content, encoding="utf-8")
        html = execution.notebook_html(page_file, project)
        return notebooks.markdown_page(page_file, html, None, str)

    return execute


def test_executed_notebook_is_cached(execute, monkeypatch):
    show_weights = "from attention_docs import examples, show\nshow(examples.steps('self_attention')['weights'])"
    page = execute(show_weights)
    assert "0.0287" in page
    monkeypatch.setattr(execution, "execute", lambda *_: pytest.fail("not cached"))
    assert execute(show_weights) == page


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


def test_kernel_that_dies_at_startup_is_restarted(execute, tmp_path, monkeypatch):
    (tmp_path / "ipykernel_launcher.py").write_text(KERNEL_THAT_DIES_ONCE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "<pre>Executed</pre>" in execute("print('Executed')")
    assert (tmp_path / "has_died").exists()


def test_printed_pieces_are_joined_into_one_output(execute):
    print_in_two_pieces = (
        "import time\nprint('One', end='', flush=True)\ntime.sleep(0.5)\nprint(' line')"
    )
    page = execute(print_in_two_pieces)
    assert page.count('class="cell-output"') == 1
    assert "<pre>One line</pre>" in page


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("one = 1\nassert one + one == 3", "cell one, line 2: `assert one + one == 3`: AssertionError"),
        ("1 +", "cell one, line 1: `1 +`: SyntaxError: invalid syntax"),
    ],
    ids=["assertion", "syntax"],
)  # fmt: skip
def test_failing_cell_stops_the_build(execute, code, message):
    with pytest.raises(PublishError) as caught:
        execute(code)
    assert str(caught.value).startswith(f"docs/notebooks/toy.ipynb: {message}")


def test_notebook_that_wrote_to_stderr_is_executed_again(execute, tmp_path):
    flag = tmp_path / "has_failed"
    write_once = f"import pathlib, sys\nf = pathlib.Path({str(flag)!r})\nif not f.exists():\n    f.touch()\n    print('port taken', file=sys.stderr)"
    with pytest.raises(PublishError, match="port taken"):
        execute(write_once)
    execute(write_once)


# Text in a notebook's file, wrong text that replaces it, and the error message.
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# Title", "```ruby\\n1\\n```", ": cell title, line 1: unknown code language 'ruby'; expected console, mermaid or python\ndocs/notebooks/toy.ipynb: cell title, line 1: the page has no title"),
        ("# Title", "# Title\\n\\n\\\\val{self_attention.Q}", r": cell title, line 3: \val{self_attention.Q}: expected no macros in a notebook"),
        ('"description"', '"summary"', ": the notebook's metadata has no description"),
        ('"cells":', '\n"cells"', ":2: Expecting ':' delimiter"),
    ],
    ids=["code block and title", "macro", "description", "JSON"],
)  # fmt: skip
def test_notebook_errors_are_reported_with_their_locations(assets, tmp_path, old, new, message):
    project = SimpleNamespace(
        node_modules=assets, cache=Cache(tmp_path), examples=ComputedExamples(ROOT)
    )
    converter = MarkdownConverter(project, [], {})
    with pytest.raises(PublishError) as caught:
        converter.check_notebook(PageFile("notebooks/toy.ipynb", notebook_file().replace(old, new)))
    assert str(caught.value).startswith(f"docs/notebooks/toy.ipynb{message}")


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
