"""The site, in three steps: before the generator, the generator, and after it."""
