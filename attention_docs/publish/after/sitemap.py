"""Dates of the sitemap: the day of the last commit instead of the build's."""

import gzip
import re
from pathlib import Path

LAST_MODIFIED = re.compile(r"(?<=<lastmod>)[^<]*")


def set_date(site: Path, day: str) -> None:
    """Write a day, unless it is empty, into the sitemap of a site, if it has one."""
    sitemap = site / "sitemap.xml"
    if day and sitemap.is_file():
        content = LAST_MODIFIED.sub(day, sitemap.read_text(encoding="utf-8")).encode()
        sitemap.write_bytes(content)
        sitemap.with_suffix(".xml.gz").write_bytes(gzip.compress(content, mtime=0))
