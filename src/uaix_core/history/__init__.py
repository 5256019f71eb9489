"""Revisions and their heads, receipts and the keys that make a retry harmless."""
