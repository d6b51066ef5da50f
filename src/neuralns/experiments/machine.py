"""The machine that results come from."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from neuralns import __version__


def core_numbers() -> list[int]:
    """Return the numbers of the processors that this process may use; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def cores() -> int:
    """Return how many processors this process may use."""
    return len(core_numbers()) or os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Return what results may depend on."""
    found: dict[str, Any] = {"system": platform.system(), "processor": _processor(), "cores": cores()}
    found["python"] = platform.python_version()
    for package in ("numpy", "numba", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return {**found, "neuralns": __version__}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
