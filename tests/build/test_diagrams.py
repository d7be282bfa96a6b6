"""Mermaid to SVG: slim, themed by the style sheet, readable aloud, strict."""

import re
from xml.etree import ElementTree

import pytest
from pymdownx.superfences import SuperFencesException

from attention_docs.publish import diagrams

needs_merman = pytest.mark.skipif(
    diagrams.merman is None, reason="merman has no wheel for this platform"
)

SOURCE = """graph TB
    accTitle: Two boxes
    accDescr: A leads to B.
    A["First<br/>n × d"]:::query -->|"W_Q"| B[Second]:::key
"""


def fence(source, root):
    """What a page gets for a fenced diagram, with nothing deferred."""
    diagram = diagrams.Diagrams(diagrams.diagram_cache(root), defer=str)
    return diagram.fence(source, "mermaid", "mermaid", {}, None)


@needs_merman
def test_draws_every_node_edge_and_label_with_its_role():
    svg = diagrams.draw(SOURCE)
    assert re.findall(r'class="node default (\w+)"', svg) == ["query", "key"]
    shown = " ".join(ElementTree.fromstring(svg).itertext())
    for text in ("First", "n  ×  d", "Second", "W_Q", "Two boxes", "A leads to B."):
        assert text in shown


@needs_merman
def test_brings_no_style_of_its_own_and_no_html():
    svg = diagrams.draw(SOURCE)
    assert "<style" not in svg
    assert "foreignObject" not in svg
    assert re.match(r'<svg .*width="[\d.]+".* height="[\d.]+"', svg)


@needs_merman
def test_every_reference_inside_the_drawing_is_met():
    svg = diagrams.draw(SOURCE)
    identities = set(re.findall(r' id="([^"]+)"', svg))
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= identities
    assert set(re.findall(r'aria-\w+by="([^"]+)"', svg)) <= identities


@needs_merman
def test_the_same_source_gives_the_same_drawing_and_another_has_other_ids():
    assert diagrams.draw(SOURCE) == diagrams.draw(SOURCE)
    other = diagrams.draw(SOURCE.replace("Second", "Third"))
    ids = re.compile(r' id="([^"]+)"')
    assert not set(ids.findall(other)) & set(ids.findall(diagrams.draw(SOURCE)))


@needs_merman
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SOURCE.replace("accTitle: Two boxes", ""), "accTitle: ...` is missing"),
        (SOURCE.replace("accDescr: A leads to B.", ""), "accDescr: ...` is missing"),
        (SOURCE + "    B --> [[", "parse error"),
    ],
)
def test_a_wrong_diagram_stops_the_build_and_is_shown(source, message, tmp_path):
    with pytest.raises(SuperFencesException, match=message) as caught:
        fence(source, tmp_path)
    assert source in str(caught.value)


@pytest.mark.parametrize(("ci", "level"), [(True, "WARNING"), (False, "INFO")])
def test_without_a_wheel_the_source_is_shown_and_ci_is_warned(
    monkeypatch, caplog, tmp_path, ci, level
):
    monkeypatch.setattr(diagrams, "merman", None)
    monkeypatch.setenv("CI", "true") if ci else monkeypatch.delenv("CI", raising=False)
    with caplog.at_level("INFO"):
        shown = fence(SOURCE, tmp_path)
    assert "A[&quot;First&lt;br/&gt;n × d&quot;]" in shown
    assert [record.levelname for record in caplog.records] == [level]
