"""Before the generator: sources and worked examples become Markdown."""
