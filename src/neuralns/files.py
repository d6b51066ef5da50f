"""Files written at once or not at all, output paths refused before any work, a user's Python file run."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from neuralns.errors import InputError, NeuralnsError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse an output path that cannot be written, before any work is done for it."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder, not a file.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) and not _is_device(path):
        raise InputError(f"{path}: folder {folder} does not exist.")
    if not os.access(path if _is_device(path) else folder, os.W_OK):
        raise InputError(f"{path}: folder {folder} cannot be written to.")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file at once or not at all: an interrupted or failed write leaves the old file as it was."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a binary file at once or not at all; a link stays a link, and a device is written to, not replaced."""
    try:
        if _is_device(path):
            Path(path).write_bytes(content)
        else:
            _replace(os.path.realpath(path), content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None


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


def _replace(target: str, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".neuralns-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _is_device(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
