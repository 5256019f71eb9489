"""`python -m uaix_surfaces` is the command line."""

from __future__ import annotations

from uaix_surfaces.cli import main

if __name__ == "__main__":
    main()
