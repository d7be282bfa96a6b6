"""What a caption says in words about its data, held against them."""


def claim(holds: object, words: str) -> None:
    """Stop the build where a figure contradicts its caption; whoever calls this names the figure.

    Args:
        holds: whether the data of the figure are as the words say.
        words: from the caption, as they stand there.

    Raises:
        ValueError: if they are not.
    """
    if not holds:
        raise ValueError(f"its data contradict its caption: {words!r}")
