"""A language model of the Llama family, from a GGUF file, computed with the package's own parts."""
