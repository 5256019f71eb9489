"""uaix_surfaces."""
