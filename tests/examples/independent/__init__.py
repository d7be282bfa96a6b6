"""Independent computations of the examples' steps, one module for each group of examples."""
