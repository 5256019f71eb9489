"""The one façade: a principal at work in one scope of a store."""
