from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, beside, lines_panel


@site_figure
def decoder_lines(steps_of: StepsOf) -> Html:
    r"""The heads that find something. In the self-attention, *est* looks at the noun before it. In
    the cross-attention, *start* and *la* look at the words that are to be translated next. The
    thicker a line, the larger the weight."""
    steps = steps_of("encoder_decoder")
    own, cross = steps["decoder_weights_1"], steps["cross_weights_1"]
    target, source = words_of(cross)
    seen_by_est = labels_of_largest(own, target)[target.index("est")]
    claim(seen_by_est == "voiture", "*est* looks at the noun before it")
    claim(labels_of_largest(cross, source)[:2] == ["the", "car"], "to be translated next")
    panels = [
        lines_panel(own, target, heading="Self-attention, head 1"),
        lines_panel(cross, target, source, heading="Cross-attention, head 1"),
    ]
    return beside(panels, "Where the decoder looks")
