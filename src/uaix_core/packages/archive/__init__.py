"""Archives: the strict reader, from offset 0, and the deterministic writer."""
