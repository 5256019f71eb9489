"""Measurements of the library against the least code that does the same work."""
