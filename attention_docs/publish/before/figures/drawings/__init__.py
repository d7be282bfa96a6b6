"""Drawings that several figures share."""
