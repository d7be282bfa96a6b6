"""The other ways to compute the worked examples, a module for each family of them."""
