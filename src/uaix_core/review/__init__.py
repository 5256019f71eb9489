"""Reviews: what a person decided about what the library leaves open."""
