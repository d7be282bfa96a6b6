"""Measure speed and memory of attention against other implementations, in interleaved rounds.

BLAS, this package and PyTorch have one thread, because waking another can take longer than a short
call. Only long calls are measured with all threads, too. A ratio is that of the fastest calls,
which other programs disturbed least; medians are recorded beside them. Two computations are lower
bounds for ours, in the same blocks: `products` are the matrix products alone, and `floor` adds the
exponentials and their sums.
"""

import functools
import itertools
import math
import os
import statistics
import sys
import time
import tracemalloc

import numpy as np
import threadpoolctl

import results
from attention_docs import attend_tile, attention_steps, merge
from attention_docs import scaled_dot_product_attention as attention
from attention_docs.inputs import prepare_inputs
from attention_docs.kernels.blockwise import block_size, bounded_weights, online_weights
from attention_docs.kernels.exponential import fastest_exp
from attention_docs.kernels.threads import blas_threads, run_parallel
from results import NOT_MEASURED

try:
    import torch
except ImportError:
    torch = None

SHAPES = [(8, 2048, 64), (16, 1024, 64), (8, 4096, 64)]
LENGTHS = [256, 512, 1024, 2048, 4096, 8192]
FEATURES = 64  # of a head
LARGE_QUERIES = 40  # this factor makes scores in the hundreds, which need `online_weights`
MOST_PLAIN_SCORES = 8192**2  # beyond this, the scores of the plain formula take gigabytes
ROUND_SECONDS = 0.02  # a shorter call is repeated for so long
PAUSE_SECONDS = 0.15  # threads of a BLAS that still spin slow the next call
ROUNDS = 9
CACHED_KEYS = 8192  # in the measurement of shared key heads
TILE_WIDTH = 256  # keys
MOST_OF_OTHERS = 0.05  # of the processor's time, for results that may be published


def main():
    result = results.metadata()
    busy_before, all_before = processor_seconds()
    result["unit"] = "seconds of a call; a ratio is that of the minima"
    inputs = [(shape, causal, 1) for causal in (False, True) for shape in SHAPES]
    inputs += [(SHAPES[0], causal, LARGE_QUERIES) for causal in (False, True)]
    set_threads(results.available_cores())
    result["all_threads"] = [measure_speed(*each, bounds=False) for each in inputs]
    set_threads(1)
    result["speed"] = [measure_speed(*each) for each in inputs]
    result["growth"] = [measure_speed((1, n, FEATURES)) for n in LENGTHS]
    result["row_by_row"] = measure_row_by_row((8, 1024, FEATURES))
    result["memory"] = measure_memory(32768)
    result["error"] = measure_error()
    result["small"] = measure_small_input()
    result["decoding"] = [measure_decoding(n) for n in (512, 2048, 8192)]
    result["grouped"] = [measure_grouped_queries(key_heads) for key_heads in (8, 2, 1)]
    result["tiles"] = [measure_tiles(n) for n in (1024, 4096)]
    busy, total = processor_seconds()
    others = (busy - busy_before) / (total - all_before)
    result["machine"]["others_percent"] = round(100 * others, 1)
    results.write(result)
    if others > MOST_OF_OTHERS:
        sys.exit(f"Not to be published: others took {others:.0%} of the processor meanwhile.")


def processor_seconds():
    """Return for how long all cores were busy without this process, and how long they ran."""
    # Linux only. Cores that the hypervisor lent to others count as busy.
    with open("/proc/stat", encoding="ascii") as file:
        _, *ticks = file.readline().split()[:9]
    user, nice, system, idle, waiting, *interrupts_and_stolen = map(int, ticks)
    busy = user + nice + system + sum(interrupts_and_stolen)
    ticks_per_second = os.sysconf("SC_CLK_TCK")
    total = (busy + idle + waiting) / ticks_per_second
    return busy / ticks_per_second - time.process_time(), total


def set_threads(threads):
    """Let BLAS, with it this package, and PyTorch use this many threads."""
    threadpoolctl.threadpool_limits(threads)
    if torch:
        torch.set_num_threads(threads)


