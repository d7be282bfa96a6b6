"""The generator stage: MkDocs, or Zensical instead, makes HTML of the prepared pages."""
