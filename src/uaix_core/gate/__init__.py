"""The pure engine that judges text before a write: secrets, hidden text, commands.

One table of detectors serves packages and memories. Nothing here reads a clock, a
file or an environment, and nothing that leaves it holds a piece of the judged text.
"""
