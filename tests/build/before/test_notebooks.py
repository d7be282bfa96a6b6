"""Notebooks: stored without outputs, executed once, and converted to pages."""

import json
import re
import shutil
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
from tests.conftest import ROOT

pytestmark = pytest.mark.independent_tests

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read_notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cell_texts(path, cell_type):
    cells = read_notebook(path)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == cell_type]


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


REPOSITORY = "https://github.com/someone/docs"


def test_page_links_to_colab_if_the_repository_is_known():
    page = markdown_page([], repository=REPOSITORY)
    colab = "https://colab.research.google.com/github/someone/docs"
    assert f"{colab}/blob/main/docs/notebooks/toy.ipynb" in page
    assert "colab" not in markdown_page([])


@each_notebook
def test_downloaded_notebook_installs_the_package_below_its_title(path):
    content = path.read_text(encoding="utf-8")
    page_file = PageFile(f"notebooks/{path.name}", content)
    downloads = notebooks.downloads([page_file], REPOSITORY)
    title, install_cell, *cells = json.loads(downloads[f"notebooks/{path.name}"])["cells"]
    assert [title, *cells] == json.loads(content)["cells"]
    assert install_cell["source"][-1] == f"    %pip install --quiet git+{REPOSITORY}"
    assert notebooks.downloads([page_file], None)[f"notebooks/{path.name}"] == content.encode()


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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_kernel_that_dies_at_startup_is_restarted(execute, tmp_path, monkeypatch):
    (tmp_path / "ipykernel_launcher.py").write_text(KERNEL_THAT_DIES_ONCE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "<pre>Executed</pre>" in execute("print('Executed')")
    assert (tmp_path / "has_died").exists()


@pytest.mark.thorough
def test_printed_pieces_are_joined_into_one_output(execute):
    print_in_two_pieces = (
        "import time\nprint('One', end='', flush=True)\ntime.sleep(0.5)\nprint(' line')"
    )
    page = execute(print_in_two_pieces)
    assert page.count('class="cell-output"') == 1
    assert "<pre>One line</pre>" in page


@pytest.mark.thorough
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


@pytest.mark.thorough
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
