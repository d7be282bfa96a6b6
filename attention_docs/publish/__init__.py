"""The site build in three phases: before the generator, the generator, and after it."""
