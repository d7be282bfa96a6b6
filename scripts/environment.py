"""Set up .venv from the hash lock, once, for the scripts in this folder.

This module runs on the system's Python before anything is installed, so it uses the standard
library only, in syntax that an old Python can parse in order to report that it is too old.
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
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
STATE = os.path.join(VENV, "attention-docs.json")
LOG = os.path.join(VENV, "install.log")


def ensure(lock):
    """Install `requirements/<lock>.txt` into .venv if it has changed, and return its interpreter.

    The lock `test` includes `site`. If nothing has changed, this takes a few milliseconds.
    """
    if sys.version_info < OLDEST_PYTHON:
        version = "{}.{}.{}".format(*sys.version_info[:3])
        fail("Python {}.{} or newer is needed; this is {}".format(*OLDEST_PYTHON, version))
    digests = {name: digest(name) for name in ("site", lock)}
    state = read_state()
    if all(state.get(name) == value for name, value in digests.items()):
        return PYTHON
    try:
        # An interrupted set-up leaves "installing" behind: start over. A .venv without a state
        # file was made by the user: install into it.
        if "installing" in state or not os.path.exists(PYTHON):
            create()
        write_state({"installing": lock})
        install(lock)
        write_state(digests)
    except OSError as error:
        fail("cannot write to {}: {}".format(error.filename or ROOT, error.strerror or error))
    return PYTHON


def digest(lock):
    with open(os.path.join(ROOT, "requirements", lock + ".txt"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_state():
    try:
        with open(STATE, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write_state(state):
    with open(STATE, "w", encoding="utf-8") as file:
        json.dump(state, file)


def create():
    """Create an empty virtual environment in .venv."""
    if not os.access(ROOT, os.W_OK):
        fail("cannot write to {}: the folder is read-only".format(ROOT))
    say("Creating .venv")
    completed = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if completed.returncode:
        lines = completed.stdout.strip().splitlines()
        if any("ensurepip" in line for line in lines):
            fail("this Python has no venv module (on Debian and Ubuntu: apt install python3-venv)")
        fail("cannot create .venv: {}".format(lines[-1] if lines else "unknown error"))


def install(lock):
    """Install the locked dependencies, then the package itself in editable mode."""
    path = os.path.join(ROOT, "requirements", lock + ".txt")
    with open(path, encoding="utf-8") as file:
        total = sum("==" in line and not line.startswith((" ", "#")) for line in file)
    say("Installing the {} packages of requirements/{}.txt".format(total, lock))
    open(LOG, "w").close()
    pip(["--require-hashes", "--requirement", path], total)
    pip(["--no-deps", "--no-build-isolation", "--editable", ROOT], 0)
    say("Ready")


def pip(arguments, total):
    """Run `pip install` with one progress line on the terminal and all output in the log."""
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--retries", "2", "--progress-bar", "off", *arguments]
    count = 0
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "universal_newlines": True}
    process = subprocess.Popen(command, **options)
    with open(LOG, "a", encoding="utf-8") as log:
        for line in process.stdout:
            log.write(line)
            if line.startswith("Collecting "):
                count += 1
                progress("Fetching {} of at most {}: {}".format(count, total, line.split()[1]))
            elif line.startswith("Installing collected packages"):
                progress("Installing")
    progress("")
    if process.wait():
        fail(pip_failure())


def pip_failure():
    """Return one line that says why pip failed."""
    with open(LOG, encoding="utf-8") as file:
        log = file.read()
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in log:
        return "a downloaded package does not match its hash in requirements/ (see {})".format(LOG)
    if "No space left" in log:
        return "the disk is full"
    network = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError")
    if any(error in log for error in network):
        return "no network: the package index cannot be reached (see {})".format(LOG)
    errors = [line for line in log.splitlines() if line.startswith("ERROR")]
    return "{} (see {})".format(errors[-1] if errors else "pip failed", LOG)


def progress(text):
    """Show `text` in place if stderr is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text[:78])
        sys.stderr.flush()


@contextlib.contextmanager
def temporary_folder():
    """Create a temporary folder in the root, so that results can be moved by a rename."""
    clean_up_when_terminated()
    # Not mkdtemp: an interruption before it returns would leave the folder behind.
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


def say(text):
    sys.stderr.write(text + "\n")


def fail(reason):
    """Exit with a one-line message."""
    progress("")
    sys.exit("{}: {}".format(os.path.basename(sys.argv[0]), reason))


def run(arguments, **options):
    """Run a command of .venv in the repository; exit with its status unless that is 0."""
    clean_up_when_terminated()
    try:
        status = subprocess.call(arguments, cwd=ROOT, **options)
    except KeyboardInterrupt:
        status = 130
    if status:
        sys.exit(status)
