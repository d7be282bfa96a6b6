"""After the generator: its output becomes the published site."""
