"""Plain values: errors, ids, instants, text rules and canonical bytes.

Nothing here knows a relation, a store or a package; everything above may use it.
"""
