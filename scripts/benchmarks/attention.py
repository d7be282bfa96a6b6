"""Measure speed and memory of attention against other implementations, in interleaved rounds.

In each round the implementations run in turn, with pauses, because BLAS threads that still spin
slow the next one. A ratio is the median of the ratios of the rounds. Two computations are lower
bounds for ours, in the same blocks on the same threads: `products` are the matrix products alone,
and `floor` adds the exponentials and their sums.
"""

import functools
import importlib.util
import itertools
import math
import statistics
import time
import tracemalloc

import numpy as np

import results
from attention_docs import attend_tile, attention_steps, merge
from attention_docs import scaled_dot_product_attention as ours
from attention_docs.inputs import prepare_inputs
from attention_docs.kernels.blockwise import block_size, bounded_weights, online_weights
from attention_docs.kernels.exponential import fastest_exp
from attention_docs.kernels.threads import one_blas_thread, run_parallel
from results import NOT_MEASURED

SHAPES = [(8, 2048, 64), (16, 1024, 64), (8, 4096, 64)]
LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
FEATURES = 64  # of a head
LARGE = 40  # queries times this factor have scores in the hundreds, which need online weights
LONGEST_PLAIN = 4096  # beyond this, the scores of the plain formula take gigabytes
PAUSE = 0.15  # seconds
ROUNDS = 9
SMALL_CALLS = 2000  # of a small input in a round
HAS_TORCH = importlib.util.find_spec("torch") is not None


def main():
    result = results.metadata()
    result["unit"] = "seconds; a ratio is the median of the ratios of the rounds"
    result["speed"] = [measure_speed(shape, causal) for causal in (False, True) for shape in SHAPES]
    result["online"] = [measure_speed(SHAPES[0], causal, LARGE) for causal in (False, True)]
    result["row_by_row"] = measure_row_by_row((8, 1024, FEATURES))
    result["memory"] = measure_memory(32768)
    result["error"] = measure_error()
    result["small"] = measure_small_input()
    result["growth"] = [measure_length(n) for n in LENGTHS]
    result["decoding"] = [measure_decoding(n) for n in (512, 2048, 8192)]
    result["grouped"] = [measure_grouped_queries(key_heads) for key_heads in (8, 2, 1)]
    result["tiles"] = [measure_tiles(n) for n in (1024, 4096)]
    results.write(result)


def measure_speed(shape, causal, factor=1):
    """Compare ours with its lower bounds, the plain formula and PyTorch.

    The lower bounds compute small scores, because they do without the maximum of each row.

    Args:
        shape: the shape of query, key and value.
        causal: whether attention is causal.
        factor: multiplies the queries; large scores take the online softmax.
    """
    small_query, key, value = normal(shape)
    query = factor * small_query
    if factor == 1:
        weight_blocks, (exp, exp_factor) = bounded_weights, fastest_exp(np)
    else:
        weight_blocks, (exp, exp_factor) = online_weights, (np.exp, 1.0)
    scaled = small_query * (exp_factor / math.sqrt(query.shape[-1]))
    contenders = {
        "ours": lambda: ours(query, key, value, is_causal=causal),
        "products": lambda: products(small_query, key, value, causal, weight_blocks),
        "floor": lambda: floor(scaled, key, value, causal, exp, weight_blocks),
    }
    if shape[-2] < LONGEST_PLAIN:
        contenders["plain"] = lambda: plain_attention(query, key, value, causal)
    if HAS_TORCH:
        contenders["torch"] = torch_attention(query, key, value, causal)
    times = measure_in_turn(contenders, ROUNDS)
    return {
        "shape": shape,
        "causal": causal,
        "factor": factor,
        **summary(times),
        "floor": median_ratio(times["floor"], times["products"]),
    }


def measure_row_by_row(shape):
    """Compare `row_by_row` with ours and with the products alone."""
    arrays = normal(shape)
    contenders = {
        "ours": lambda: ours(*arrays),
        "products": lambda: products(*arrays, causal=False),
        "rows": lambda: row_by_row(*arrays),
    }
    times = measure_in_turn(contenders, 3 * ROUNDS)  # because rounds vary by a tenth
    return {
        "shape": shape,
        "ratio": median_ratio(times["rows"], times["ours"]),
        "ratio_of_products": median_ratio(times["rows"], times["products"]),
    }


