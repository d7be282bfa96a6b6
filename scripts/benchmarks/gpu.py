"""Attention on a GPU: ours on CuPy's arrays, PyTorch's default and its cuDNN kernel on its tensors.

Times are those of the GPU, between two events on the stream of the library. The contenders take
turns; a ratio is the median of the ratios of the rounds. One command measures all of it:

    scripts/bench gpu --json results/gpu.json

It needs CuPy and PyTorch with a GPU, and cuDNN's front end for the 16-bit rows to mean something.
Where one is missing it says so and fails; a result file that is not there yet is written then, with
"not measured" in each place, so that a page can name the places.
"""

import contextlib
import importlib.util
import os
import statistics
import sys

import numpy as np

import results
from attention_docs import scaled_dot_product_attention as ours
from attention_docs.inputs import Arguments
from attention_docs.kernels.fused import cudnn
from attention_docs.kernels.selection import prepare, select
from results import NOT_MEASURED

SHAPE = (1, 64, 4096, 128)  # batch, heads, length, dimension
ROWS = [("float16", False), ("float16", True), ("float32", False), ("float32", True)]
WARM_UP = 3
REPEATS = 10  # calls between two events
ROUNDS = 15
CONTENDERS = ("ours", "torch", "torch_cudnn")

# Limits by the name that the driver gives, from NVIDIA's data sheets: 16-bit matrix products
# without sparsity and float32 outside the matrix units, in TFLOP/s; memory in TB/s.
LIMITS = {
    "NVIDIA H100 80GB HBM3": {"float16": 989.4, "float32": 66.9, "memory": 3.35},
    "NVIDIA H100 PCIe": {"float16": 756.0, "float32": 51.0, "memory": 2.0},
    "NVIDIA H200": {"float16": 989.4, "float32": 66.9, "memory": 4.8},
}


def main():
    paths = sys.argv[1:]
    reason = missing()
    if reason:
        for place in paths:
            if not os.path.exists(place):
                results.write(unmeasured(), place)
        sys.exit("bench: {}".format(reason))
    result = results.circumstances()
    result["machine"]["gpu"] = gpu_name()
    result["versions"].update(gpu_versions())
    result.update(about())
    result["speed"] = [speed(dtype, causal) for dtype, causal in ROWS]
    show(result)
    for place in paths:
        results.write(result, place)


def missing():
    """Say in one line what is missing, or return None."""
    for package, wanted in (("cupy", "'attention-docs[cuda12,cudnn]'"), ("torch", "torch")):
        if importlib.util.find_spec(package) is None:
            return "{} is missing: pip install {}".format(package, wanted)
    import cupy
    import torch

    if not cupy.cuda.is_available():
        return "CuPy finds no GPU"
    return None if torch.cuda.is_available() else "PyTorch finds no GPU"


def about():
    return {
        "unit": "seconds of the GPU a call; a ratio is the median of the ratios of the rounds; "
        "of_limit is the share of the most products or bytes a second, whichever is larger",
        "shape": SHAPE,
        "rounds": ROUNDS,
    }


def unmeasured():
    """Return a result of the same form with no number in it."""
    row = {"path": NOT_MEASURED, **figures({}, {}, {}, {}, {})}
    rows = [{"dtype": dtype, "causal": causal, **row} for dtype, causal in ROWS]
    return {**results.circumstances(), **about(), "speed": rows}


def gpu_name():
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    return name.decode() if isinstance(name, bytes) else name


def gpu_versions():
    import cupy
    import torch

    return {
        "cupy": cupy.__version__,
        "cuda": cupy.cuda.runtime.runtimeGetVersion(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "cudnn_front_end": results.version("nvidia-cudnn-frontend"),
        "cudnn": cudnn().backend_version() if cudnn() else "not installed",
        "torch_cudnn": torch.backends.cudnn.version(),
    }


def speed(dtype, causal):
    import cupy
    import torch

    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(SHAPE, dtype="float32").astype(dtype) for _ in range(3)]
    on_gpu = [cupy.asarray(array) for array in arrays]
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    attend = torch.nn.functional.scaled_dot_product_attention
    contenders = {
        "ours": cupy_timer(lambda: ours(*on_gpu, is_causal=causal)),
        "torch": torch_timer(lambda: attend(*tensors, is_causal=causal)),
        "torch_cudnn": torch_timer(lambda: attend(*tensors, is_causal=causal), forced=True),
    }
    times = take_turns({name: run for name, run in contenders.items() if works(name, run)})
    chosen = select(*prepare(Arguments(*on_gpu, is_causal=causal))).value
    return {"dtype": dtype, "causal": causal, "path": chosen, **compared(times, dtype, causal)}


