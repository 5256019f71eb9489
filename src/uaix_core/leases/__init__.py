"""Leases: one session of one agent is at work with a package at a time."""
