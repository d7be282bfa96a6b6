"""Figures of the chapters on today's models: a module for each of the longer ones."""
