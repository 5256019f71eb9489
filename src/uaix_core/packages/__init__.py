"""Packages: declared sets of records with a manifest, as folders or archives."""
