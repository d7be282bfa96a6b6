"""Check statements of captions against the data of their figures."""


def claim(is_true: object, quote: str) -> None:
    """Stop the build if the data of a figure contradict its caption.

    Args:
        is_true: whether the quoted statement is true of the data.
        quote: the statement, quoted from the caption.

    Raises:
        ValueError: if it is not true; the build adds the page and the name of the figure.
    """
    if not is_true:
        raise ValueError(f"its data contradict its caption: {quote!r}")
