"""Fixtures: array libraries, PyTorch, the browser and the built site."""

import importlib
import os
import re
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import array_api_compat
import array_api_strict
import filelock
import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).parent.parent

# No deadlines; CI uses the same inputs in each run, so that it is reproducible.
hypothesis.settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "quick", hypothesis.settings.get_profile("project"), max_examples=25
)
# For scripts/mutate, which only needs to know whether a test fails: same inputs, no shrinking.
hypothesis.settings.register_profile(
    "mutation",
    hypothesis.settings.get_profile("project"),
    derandomize=True,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("project")
LIBRARIES = ("numpy", "array_api_strict", "torch", "cupy")


def pytest_configure(config):
    """With --quick, test properties on fewer inputs."""
    if config.getoption("quick"):
        hypothesis.settings.load_profile("quick")


def require(request, option, module):
    """Import a module; if it is missing, skip, or fail if the command line requires it."""
    if request.config.getoption(option):
        return importlib.import_module(module)
    return pytest.importorskip(module, exc_type=ImportError)


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """The array API namespace of each library in turn."""
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
    """array-api-strict, which allows only what the standard defines, and has two devices."""
    return array_api_strict


@pytest.fixture
def torch(request):
    return require(request, "torch", "torch")


def random_arrays(*shapes, dtype="float64", seed=0):
    """Return an array of normally distributed numbers for each shape, the same in every run."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape).astype(dtype) for shape in shapes]


def random_array(shape, dtype="float64", seed=0):
    return random_arrays(shape, dtype=dtype, seed=seed)[0]


def assert_raises(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def to_numpy(array):
    """Copy an array to the host with its library's own method."""
    return array.get() if array_api_compat.is_cupy_array(array) else np.asarray(array)


def peak_memory(call):
    """Return the bytes that a call has allocated at most at one time."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def copy_project(target):
    """Copy what a build needs, including the cache, link the npm packages, and return the folder."""
    for name in ("mkdocs.yml", "package.json", "package-lock.json", ".npmrc", "pyproject.toml"):
        shutil.copy(ROOT / name, target)
    for name in ("docs", "attention_docs", "results", "attention_check"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    if (ROOT / ".cache").is_dir():
        shutil.copytree(ROOT / ".cache", target / ".cache")
    link_folder(ROOT / "node_modules", target / "node_modules")
    return target


def link_folder(folder, link):
    if os.name == "nt":  # where symbolic links need extra rights
        subprocess.run(["cmd", "/c", "mklink", "/J", link, folder], check=True, capture_output=True)
    else:
        link.symlink_to(folder, target_is_directory=True)


def cut_down(project, home="# Home\n"):
    """Leave one page, `home`, and two examples, so that a build takes about a second."""
    for folder in ("course", "mechanisms", "notebooks", "reference"):
        shutil.rmtree(project / "docs" / folder)
    for page_file in (project / "docs").glob("*.md"):
        page_file.unlink()
    kept_examples = ("self_attention", "course_sentence")  # figures import course_sentence
    example_blocks = "".join(f"\n\\example{{{name}}}\n" for name in kept_examples)
    page = f"---\ndescription: One page.\n---\n\n{home}{example_blocks}"
    (project / "docs" / "index.md").write_text(page, encoding="utf-8")
    for example in (project / "attention_docs" / "examples").glob("*.py"):
        if example.stem not in ("__init__", *kept_examples):
            example.unlink()
    settings = (project / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(r"^nav:\n(?:  .*\n)+", "nav:\n  - index.md\n", settings, flags=re.M)
    (project / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return project


def replace_in_file(file, old, new):
    """Replace the first occurrence of a text in a file, which must have it."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def environment_of_a_build(root, **changes):
    """Return an environment in which a project imports its own package and has no web address."""
    prefixes_of_addresses = ("GITHUB_", "SITE_")
    environment = {"PYTHONPATH": str(root), "NO_MKDOCS_2_WARNING": "1", **changes}
    for name in os.environ:
        if not name.startswith(prefixes_of_addresses):
            environment.setdefault(name, os.environ[name])
    return environment


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
def shared_folder(tmp_path_factory, worker_id):
    """A folder that all processes of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent


@pytest.fixture(scope="session")
def assets(shared_folder):
    """The npm packages, fetched once, as in a build."""
    from attention_docs.publish.assets import install

    with filelock.FileLock(shared_folder / "assets.lock"):
        return install(ROOT)


@pytest.fixture
def project(tmp_path, site):
    """A copy of the project to modify, made after the site is built."""
    return copy_project(tmp_path)


@pytest.fixture
def one_page_project(project):
    """A copy of the project with docs/index.md as its only page, which is short."""
    return cut_down(project)


@pytest.fixture(scope="session")
def site(shared_folder, assets):
    """The whole site, built once as for GitHub Pages, under a sub-path."""
    site = shared_folder / "site"
    address = {
        "GITHUB_REPOSITORY": "someone/attention-docs",
        "SITE_URL": "http://127.0.0.1/attention-docs/",
    }
    with filelock.FileLock(shared_folder / "site.lock"):
        if not site.is_dir():
            # Renamed when complete, so that no process takes a failed build for the site.
            new_site = shared_folder / "new-site"
            completed = mkdocs(ROOT, "build", "--strict", "--site-dir", str(new_site), **address)
            assert completed.returncode == 0, completed.stderr
            new_site.rename(site)
    return site
