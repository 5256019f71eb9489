"""Governed, portable memory and persona for AI applications: the pure core."""
