"""Thin shells over a session; no rule lives here."""
