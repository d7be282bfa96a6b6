"""CI asks for what pyproject.toml says, and has no list of its own."""

import re
import tomllib

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLACES = [*sorted((ROOT / ".ci").iterdir()), *sorted((ROOT / ".github/workflows").iterdir())]


REQUIREMENTS = {  # all but CUDA's
    "dependencies": PROJECT["project"]["dependencies"],
    "site": PROJECT["project"]["optional-dependencies"]["site"],
    **PROJECT["dependency-groups"],
}


@pytest.mark.parametrize("where", REQUIREMENTS)
def test_every_dependency_says_what_is_its_oldest_version(where):
    """Else `lowest-direct` would take the first that was ever published."""
    assert all(re.match(r"[\w-]+(>=|==)\d", requirement) for requirement in REQUIREMENTS[where])


def test_the_oldest_versions_tried_are_those_of_the_project():
    command = (ROOT / ".ci" / "unlocked").read_text(encoding="utf-8")
    assert "--resolution \"$resolution\" --editable '.[site]' --group test" in command
    weekly = (ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8")
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'versions: oldest, resolution: lowest-direct, python: "{oldest}"' in weekly


@pytest.mark.parametrize("place", PLACES, ids=lambda path: path.name)
def test_no_other_list_of_versions(place):
    names = {re.match(r"[\w-]+", item)[0] for wanted in REQUIREMENTS.values() for item in wanted}
    pinned = re.findall(r"([\w-]+)(?:==|>=|~=)\d", place.read_text(encoding="utf-8"))
    assert not names & set(pinned)
