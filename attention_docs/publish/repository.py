"""The project's repository: its URL, links into it, and its last commit."""

import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def address(root: Path) -> str | None:
    """Return the repository's URL from a workflow's environment, or else from the checkout."""
    name = os.environ.get("GITHUB_REPOSITORY")
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{name}" if name else github_url(git(root, "remote", "get-url", "origin"))


def github_url(remote: str) -> str | None:
    """Return the URL for browsers of a remote on GitHub.

    >>> github_url("git@github.com:Someone/docs.git")
    'https://github.com/Someone/docs'
    >>> github_url("https://token@github.com/Someone/docs")
    'https://github.com/Someone/docs'
    """
    match = re.fullmatch(r"(?:.*[@/])?github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?", remote)
    return f"https://github.com/{match[1]}" if match else None


def pages_address(repository: str) -> str:
    """Return the URL where GitHub Pages serves the site of a repository.

    >>> pages_address("https://github.com/Someone/docs")
    'https://someone.github.io/docs/'
    """
    owner, name = repository.split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def file_link(path: str, repository: str | None) -> str:
    """Return a file's path as HTML, with a link if the repository's URL is known."""
    name = f"<code>{path}</code>"
    return f'<a href="{repository}/blob/main/{path}">{name}</a>' if repository else name


def report_link(repository: str) -> str:
    form = f"{repository}/issues/new?template=wrong-number.yml"
    return f'<a href="{form}">Report a wrong number</a>'


def commit(root: Path) -> str:
    """Return the short hash of the commit being built, with a plus sign if files have changed."""
    return git(root, "describe", "--always", "--dirty=+", "--exclude=*") or "unknown"


def commit_day(root: Path) -> str:
    """Return the day of the last commit in UTC, or an empty string outside a repository."""
    timestamp = git(root, "log", "-1", "--format=%ct")
    # Python 3.10, with which attention_check may be installed, has no `datetime.UTC`.
    utc = timezone.utc  # noqa: UP017
    return f"{datetime.fromtimestamp(int(timestamp), utc):%Y-%m-%d}" if timestamp else ""


def git(root: Path, *arguments: str) -> str:
    try:
        process = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return process.stdout.strip()
