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
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
STATE = os.path.join(VENV, "attention-docs.json")
LOG = os.path.join(VENV, "install.log")


def install(lock):
    """Install `requirements/<lock>.txt` into .venv if it has changed, and return its interpreter.

    The lock `test` includes `site`. If nothing has changed, this takes a few milliseconds.
    """
    if sys.version_info < OLDEST_PYTHON:
        version = "{}.{}.{}".format(*sys.version_info[:3])
        fail("Python {}.{} or newer is needed; this is {}".format(*OLDEST_PYTHON, version))
    digests = {name: lock_digest(name) for name in ("site", lock)}
    state = read_state()
    if all(state.get(name) == digest for name, digest in digests.items()):
        return PYTHON
    try:
        # After an interrupted installation the state is still "installing": start over. A .venv
        # without a state file was created by the user: install into it.
        if "installing" in state or not os.path.exists(PYTHON):
            create_venv()
        write_state({"installing": lock})
        install_packages(lock)
        write_state(digests)
    except OSError as error:
        fail("cannot write to {}: {}".format(error.filename or ROOT, error.strerror or error))
    return PYTHON


def lock_digest(lock):
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


def create_venv():
    """Create an empty virtual environment in .venv."""
    if not os.access(ROOT, os.W_OK):
        fail("cannot write to {}: the folder is read-only".format(ROOT))
    print_message("Creating .venv")
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


def install_packages(lock):
    """Install the locked dependencies, then the package itself in editable mode."""
    path = os.path.join(ROOT, "requirements", lock + ".txt")
    with open(path, encoding="utf-8") as file:
        # Lines of hashes are indented.
        total = sum("==" in line and not line.startswith((" ", "#")) for line in file)
    print_message("Installing the {} packages of requirements/{}.txt".format(total, lock))
    open(LOG, "w").close()
    pip_install(["--require-hashes", "--requirement", path], total)
    pip_install(["--no-deps", "--no-build-isolation", "--editable", ROOT], total=1)
    print_message("Ready")


def pip_install(arguments, total):
    """Run `pip install` with one progress line on the terminal and all output in the log."""
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--retries", "2", "--progress-bar", "off", *arguments]
    count = 0
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    )
    with open(LOG, "a", encoding="utf-8") as log:
        for line in process.stdout:
            log.write(line)
            if line.startswith("Collecting "):
                count += 1
                package = line.split()[1]
                show_progress("Fetching {} of at most {}: {}".format(count, total, package))
            elif line.startswith("Installing collected packages"):
                show_progress("Installing")
    show_progress("")
    if process.wait():
        fail(explain_pip_failure())


def explain_pip_failure():
    """Return one line that says why pip failed."""
    with open(LOG, encoding="utf-8") as file:
        log = file.read()
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in log:
        return "a downloaded package does not match its hash in requirements/ (see {})".format(LOG)
    if "No space left" in log:
        return "the disk is full"
    network_errors = (
        "NewConnectionError",
        "NameResolutionError",
        "ConnectTimeoutError",
        "ProxyError",
    )
    if any(error in log for error in network_errors):
        return "no network: the package index cannot be reached (see {})".format(LOG)
    errors = [line for line in log.splitlines() if line.startswith("ERROR")]
    return "{} (see {})".format(errors[-1] if errors else "pip failed", LOG)


def show_progress(text):
    """Replace the current line of the terminal, if stderr is one, by a text."""
    if sys.stderr.isatty():
        start_and_clear_line = "\r\033[K"
        sys.stderr.write(start_and_clear_line + text[:78])
        sys.stderr.flush()


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
    """Exit with a one-line message."""
    show_progress("")
    sys.exit("{}: {}".format(os.path.basename(sys.argv[0]), reason))


def run(arguments, **options):
    """Run a command of .venv in the repository; exit with its status unless that is 0."""
    clean_up_when_terminated()
    try:
        status = subprocess.call(arguments, cwd=ROOT, **options)
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT  # as in a shell
    if status:
        sys.exit(status)
