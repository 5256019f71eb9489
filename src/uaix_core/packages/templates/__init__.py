"""Complete packages to edit, and bringing a manifest up to date after editing."""
