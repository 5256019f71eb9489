"""The judge of storage backends: laws, a model to compare with, and a verdict.

It imports the core and never a backend; backends come to it through entry points of
the group ``uaix.backends``.
"""
