"""Measurements of the library against the least code that does the same work."""

import os

# A second thread of matrix products would take the time of whoever is measured next.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
