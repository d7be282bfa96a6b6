"""The generator, which makes HTML of the prepared pages: MkDocs, or Zensical in its place."""
