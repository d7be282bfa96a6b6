"""The cache of a build: it forgets nothing it needs, and keeps nothing else."""

import pytest

from attention_docs.publish.cache import Cache


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "results.json"


def test_a_result_survives_under_the_same_setting_only(file):
    cache = Cache(file, "one")
    cache["item"] = "result"
    cache.save()
    assert Cache(file, "one")["item"] == "result"
    assert "item" not in Cache(file, "two")
    assert "other" not in Cache(file, "one")


def test_what_a_build_does_not_use_is_dropped(file):
    cache = Cache(file)
    cache["kept"] = cache["dropped"] = "result"
    cache.save()
    second = Cache(file)
    assert second["kept"] == "result"
    second.save()
    assert "kept" in Cache(file)
    assert "dropped" not in Cache(file)


def test_a_broken_file_is_an_empty_cache(file):
    file.parent.mkdir()
    file.write_text("{")
    cache = Cache(file)
    assert "item" not in cache
    cache["item"] = "result"
    cache.save()
    assert Cache(file)["item"] == "result"
