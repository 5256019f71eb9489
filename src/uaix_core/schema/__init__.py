"""Relations and their rows, commits over them, and the running of reducers.

This is the mechanism. Each room above declares relations and a reducer of its own.
"""
