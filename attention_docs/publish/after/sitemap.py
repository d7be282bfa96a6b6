"""The sitemap, which names the day of the last commit; the generator names that of the build."""

import gzip
import re
from pathlib import Path

DAY = re.compile(r"(?<=<lastmod>)[^<]*")


def date(site: Path, day: str) -> None:
    """Write a day into the sitemap of a site, if it has one and the day is known."""
    sitemap = site / "sitemap.xml"
    if day and sitemap.is_file():
        dated = DAY.sub(day, sitemap.read_text(encoding="utf-8")).encode()
        sitemap.write_bytes(dated)
        sitemap.with_suffix(".xml.gz").write_bytes(gzip.compress(dated, mtime=0))
