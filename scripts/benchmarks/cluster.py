"""Attention past one machine: two processes of 1 GiB each, and one of them killed on the way.

The arrays are Dask's, and Dask's own scheduler sends their chunks to the workers. The output must
be that of one machine, and the kill may change no bit of it.
"""

import os
import signal
import sys
import threading
import time

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

import results
from attention_docs import scaled_dot_product_attention

LENGTH = int(os.environ.get("LENGTH", 65536))
CHUNK, FEATURES = 2048, 64
WORKERS, LIMIT = 2, 2**30
SAMPLE = 0.05  # seconds


def main():
    result = results.circumstances()
    arrays = [normal(seed) for seed in range(3)]
    started = time.perf_counter()
    expected = scaled_dot_product_attention(*arrays)
    alone = time.perf_counter() - started
    whole, killed = run(arrays, kill=False), run(arrays, kill=True)
    result |= {
        "n": LENGTH,
        "chunk": CHUNK,
        "workers": WORKERS,
        "limit_bytes": LIMIT,
        "seconds": {"one_machine": alone, "cluster": whole["seconds"], "killed": killed["seconds"]},
        "peak_bytes": max(whole["peak_bytes"], killed["peak_bytes"]),
        "error": float(np.abs(killed["output"] - expected).max()),
        "same_bits": bool((killed["output"] == whole["output"]).all()),
        "workers_lost": killed["lost"],
    }
    print("n = {n}, chunks of {chunk}, {workers} workers of {limit_bytes} bytes".format(**result))
    print("seconds: {seconds}".format(**result))
    print("largest memory of a worker: {peak_bytes} bytes".format(**result))
    print("largest error against one machine: {error:.2g}".format(**result))
    print("workers killed: {workers_lost}; same bits as without: {same_bits}".format(**result))
    for path in sys.argv[1:]:
        results.write(result, path)
    within = result["peak_bytes"] < LIMIT and result["error"] <= 1e-6
    sys.exit(0 if within and result["same_bits"] and result["workers_lost"] == 1 else 1)


def normal(seed):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((LENGTH, FEATURES), dtype="float32")


def run(arrays, kill):
    """Compute on a fresh cluster, and kill one of its workers when it has used a second."""
    chunked = [da.from_array(array, chunks=(CHUNK, -1)) for array in arrays]
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": LIMIT}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        first = processes(cluster)
        watch = Watch(cluster)
        started = time.perf_counter()
        future = client.compute(scaled_dot_product_attention(*chunked))
        if kill:
            wait_for_work(first[0])
            os.kill(first[0].pid, signal.SIGKILL)
        output = future.result()
        seconds = time.perf_counter() - started
        watch.stop()
        lost = sum(not process.is_running() for process in first)
    return {"output": output, "seconds": seconds, "peak_bytes": watch.peak, "lost": lost}


def processes(cluster):
    return [psutil.Process(worker.pid) for worker in cluster.workers.values()]


def wait_for_work(process):
    before = process.cpu_times().user
    while process.cpu_times().user < before + 1:
        time.sleep(SAMPLE)


class Watch:
    """The most memory that a worker has held, sampled."""

    def __init__(self, cluster):
        self.cluster, self.peak, self.running = cluster, 0, True
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def sample(self):
        while self.running:
            # A worker that restarts has no pid yet, and psutil would take None for this process.
            workers = list(self.cluster.workers.values())
            for pid in filter(None, [worker.pid for worker in workers]):
                try:
                    self.peak = max(self.peak, psutil.Process(pid).memory_info().rss)
                except psutil.NoSuchProcess:
                    continue  # it was killed
            time.sleep(SAMPLE)

    def stop(self):
        self.running = False
        self.thread.join()


if __name__ == "__main__":
    main()
