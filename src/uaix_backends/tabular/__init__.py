"""What the backends that keep relations as tables share: rows out of results."""
