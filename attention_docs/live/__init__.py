"""An example as a graph, from its literal inputs to its named steps, for the page that answers."""