def measure_memory(n):
    """Return the peak memory in addition to arguments and output, and the size of all scores."""
    arrays = normal((1, n, FEATURES))
    ours(*(array[:, :512] for array in arrays))  # the first call allocates more
    tracemalloc.start()
    output = ours(*arrays)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    all_scores = n * n * np.dtype("float32").itemsize
    return {"n": n, "extra_bytes": peak - output.nbytes, "all_scores_bytes": all_scores}


def measure_error():
    """Return the largest difference of ours and of PyTorch's from float64, over ten seeds."""
    largest = {"ours": 0.0, "torch": 0.0 if HAS_TORCH else NOT_MEASURED}
    for seed in range(10):
        arrays = normal((4, 1024, FEATURES), seed)
        exact = attention_steps(*(array.astype("float64") for array in arrays)).output
        largest["ours"] = max(largest["ours"], float(np.abs(ours(*arrays) - exact).max()))
        if HAS_TORCH:
            output = torch_attention(*arrays, causal=False)().numpy()
            largest["torch"] = max(largest["torch"], float(np.abs(output - exact).max()))
    return largest


def measure_small_input():
    """Compare ours with three lines of NumPy without argument checks, on a small input."""
    query, key, value = normal((3, 2))

    def repeat(function):
        return lambda: [function(query, key, value) for _ in range(SMALL_CALLS)]

    contenders = {"ours": repeat(ours), "plain": repeat(plain_attention)}
    return compare(contenders, denominator="plain")


def measure_length(n):
    """Compare ours with PyTorch and the plain formula for n queries and keys."""
    arrays = normal((1, n, FEATURES))
    contenders = {"ours": lambda: ours(*arrays)}
    if HAS_TORCH:
        contenders["torch"] = torch_attention(*arrays, causal=False)
    if n <= LONGEST_PLAIN:
        contenders["plain"] = lambda: plain_attention(*arrays)
    return {"n": n, **compare(contenders, rounds=ROUNDS if n <= LONGEST_PLAIN else 3)}


def measure_decoding(n):
    """Compare decoding a token with a cache of n keys to recomputing all n + 1 rows.

    BLAS is limited to one thread, because waking a second one after a pause often takes several
    times as long as the cached call. Recomputing still uses a thread for each core.
    """
    query, key, value = normal((1, n + 1, FEATURES))
    contenders = {
        "recomputed": lambda: ours(query, key, value, is_causal=True),
        "cached": lambda: ours(query[:, -1:], key, value),
    }
    with one_blas_thread():
        return {"n": n, **compare(contenders, numerator="recomputed", denominator="cached")}


def measure_grouped_queries(key_heads, n=8192):
    """Compare attention of a query with 8 heads of keys and values to `key_heads` heads."""
    query, _, _ = normal((8, 1, FEATURES))
    _, key, value = normal((8, n, FEATURES))
    shared_key, shared_value = key[:key_heads], value[:key_heads]
    contenders = {
        "all": lambda: ours(query, key, value),
        "grouped": lambda: ours(query, shared_key, shared_value, enable_gqa=True),
    }
    comparison = compare(contenders, numerator="all", denominator="grouped")
    return {"n": n, "key_heads": key_heads, **comparison}


def measure_tiles(n, width=256):
    """Compare the merged readable tiles with our blocks and with the plain formula."""
    query, key, value = normal((1, n, FEATURES))

    def merge_tiles():
        slices = (slice(start, start + width) for start in range(0, n, width))
        states = (attend_tile(query, key[:, keys], value[:, keys]) for keys in slices)
        return functools.reduce(merge, states).output

    contenders = {
        "tiles": merge_tiles,
        "ours": lambda: ours(query, key, value),
        "plain": lambda: plain_attention(query, key, value),
    }
    return {"n": n, **compare(contenders, numerator="tiles")}


def compare(contenders, numerator="ours", denominator=None, rounds=ROUNDS):
    """Run contenders in turn, and compare their times.

    Args:
        contenders: functions without arguments, by name.
        numerator: the contender whose time is the numerator of the ratios.
        denominator: if given, only the ratio to this contender is returned, as a number.
        rounds: how often each contender runs.

    Returns:
        `seconds`: the median of each contender. `ratio`: the ratio to each contender by its name,
        or only the ratio to the denominator.
    """
    result = summary(measure_in_turn(contenders, rounds), numerator)
    return {**result, "ratio": result["ratio"][denominator]} if denominator else result