def cupy_timer(call):
    """Return a function that takes the time of a call, in seconds of the GPU."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)

    def run():
        with stream:
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(stream)
            for _ in range(REPEATS):
                call()
            end.record(stream)
            end.synchronize()
            return cupy.cuda.get_elapsed_time(start, end) / 1000 / REPEATS

    cupy.cuda.Device().synchronize()  # the arrays are there
    return run


def torch_timer(call, forced=False):
    """Return a function that takes the time of a call, perhaps with nothing but cuDNN allowed."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    stream = torch.cuda.Stream()

    def run():
        kernels = sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if forced else contextlib.nullcontext()
        with torch.cuda.stream(stream), torch.no_grad(), kernels:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record(stream)
            for _ in range(REPEATS):
                call()
            end.record(stream)
            end.synchronize()
            return start.elapsed_time(end) / 1000 / REPEATS

    torch.cuda.synchronize()
    return run


def works(name, run):
    """Warm up, and say whether there is a kernel: PyTorch's cuDNN has none for float32."""
    try:
        for _ in range(WARM_UP):
            run()
    except RuntimeError:
        if name == "ours":
            raise
        return False
    return True


def take_turns(timers):
    times = {name: [] for name in timers}
    for _ in range(ROUNDS):
        for name, run in timers.items():
            times[name].append(run())
    return times


def compared(times, dtype, causal):
    """Return what the times of a row say."""
    seconds = {name: statistics.median(each) for name, each in times.items()}
    flops, size = work(dtype, causal)
    limits = LIMITS.get(gpu_name(), {})
    ratios = {
        other: statistics.median(our / their for our, their in zip(times["ours"], times[other]))
        for other in times
        if other != "ours"
    }
    teraflops = {name: flops / each / 1e12 for name, each in seconds.items()}
    terabytes = {name: size / each / 1e12 for name, each in seconds.items()}
    of_limit = {
        name: max(teraflops[name] / limits[dtype], terabytes[name] / limits["memory"])
        if limits
        else "unknown"
        for name in seconds
    }
    return figures(seconds, ratios, teraflops, terabytes, of_limit)


def figures(seconds, ratios, teraflops, terabytes, of_limit):
    """Name what is known of a row; a contender that does not run has no figures."""

    def filled(values, names=CONTENDERS):
        return {name: values.get(name, NOT_MEASURED) for name in names}

    return {
        "seconds": filled(seconds),
        "ratio": filled(ratios, CONTENDERS[1:]),
        "teraflops": filled(teraflops),
        "terabytes_per_second": filled(terabytes),
        "of_limit": filled(of_limit),
    }


def work(dtype, causal):
    """Return the operations that a call needs, and the bytes that it reads and writes at least."""
    batch, heads, length, dimension = SHAPE
    pairs = length * (length + 1) // 2 if causal else length * length
    numbers = batch * heads * length * dimension
    return 4 * batch * heads * pairs * dimension, 4 * numbers * np.dtype(dtype).itemsize


def show(result):
    print("{machine[gpu]}, {date}, (batch, heads, n, d) = {shape}".format(**result))
    columns = ["way", "s", "/ torch", "/ torch's cuDNN", "TFLOP/s", "TB/s", "of limit"]
    rows = [
        [
            "{} {}".format(row["dtype"], "causal" if row["causal"] else "full"),
            row["path"],
            row["seconds"]["ours"],
            *row["ratio"].values(),
            row["teraflops"]["ours"],
            row["terabytes_per_second"]["ours"],
            row["of_limit"]["ours"],
        ]
        for row in result["speed"]
    ]
    results.table([["ours", *columns], *rows])


if __name__ == "__main__":
    main()
