"""Machine, versions and date of a measurement, and its result as JSON."""

import datetime
import importlib.metadata
import json
import os
import platform
import re
import sys

NOT_MEASURED = "not measured"
PACKAGES = ("numpy", "array-api-strict", "ml_dtypes", "threadpoolctl", "torch")
# These are written on one line in JSON.
NUMBER_LIST = re.compile(r"\[[\s\d.,e-]+\]")
INTEGER_MATRIX = re.compile(r"\[(\s*\[[\s\d,]+\],?)+\s*\]")


def metadata():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": {
            "processor": processor(),
            "cores": available_cores(),
            "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else "unknown",
            "system": platform.system(),
            "gpu": "none",
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
            "blas": blas(),
        },
    }


def available_cores():
    """Return the number of cores that this process may use, or else that the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def processor():
    """Return the processor's name, with its widest vector extension if known."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    cpuinfo = dict(line.replace("\t", "").split(":", 1) for line in lines if ":" in line)
    name = cpuinfo.get("model name", platform.machine()).strip()
    flags = cpuinfo.get("flags", "").split()
    for extension in ("avx512f", "avx2"):
        if extension in flags:
            return "{} {}".format(name, extension)
    return name


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def blas():
    """Return the BLAS that NumPy uses, with its version and its kernels for this processor."""
    import numpy  # noqa: F401, loads the BLAS
    import threadpoolctl

    for library in threadpoolctl.threadpool_info():
        if library["user_api"] == "blas":
            kernels = library.get("architecture", "unknown")
            return "{internal_api} {version} ({})".format(kernels, **library)
    return "unknown"


def write(result):
    """Write a result as JSON to the file that the command line names, or else to stdout."""
    text = json.dumps(result, indent=1) + "\n"
    text = NUMBER_LIST.sub(join_lines, text)
    text = INTEGER_MATRIX.sub(join_lines, text)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


def join_lines(match):
    return " ".join(match[0].split())