def measure_speed(shape, causal=False, factor=1, bounds=True):
    """Compare our attention with PyTorch, its lower bounds and the plain formula.

    Args:
        factor: multiplies the queries of all but the lower bounds. The lower bounds do not subtract
            the maximum of a row, so large scores would overflow there.
    """
    small_query, key, value = random_inputs(shape)
    query = factor * small_query
    contenders = {"ours": lambda: attention(query, key, value, is_causal=causal)}
    if torch:
        contenders["torch"] = torch_attention(query, key, value, causal)
    if bounds:
        weight_blocks = bounded_weights if factor == 1 else online_weights
        exp, exp_factor = fastest_exp(np) if factor == 1 else (np.exp, 1.0)
        scaled_query = small_query * (exp_factor / math.sqrt(query.shape[-1]))
        contenders["products"] = lambda: matrix_products(
            small_query, key, value, causal, weight_blocks
        )
        contenders["floor"] = lambda: products_and_exponentials(
            scaled_query, key, value, causal, exp, weight_blocks
        )
        if shape[0] * shape[1] ** 2 <= MOST_PLAIN_SCORES:
            contenders["plain"] = lambda: plain_attention(query, key, value, causal)
    details = {"n": shape[1], "shape": shape, "causal": causal, "factor": factor}
    return {**details, **compare(contenders)}


def measure_row_by_row(shape):
    arrays = random_inputs(shape)
    contenders = {
        "ours": lambda: attention(*arrays),
        "products": lambda: matrix_products(*arrays, causal=False),
        "rows": lambda: row_by_row(*arrays),
    }
    return {"shape": shape, **compare(contenders, numerator="rows")}


def measure_memory(n):
    """Return the peak memory beside arguments and output in bytes, and the size of all scores."""
    arrays = random_inputs((1, n, FEATURES))
    # The first call of a process also allocates what later calls reuse.
    attention(*(array[:, :512] for array in arrays))
    tracemalloc.start()
    output = attention(*arrays)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    all_scores = n * n * np.dtype("float32").itemsize
    return {"n": n, "extra_bytes": peak - output.nbytes, "all_scores_bytes": all_scores}


def measure_error():
    """Return the largest float32 errors, against float64, of our output and of PyTorch's."""
    largest = {"ours": 0.0, "torch": 0.0 if torch else NOT_MEASURED}
    for seed in range(10):
        arrays = random_inputs((4, 1024, FEATURES), seed)
        exact = attention_steps(*(array.astype("float64") for array in arrays)).output
        largest["ours"] = max(largest["ours"], float(np.abs(attention(*arrays) - exact).max()))
        if torch:
            output = torch_attention(*arrays, causal=False)().numpy()
            largest["torch"] = max(largest["torch"], float(np.abs(output - exact).max()))
    return largest


def measure_small_input():
    """Compare our attention of 3 tokens with the plain formula, which checks no arguments."""
    arrays = random_inputs((3, 2))
    return compare({"ours": lambda: attention(*arrays), "plain": lambda: plain_attention(*arrays)})


def measure_decoding(n):
    """Compare decoding a token with a cache of n keys to recomputing all n + 1 rows."""
    query, key, value = random_inputs((1, n + 1, FEATURES))
    contenders = {
        "recomputed": lambda: attention(query, key, value, is_causal=True),
        "cached": lambda: attention(query[:, -1:], key, value),
    }
    return {"n": n, **compare(contenders, numerator="recomputed")}


def measure_grouped_queries(key_heads):
    """Compare decoding a token with 8 heads of keys and values to `key_heads` shared ones."""
    query, _, _ = random_inputs((8, 1, FEATURES))
    _, key, value = random_inputs((8, CACHED_KEYS, FEATURES))
    shared_key, shared_value = key[:key_heads], value[:key_heads]
    contenders = {
        "all": lambda: attention(query, key, value),
        "grouped": lambda: attention(query, shared_key, shared_value, enable_gqa=True),
    }
    comparison = compare(contenders, numerator="all")
    return {"n": CACHED_KEYS, "key_heads": key_heads, **comparison}


def measure_tiles(n):
    """Compare attention by `attend_tile` and `merge` with our attention and the plain formula."""
    query, key, value = random_inputs((1, n, FEATURES))

    def merge_tiles():
        tiles = (slice(start, start + TILE_WIDTH) for start in range(0, n, TILE_WIDTH))
        states = (attend_tile(query, key[:, tile], value[:, tile]) for tile in tiles)
        return functools.reduce(merge, states).output

    contenders = {
        "tiles": merge_tiles,
        "ours": lambda: attention(query, key, value),
        "plain": lambda: plain_attention(query, key, value),
    }
    return {"n": n, **compare(contenders, numerator="tiles")}


