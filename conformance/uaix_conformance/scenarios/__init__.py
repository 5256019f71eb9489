"""Scenarios: what an application of the format must do, scripted as plain JSON.

Each file of this folder is one scenario. It names no library and no backend: whatever
takes commands as JSON and answers with outcomes can play it.
"""
