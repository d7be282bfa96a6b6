"""The cache of builds: it forgets nothing it needs, and keeps nothing that nobody uses."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from attention_docs.publish.cache import MAX_AGE, Cache


def test_a_result_survives_under_the_same_setting_only(tmp_path):
    Cache(tmp_path / "results", "one")["item"] = "result"
    assert Cache(tmp_path / "results", "one")["item"] == "result"
    assert "item" not in Cache(tmp_path / "results", "two")
    assert "other" not in Cache(tmp_path / "results", "one")


def test_what_no_build_used_for_a_month_is_dropped(tmp_path):
    cache = Cache(tmp_path)
    cache["kept"] = cache["dropped"] = "result"
    long_ago = time.time() - MAX_AGE - 60
    for file in tmp_path.iterdir():
        os.utime(file, (long_ago, long_ago))
    assert cache["kept"] == "result"
    cache.prune()
    assert "kept" in cache
    assert "dropped" not in cache


def test_threads_may_store_the_same_at_once(tmp_path):
    cache = Cache(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: cache.__setitem__("item", "result" * 1000), range(200)))
    assert cache["item"] == "result" * 1000
    assert len(list(tmp_path.iterdir())) == 1