def summary(times, numerator="ours"):
    """Return the median seconds of each contender, and the median ratio to each of the others.

    A ratio is the time of the contender `numerator`, divided by another's in the same round.
    """
    seconds, ratios = {}, {}
    for name, contender_times in times.items():
        seconds[name] = statistics.median(contender_times)
        if name != numerator:
            ratios[name] = median_ratio(times[numerator], contender_times)
    return {"seconds": seconds, "ratio": ratios}


def median_ratio(numerators, denominators):
    pairs = zip(numerators, denominators)
    return statistics.median(numerator / denominator for numerator, denominator in pairs)


def measure_in_turn(contenders, rounds):
    """Return the seconds of each round by contender, after a first run without measuring."""
    times = {name: [] for name in contenders}
    for run in contenders.values():
        run()
    for _ in range(rounds):
        for name, run in contenders.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def normal(shape, seed=0):
    """Return normally distributed queries, keys and values of a shape, in float32."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape, dtype="float32") for _ in range(3)]


def torch_attention(query, key, value, causal):
    """Return a function that calls PyTorch's, with four axes, because three would be slower."""
    import torch

    tensors = [torch.from_numpy(array)[None] for array in (query, key, value)]
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(*tensors, is_causal=causal)[0]


def products(query, key, value, causal, weight_blocks=bounded_weights):
    """Compute only the matrix products, in the same blocks on the same threads."""
    output = np.zeros_like(query, shape=(*query.shape[:-1], value.shape[-1]))

    def add_block(rows, keys):
        output_rows = output[rows]  # a view
        output_rows += query[rows] @ key[keys].T @ value[keys]

    in_blocks(add_block, query, key, value, causal, weight_blocks)
    return output


def floor(scaled, key, value, causal, exp, weight_blocks=bounded_weights):
    """Compute products, exponentials and sums only; return the undivided output and the sums.

    This is what blockwise attention cannot do without.
    """
    output = np.zeros_like(scaled, shape=(*scaled.shape[:-1], value.shape[-1]))
    sums = np.zeros_like(scaled, shape=(*scaled.shape[:-1], 1))
    ones = np.ones_like(key, shape=(key.shape[-2], 1))

    def add_block(rows, keys):
        weights = scaled[rows] @ key[keys].T
        exp(weights, out=weights)
        row_sums, output_rows = sums[rows], output[rows]  # views
        row_sums += weights @ ones[: weights.shape[-1]]
        output_rows += weights @ value[keys]

    in_blocks(add_block, scaled, key, value, causal, weight_blocks)
    return output, sums


def in_blocks(compute_block, query, key, value, causal, weight_blocks):
    """Call a function with the indices of the queries and of the keys of each block.

    Our attention has the same blocks, on the same threads.
    """
    heads, query_count, _ = query.shape
    inputs = prepare_inputs(query, key, value, is_causal=causal).check_finite()
    rows, columns = block_size(inputs, weight_blocks)

    def compute_rows(job):
        """Compute the blocks of some rows; a causal mask leaves out blocks above the diagonal."""
        head, start = job
        stop = min(start + rows, query_count)
        key_count = stop if causal else key.shape[-2]
        for left in range(0, key_count, columns):
            top = max(start, left) if causal else start
            right = min(left + columns, key_count)
            compute_block((head, slice(top, stop)), (head, slice(left, right)))

    # The last rows come first, because causal attention takes longest there.
    starts = reversed(range(0, query_count, rows))
    run_parallel(compute_rows, list(itertools.product(range(heads), starts)))


def plain_attention(query, key, value, causal=False):
    """Compute attention by the plain formula in three lines."""
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ value


def row_by_row(query, key, value):
    """Compute attention with a Python call for each row of scores.

    "Attention Calculation", source 003 in docs/errata.md, does the same.
    """
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-1])
    weights = np.apply_along_axis(lambda row: np.exp(row) / np.sum(np.exp(row)), -1, scores)
    return weights @ value


if __name__ == "__main__":
    main()
