r"""The site's figures: a page inserts one with `\figure{name}`.

Any function with `@site_figure` in a module of this folder is one. It takes its arrays from the
worked examples, and its docstring is its caption, in Markdown.
"""

import importlib
import pkgutil

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
