"""Exercises that the page's script judges: questions and dares."""
