"""Tiers: what an agent keeps beside its persona, each apart from all others."""
