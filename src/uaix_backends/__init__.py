"""uaix_backends."""
