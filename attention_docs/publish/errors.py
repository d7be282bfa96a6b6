"""What stops a build."""


class PublishError(Exception):
    """Something in a page cannot be published; the message names page and place."""
