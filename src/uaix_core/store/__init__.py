"""The storage port: protocols, the chain, and the pure half of every backend."""