def compare(contenders, numerator="ours"):
    """Run contenders in turn, and compare their times: `numerator` with each other one."""
    # A short call is repeated within a round, after one that fills the caches and wakes threads.
    threads = blas_threads()
    times = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            if threads > 1:
                time.sleep(PAUSE_SECONDS)
            run()
            stop = time.perf_counter()
            end = stop + ROUND_SECONDS
            while stop < end:
                start = stop
                run()
                stop = time.perf_counter()
                times[name].append(stop - start)
    minima = {name: min(seconds) for name, seconds in times.items()}
    summary = {
        name: {"minimum": minima[name], "median": statistics.median(times[name])} for name in times
    }
    ratio = {name: minima[numerator] / minima[name] for name in minima if name != numerator}
    return {"threads": threads, "seconds": summary, "ratio": ratio}


def random_inputs(shape, seed=0):
    """Return normally distributed queries, keys and values of a shape, in float32."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape, dtype="float32") for _ in range(3)]


def torch_attention(query, key, value, causal):
    """Return a function that calls PyTorch's attention with these arrays."""
    # They get a fourth axis, because PyTorch is slower with three.
    tensors = [torch.from_numpy(array)[None] for array in (query, key, value)]
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(*tensors, is_causal=causal)[0]


def matrix_products(query, key, value, causal, weight_blocks=bounded_weights):
    """Compute the matrix products of attention without the softmax, in the blocks of attention."""
    output = np.zeros_like(query, shape=(*query.shape[:-1], value.shape[-1]))

    def add_block(rows, keys):
        output_rows = output[rows]  # a view, through which += changes the output
        output_rows += query[rows] @ key[keys].T @ value[keys]

    for_each_block(add_block, query, key, value, causal, weight_blocks)
    return output


def products_and_exponentials(scaled_query, key, value, causal, exp, weight_blocks=bounded_weights):
    """Compute only the products, the exponentials and their sums; return the undivided output."""
    output = np.zeros_like(scaled_query, shape=(*scaled_query.shape[:-1], value.shape[-1]))
    sums = np.zeros_like(scaled_query, shape=(*scaled_query.shape[:-1], 1))
    ones = np.ones_like(key, shape=(key.shape[-2], 1))

    def add_block(rows, keys):
        """Add the exponentials of a block, and the values they weight, to the sums, in place."""
        weights = scaled_query[rows] @ key[keys].T
        exp(weights, out=weights)
        row_sums = sums[rows]
        row_sums += weights @ ones[: weights.shape[-1]]  # this is faster than `weights.sum`
        output_rows = output[rows]
        output_rows += weights @ value[keys]

    for_each_block(add_block, scaled_query, key, value, causal, weight_blocks)
    return output, sums


def for_each_block(compute_block, query, key, value, causal, weight_blocks):
    """Call `compute_block(rows, keys)` for each block of scores that our attention would compute.

    The blocks have the same sizes and run on the same threads as in our attention, so a difference
    in time is a difference in what is computed. An index is the head and a slice of positions.
    """
    heads, query_count, _ = query.shape
    inputs = prepare_inputs(query, key, value, is_causal=causal).check_finite()
    block_rows, block_columns = block_size(inputs, weight_blocks)

    def compute_rows(job):
        head, start = job
        stop = min(start + block_rows, query_count)
        key_count = stop if causal else key.shape[-2]
        for first_key in range(0, key_count, block_columns):
            # Under a causal mask, the queries before the first key see no key of the block.
            first_query = max(start, first_key) if causal else start
            key_stop = min(first_key + block_columns, key_count)
            compute_block((head, slice(first_query, stop)), (head, slice(first_key, key_stop)))

    # The last rows come first, because causal attention takes longest there.
    starts = reversed(range(0, query_count, block_rows))
    run_parallel(compute_rows, list(itertools.product(range(heads), starts)))


def plain_attention(query, key, value, causal=False):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ value


def row_by_row(query, key, value):
    """Compute attention with a call for each row of scores, as *Attention Calculation* does."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-1])
    weights = np.apply_along_axis(lambda row: np.exp(row) / np.sum(np.exp(row)), -1, scores)
    return weights @ value


if __name__ == "__main__":
    main()
