"""Every page is valid HTML, according to the Nu checker."""

import json
import shutil
import subprocess

import pytest

# Written by Material's templates: for its checkboxes, and for the labels of sections in the navigation.
FROM_THE_THEME = ("Attribute “autocomplete” is only", "Bad value “” for attribute “tabindex”")


@pytest.mark.weekly
def test_nu_checker_reports_only_errors_of_the_theme(site, assets):
    if not shutil.which("java"):
        pytest.skip("Java is missing, and the Nu checker needs it")
    pages = [str(page) for page in sorted(site.rglob("*.html"))]
    jar = assets / "vnu-jar" / "build" / "dist" / "vnu.jar"
    command = ["java", "-jar", str(jar), "--errors-only", "--format", "json", *pages]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = json.loads(completed.stderr)["messages"]
    # Otherwise the checker has not read the pages.
    assert any(error["message"].startswith(FROM_THE_THEME) for error in errors)
    ours = [error for error in errors if not error["message"].startswith(FROM_THE_THEME)]
    assert [(error["url"], error["lastLine"], error["message"]) for error in ours] == []
