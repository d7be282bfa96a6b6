"""After the generator: the finished pages become what is published."""
