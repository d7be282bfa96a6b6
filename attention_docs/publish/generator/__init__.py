"""The generator phase: MkDocs, or Zensical instead, makes HTML of the prepared pages."""
