"""The rule tables of packages: every code a check can give, as data."""
