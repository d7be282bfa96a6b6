"""Install .venv from the lock files, for the scripts in this folder.

This module runs on the system's Python before anything is installed. So it uses the standard
library only, in syntax that an old Python can parse, to report that it is too old.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST_PYTHON = (3, 11)
CHECK = os.path.join(ROOT, "attention_check")  # a package of its own, whose catalogue a page shows
VENV = os.path.join(ROOT, ".venv")
# The digests of the locks that are installed in .venv, by their names.
STATE = os.path.join(VENV, "installed.json")


def install(lock):
    """Install `requirements/<lock>.txt` into .venv if it has changed; return .venv's interpreter.

    The lock `test` includes `site`. If nothing has changed, this takes a few milliseconds. After an
    interruption the next call installs what is missing.
    """
    if sys.version_info < OLDEST_PYTHON:
        version = "{}.{}.{}".format(*sys.version_info[:3])
        fail("Python {}.{} or newer is needed; this is {}".format(*OLDEST_PYTHON, version))
    python = interpreter(VENV)
    digests = {}
    for name in ("site", lock):
        with open(lock_file(name), "rb") as file:
            digests[name] = hashlib.sha256(file.read()).hexdigest()
    try:
        with open(STATE, encoding="utf-8") as file:
            installed_digests = json.load(file)
    except (OSError, ValueError):
        installed_digests = {}
    if all(installed_digests.get(name) == digest for name, digest in digests.items()):
        return python
    if not os.access(ROOT, os.W_OK):
        fail("cannot write to {}: the folder is read-only".format(ROOT))
    print_message("Installing requirements/{}.txt into .venv".format(lock))
    run([sys.executable, "-m", "venv", VENV])
    pip = [python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    # On a terminal pip shows its progress; elsewhere "-qq" prints errors only.
    pip += [] if sys.stderr.isatty() else ["-qq"]
    run([*pip, "--require-hashes", "--requirement", lock_file(lock)], stdout=sys.stderr)
    run([*pip, "--no-deps", "--no-build-isolation", "-e", ROOT, "-e", CHECK], stdout=sys.stderr)
    with open(STATE, "w", encoding="utf-8") as file:
        json.dump(digests, file)
    return python


def interpreter(folder):
    if os.name == "nt":
        return os.path.join(folder, "Scripts", "python.exe")
    return os.path.join(folder, "bin", "python")


def lock_file(lock):
    """Return the path of a lock, such as requirements/site.txt for `site`."""
    return os.path.join(ROOT, "requirements", lock + ".txt")


@contextlib.contextmanager
def temporary_folder():
    """Create a temporary folder in the project, from where results can be moved by a rename."""
    clean_up_when_terminated()
    # Not mkdtemp: if it were interrupted before it returned, the folder would stay behind.
    folder = os.path.join(ROOT, ".site-{}".format(os.getpid()))
    try:
        os.mkdir(folder)
        yield folder
    except OSError as error:
        fail("cannot write to {}: {}".format(error.filename or ROOT, error.strerror or error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean_up_when_terminated():
    """Exit on SIGTERM with an exception, so that temporary folders and children are cleaned up."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def print_message(text):
    """Print a line to stderr, because stdout may be piped."""
    sys.stderr.write(text + "\n")


def fail(reason):
    sys.exit("{}: {}".format(os.path.basename(sys.argv[0]), reason))


def run(arguments, stdout=None, **variables):
    """Run a command of .venv in the repository; exit with its status unless that is 0.

    The others are environment variables.
    """
    clean_up_when_terminated()
    variables = dict(os.environ, NO_MKDOCS_2_WARNING="1", **variables)
    try:
        status = subprocess.call(arguments, cwd=ROOT, stdout=stdout, env=variables)
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT  # as in a shell
    if status:
        sys.exit(status)
