"""MkDocs' entry. Each event goes to `attention_docs.publish.site`, imported afresh for each build.

MkDocs keeps this file loaded while it serves; so nothing of the package is imported at the top,
and an edit of any other file of the package takes effect at the next reload.
"""

import errno
import gc
import importlib
import sys

from mkdocs.exceptions import PluginError


def forward(event):
    """Make the handler of one event."""

    def handler(*args, **keywords):
        site = importlib.import_module("attention_docs.publish.site")
        return getattr(site, event)(*args, **keywords)

    return handler


on_config = forward("on_config")
on_files = forward("on_files")
on_pre_page = forward("on_pre_page")
on_page_markdown = forward("on_page_markdown")
on_page_content = forward("on_page_content")
on_env = forward("on_env")
on_post_page = forward("on_post_page")
on_post_template = forward("on_post_template")

serving = False


def on_startup(command, dirty):
    global serving
    serving = command == "serve"
    # Byte code written beside a watched source would set off one more rebuild.
    sys.dont_write_bytecode = serving


def on_pre_build(config):
    # A build makes millions of objects and hardly any cycle of them; to look for those took a
    # twentieth of its time.
    gc.disable()


def on_post_build(config):
    forward("on_post_build")(config)
    # The live reload of `serve` adds a script to each page, which the policy would refuse.
    if not serving:
        forward("lock_down")(config)
    forget_package()


def on_build_error(error):
    forget_package()
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        raise PluginError("the disk is full") from error


def forget_package():
    gc.enable()
    for name in list(sys.modules):
        if name.partition(".")[0] == "attention_docs":
            del sys.modules[name]
