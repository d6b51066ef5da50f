"""What the tests share."""

from __future__ import annotations

import os
import signal

# Two test processes on two cores leave none for libraries that start threads.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A shell starts what it puts into the background with interrupts ignored, and all that is started from there inherits
# it: tests of Ctrl-C would press in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
