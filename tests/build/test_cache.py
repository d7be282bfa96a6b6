"""The cache of build results: keys, pruning and concurrent writes."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from attention_docs.publish.cache import MAX_AGE, Cache


def test_result_is_cached_under_its_key_only(tmp_path):
    Cache(tmp_path / "results", "one")["item"] = "result"
    assert Cache(tmp_path / "results", "one")["item"] == "result"
    assert "item" not in Cache(tmp_path / "results", "two")
    assert "other" not in Cache(tmp_path / "results", "one")


def test_prune_deletes_results_unused_for_a_month(tmp_path):
    cache = Cache(tmp_path)
    cache["recent"] = cache["old"] = "result"
    long_ago = time.time() - MAX_AGE - 60
    for file in tmp_path.iterdir():
        os.utime(file, (long_ago, long_ago))
    assert cache["recent"] == "result"  # reading counts as use
    cache.prune()
    assert "recent" in cache
    assert "old" not in cache


def test_threads_can_store_the_same_result_concurrently(tmp_path):
    cache, long_result = Cache(tmp_path), "result" * 1000

    def store(_):
        cache["item"] = long_result

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(store, range(200)))
    assert cache["item"] == long_result
    assert len(list(tmp_path.iterdir())) == 1
