"""Before the generator: the files of pages and worked examples become Markdown."""
