"""Writing of files at once or not at all, and refusing output paths before any work is done for them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path

from neuralns.errors import InputError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse an output path that cannot be written, before any work is done for it."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder, not a file.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) and not _is_device(path):
        raise InputError(f"{path}: folder {folder} does not exist.")
    if not os.access(path if _is_device(path) else folder, os.W_OK):
        raise InputError(f"{path}: folder {folder} cannot be written to.")


def check_suffix(path: str | os.PathLike[str], suffixes: Collection[str]) -> None:
    """Refuse a file name whose ending names none of the formats; a device, such as /dev/stdout, has no say in it."""
    if Path(path).suffix.lower() not in suffixes and not _is_device(path):
        raise InputError(f"{path}: the file name must end with {' or '.join(suffixes)}.")


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
