"""Dates in the sitemap: the day of the last commit, to make the build reproducible."""

import gzip
import re
from pathlib import Path

LAST_MODIFIED = re.compile(r"(?<=<lastmod>)[^<]*")


def set_date(site: Path, day: str) -> None:
    """Replace all dates in a site's sitemap by a day, unless it is empty, as without git."""
    sitemap = site / "sitemap.xml"
    if day and sitemap.is_file():
        content = LAST_MODIFIED.sub(day, sitemap.read_text(encoding="utf-8")).encode()
        sitemap.write_bytes(content)
        # A time of 0 makes the archive reproducible.
        sitemap.with_suffix(".xml.gz").write_bytes(gzip.compress(content, mtime=0))
