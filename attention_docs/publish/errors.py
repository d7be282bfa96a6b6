"""What stops a build."""

from mkdocs.exceptions import PluginError


class PublishError(PluginError):
    """Something in a page cannot be published; the message says what and where.

    MkDocs ends the build with the message alone, without a traceback.
    """
