"""A user's Python file, with operators or a selector: run, and refused by its name if it fails."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from neuralns.errors import InputError, NeuralnsError


def run_python_file(path: str | os.PathLike[str]) -> ModuleType:
    """Run a user's Python file and return it as a module; one that fails is refused by its name."""
    source = Path(path).resolve()
    if not source.is_file():
        raise InputError(f"{path}: cannot be read (no such file).")
    # The full path is part of the name, so that two files of one name do not meet.
    name = f"neuralns_user_{source.stem}_{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except NeuralnsError:
        raise
    except Exception as error:
        raise InputError(f"{path}: fails when run ({type(error).__name__}: {error}).") from None
    return module
