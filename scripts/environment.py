"""Set up .venv from the hash lock, once, for the scripts beside this file.

It runs on whatever Python the machine has, before anything is installed, so it
uses the standard library and syntax that an old Python can still parse: only
then can it say that the Python is too old.
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
    """Return the interpreter of .venv, with everything `requirements/<lock>.txt` names in it.

    The lock `test` holds all that `site` holds. What is already there costs a few milliseconds.
    """
    if sys.version_info < OLDEST_PYTHON:
        found = "{}.{}.{}".format(*sys.version_info[:3])
        fail("Python {}.{} or newer is needed; this is {}".format(*OLDEST_PYTHON, found))
    wanted = {name: digest(name) for name in ("site", lock)}
    state = read_state()
    if all(state.get(name) == value for name, value in wanted.items()):
        return PYTHON
    try:
        # A set-up that was cut short leaves "installing" behind: begin afresh then. A .venv
        # that is not ours has no state file at all and is installed into as it is.
        if "installing" in state or not os.path.exists(PYTHON):
            create()
        write_state({"installing": lock})
        install(lock)
        write_state(wanted)
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
    """Make an empty virtual environment in .venv."""
    if not os.access(ROOT, os.W_OK):
        fail("cannot write to {}: the folder is read-only".format(ROOT))
    say("Creating .venv")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if made.returncode:
        reason = made.stdout.strip().splitlines()
        if any("ensurepip" in line for line in reason):
            fail("this Python has no venv module (on Debian and Ubuntu: apt install python3-venv)")
        fail("cannot create .venv: {}".format(reason[-1] if reason else "unknown error"))


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
    """Run `pip install`, one progress line on the terminal, everything in the log."""
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
        fail(reason_of_failure())


def reason_of_failure():
    """One line that says why pip failed."""
    with open(LOG, encoding="utf-8") as file:
        text = file.read()
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in text:
        return "a downloaded package does not match its hash in requirements/ (see {})".format(LOG)
    if "No space left" in text:
        return "the disk is full"
    offline = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError")
    if any(sign in text for sign in offline):
        return "no network: the package index cannot be reached (see {})".format(LOG)
    errors = [line for line in text.splitlines() if line.startswith("ERROR")]
    return "{} (see {})".format(errors[-1] if errors else "pip failed", LOG)


def progress(text):
    """Show `text` in place on a terminal; in a log file stay silent."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text[:78])
        sys.stderr.flush()


@contextlib.contextmanager
def folder_for_now():
    """Make a folder in the root, from which a result is one rename away; it goes, come what may."""
    clean_up_when_terminated()
    # Named before it is made, so that no interruption finds it made and not yet known.
    folder = os.path.join(ROOT, ".site-{}".format(os.getpid()))
    try:
        os.mkdir(folder)
        yield folder
    except OSError as error:
        fail("cannot write to {}: {}".format(error.filename or ROOT, error.strerror or error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean_up_when_terminated():
    """Let SIGTERM end this program as Ctrl-C does, so that nothing is left behind or running."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def say(text):
    sys.stderr.write(text + "\n")


def fail(reason):
    """End with one clear line."""
    progress("")
    sys.exit("{}: {}".format(os.path.basename(sys.argv[0]), reason))


def run(arguments, **options):
    """Run a command of .venv in the repository; end with its exit status if that is not 0."""
    clean_up_when_terminated()
    try:
        status = subprocess.call(arguments, cwd=ROOT, **options)
    except KeyboardInterrupt:
        status = 130
    if status:
        sys.exit(status)
