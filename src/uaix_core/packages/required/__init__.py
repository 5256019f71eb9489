"""Closed required sets: registered files and the rulesets that require them."""
