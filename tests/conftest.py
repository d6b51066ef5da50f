"""What the tests share."""

from __future__ import annotations

import os

# Two test processes on two cores leave none for libraries that start threads.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
