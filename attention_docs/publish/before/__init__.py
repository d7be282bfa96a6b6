"""Before the generator: pages and worked examples become plain Markdown."""
