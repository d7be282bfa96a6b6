"""What belongs to every measured number: the machine, the versions, the date. And the file."""

import datetime
import importlib.metadata
import json
import os
import platform

NOT_MEASURED = "not measured"
PACKAGES = ("numpy", "array-api-strict", "ml_dtypes", "threadpoolctl", "torch")


def circumstances():
    """Describe where and when a result is measured."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": {
            "processor": processor(),
            "cores": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
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


def processor():
    """Name the processor, and the widest vectors it has where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.replace("\t", "").split(":", 1) for line in lines if ":" in line)
    name = facts.get("model name", platform.machine()).strip()
    vectors = [flag for flag in ("avx512f", "avx2") if flag in facts.get("flags", "").split()]
    return " ".join([name, *vectors[:1]])


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def blas():
    """Name the BLAS that NumPy has loaded, and the kernels it chose for this processor."""
    import numpy  # noqa: F401, loads it
    import threadpoolctl

    for library in threadpoolctl.threadpool_info():
        if library["user_api"] == "blas":
            kernels = library.get("architecture", "unknown")
            return "{internal_api} {version} ({})".format(kernels, **library)
    return "unknown"


def write(result, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def table(rows):
    """Lay out rows of cells in columns, the first one to the left, the others to the right."""
    texts = [
        [cell if isinstance(cell, str) else "{:.3g}".format(cell) for cell in row] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*texts)]
    for row in texts:
        cells = [text.rjust(width) for text, width in zip(row, widths)]
        print("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
