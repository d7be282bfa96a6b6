"""The array libraries, PyTorch, the browser and the built site that the tests use."""

import importlib
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import array_api_compat
import filelock
import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).parent.parent

# No test of a time; and CI tries the same inputs each time, so that a red run is never chance.
hypothesis.settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "quick", hypothesis.settings.get_profile("project"), max_examples=25
)
# For scripts/mutate, which only asks whether a test fails: the same inputs, and no search for
# smaller ones.
hypothesis.settings.register_profile(
    "mutation",
    hypothesis.settings.get_profile("project"),
    derandomize=True,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("project")
LIBRARIES = ("numpy", "array_api_strict", "torch", "cupy")


def pytest_configure(config):
    if config.getoption("quick"):
        hypothesis.settings.load_profile("quick")


def require(request, option, module):
    """Import a module; where it is missing skip, or fail if the command line asks for it."""
    if request.config.getoption(option):
        return importlib.import_module(module)
    return pytest.importorskip(module, exc_type=ImportError)


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """A namespace of the array API standard, one library after the other."""
    if request.param in ("numpy", "array_api_strict"):
        return importlib.import_module(request.param)
    if request.param == "torch":
        require(request, "torch", "torch")
    if request.param == "cupy":
        cupy = require(request, "gpu", "cupy")
        if not cupy.cuda.is_available() and not request.config.getoption("gpu"):
            pytest.skip("CuPy finds no GPU")
    return importlib.import_module(f"array_api_compat.{request.param}")


@pytest.fixture
def strict():
    """The array library that allows what the standard says and nothing more; it has two devices."""
    return importlib.import_module("array_api_strict")


@pytest.fixture
def torch(request):
    """PyTorch, the independent engine."""
    return require(request, "torch", "torch")


def environment_of_an_inner_pytest():
    """Return the environment without PYTEST_ADDOPTS and its kin, which are for this run alone."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def literal(shape, step):
    """Numbers without pattern or symmetry: the fractional parts of multiples of `step`."""
    return (np.arange(1, math.prod(shape) + 1) * step % 1 * 4 - 2).reshape(shape)


def to_numpy(array):
    """Bring an array of any library to the host, by the library's own means."""
    return array.get() if array_api_compat.is_cupy_array(array) else np.asarray(array)


def copy_project(target):
    """Copy what a build needs, with the browser assets fetched, and what the last build computed."""
    for name in ("mkdocs.yml", "package.json", "package-lock.json", ".npmrc", "pyproject.toml"):
        shutil.copy(ROOT / name, target)
    for name in ("docs", "attention_docs", "results"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    if (ROOT / ".cache").is_dir():
        shutil.copytree(ROOT / ".cache", target / ".cache")
    lend(ROOT / "node_modules", target / "node_modules")
    return target


def lend(folder, place):
    """Make a folder appear at another place: by a link, which on Windows is a junction."""
    if os.name == "nt":  # where a symbolic link needs rights
        subprocess.run(
            ["cmd", "/c", "mklink", "/J", place, folder], check=True, capture_output=True
        )
    else:
        place.symlink_to(folder, target_is_directory=True)


def cut_down(project, home="# Home\n"):
    """Leave one page and one example, which it names: a build of about a second."""
    for folder in ("course", "mechanisms", "notebooks", "reference"):
        shutil.rmtree(project / "docs" / folder)
    for page in (project / "docs").glob("*.md"):
        page.unlink()
    home = f"---\ndescription: One page.\n---\n\n{home}\n\\example{{self_attention}}\n"
    (project / "docs" / "index.md").write_text(home, encoding="utf-8")
    for example in (project / "attention_docs" / "examples").glob("*.py"):
        if example.stem not in ("__init__", "self_attention"):
            example.unlink()
    settings = (project / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(r"^nav:\n(?:  .*\n)+", "nav:\n  - index.md\n", settings, flags=re.M)
    (project / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return project


def environment_of_a_build(root, **changes):
    """Return the environment of a build and of its notebooks.

    In it the project's own package is imported, and nothing says where this run publishes a site.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "SITE_"))}
    return {**kept, "PYTHONPATH": str(root), "NO_MKDOCS_2_WARNING": "1", **changes}


def mkdocs(root, *arguments, umask=-1, **environment):
    """Run MkDocs on a project, with that project's own package; -1 keeps the umask."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *arguments],
        cwd=root,
        env=environment_of_a_build(root, **environment),
        capture_output=True,
        encoding="utf-8",
        umask=umask,
    )


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """A folder for what all the processes of a test run share, and its lock."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder if worker_id == "master" else folder.parent
    return folder, filelock.FileLock(folder / "shared.lock")


@pytest.fixture(scope="session")
def assets(shared):
    """Fetch the browser assets once, as a build does."""
    from attention_docs.publish.assets import ensure

    _, lock = shared
    with lock:
        return ensure(ROOT)


@pytest.fixture
def project(tmp_path, site):
    """A copy of the project to break, after the site was built once."""
    return copy_project(tmp_path)


@pytest.fixture
def one_page(project):
    """The same with one page only, at docs/index.md, whose last line is the seventh."""
    return cut_down(project)


@pytest.fixture(scope="session")
def site(shared, assets):
    """The whole site as it is published: built once, for GitHub Pages, under a sub-path."""
    folder, lock = shared
    with lock:
        if not (folder / "site").is_dir():
            address = {"GITHUB_REPOSITORY": "someone/attention-docs"}
            address["SITE_URL"] = "http://127.0.0.1/attention-docs/"
            new = folder / "new-site"
            built = mkdocs(ROOT, "build", "--strict", "--site-dir", str(new), **address)
            assert built.returncode == 0, built.stderr
            new.rename(folder / "site")
    return folder / "site"


@pytest.fixture(scope="session")
def browser(request):
    """The machine's own Chromium; Playwright's download of one is not needed."""
    from tests.browser.visit import find_chromium, launched

    try:
        found = find_chromium()
    except FileNotFoundError as error:
        give_up = pytest.fail if request.config.getoption("browser") else pytest.skip
        give_up(str(error))
    with launched(found) as browser:
        yield browser


@pytest.fixture(scope="session")
def address(site):
    """Where the whole site is served."""
    from tests.browser.visit import served

    with served(site) as home:
        yield home


@pytest.fixture(scope="session")
def axe(assets):
    """The accessibility checker, to be run in a page."""
    return (assets / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
