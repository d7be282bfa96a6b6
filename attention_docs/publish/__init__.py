"""From pages to HTML: pure functions, and thin adapters that MkDocs calls."""
