"""Histories: what several processes did, saw and were told, and whether it can be true.

Workers write down each operation before and after it. A killer ends them at any moment
and others take their places. In the end a pure checker reads what they wrote.
"""
