"""The guard: a store in front of a store, that shows and takes what a token allows."""
