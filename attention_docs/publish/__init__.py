"""The site build in three stages: before the generator, the generator, and after it."""
