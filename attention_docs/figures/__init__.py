r"""The site's figures, which a page inserts with `\figure{name}`: a module for each page.

Each is a function with `@site_figure`. It takes its arrays from the worked examples, and its
docstring is its caption, in Markdown.
"""

import importlib
import pkgutil

# Importing a module registers its figures.
for module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(module.name)
