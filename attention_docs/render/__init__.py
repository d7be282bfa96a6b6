"""Results to text, LaTeX, JSON and Python: pure functions."""
