"""Files that are written: at once or not at all, refused before any work, saved elsewhere if need be."""

from __future__ import annotations

import os
import platform
import stat
import tempfile
import warnings
import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from neuralns.errors import InputError, InputWarning

# Temporary files carry machine and process, so that what a killed process left can be told from what is being written.
_HOST = zlib.crc32(platform.node().encode())
_PREFIX = f".neuralns-{_HOST:08x}-"
_swept: set[str] = set()
"""Folders that have been rid of left temporary files already."""


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse an output path that cannot be written, before any work is done for it."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        # A name that is too long, or that no file can have.
        raise InputError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}).") from None
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder, not a file.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) and not _is_device(path):
        raise InputError(f"{path}: folder {folder} does not exist.")
    if not os.access(path if _is_device(path) else folder, os.W_OK):
        raise InputError(f"{path}: folder {folder} cannot be written to.")


def check_new(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse an output file that is there already, unless it may be written over."""
    if os.path.isfile(path) and not force:
        raise InputError(f"{path}: exists already; choose another name, or write over it with --force.")


def fill_name(pattern: str, name: str) -> str:
    """Return a path with ``{name}`` filled in; whatever the name, it stays one part of the path.

    >>> fill_name("out/{name}.sol", "../a"), fill_name("{name}/b.sol", "..")
    ('out/.._a.sol', '__/b.sol')
    """
    safe = "".join("_" if letter in "/\\" or not letter.isprintable() else letter for letter in name)
    return pattern.replace("{name}", safe if safe.strip(".") else "_" * len(safe))


def write_or_rescue(write: Callable[[str], None], path: str | os.PathLike[str]) -> str:
    """Write what took long to make; where that fails, to the folder of temporary files, with a warning that says so.

    Returns where it is. If that fails as well, it is refused.
    """
    wanted = os.fspath(path)
    try:
        write(wanted)
        return wanted
    except InputError as error:
        reason = str(error).rstrip(".")
    # Of a name that is too long the end is kept, which says the format.
    name = os.path.basename(wanted).replace("\0", "_")[-100:] or "result"
    try:
        other = os.path.join(tempfile.mkdtemp(prefix="neuralns-"), name)
        write(other)
    except (InputError, OSError):
        raise InputError(f"{reason}, nor can anything in {tempfile.gettempdir()}.") from None
    warnings.warn(f"{reason}; it is in {other} instead.", InputWarning, stacklevel=2)
    return other


def check_suffix(path: str | os.PathLike[str], suffixes: Collection[str]) -> None:
    """Refuse a file name whose ending names none of the formats; a device, such as /dev/stdout, has no say in it."""
    if Path(path).suffix.lower() not in suffixes and not _is_device(path):
        raise InputError(f"{path}: the file name must end with {' or '.join(suffixes)}.")


def write_text(path: str | os.PathLike[str], text: str, mode: int = 0o666) -> None:
    """Write a file at once or not at all: an interrupted or failed write leaves the old file as it was."""
    write_bytes(path, text.encode(), mode)


def write_bytes(path: str | os.PathLike[str], content: bytes, mode: int = 0o666) -> None:
    """Write a binary file at once or not at all; a link stays a link, and a device is written to, not replaced.

    A file that was there keeps its permissions; a new one has those of ``mode`` that the process gives to any file.
    """
    try:
        if _is_device(path):
            Path(path).write_bytes(content)
        else:
            _replace(os.path.realpath(path), content, mode)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}).") from None


def _replace(target: str, content: bytes, mode: int) -> None:
    folder = os.path.dirname(target)
    _sweep(folder)
    temporary = os.path.join(folder, f"{_PREFIX}{os.getpid()}-{os.urandom(6).hex()}")
    # Opened as any new file is, so that the process's usual permissions hold.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sweep(folder: str) -> None:
    """Delete temporary files that processes of this machine left in a folder when they were killed."""
    if folder in _swept or os.name != "posix":
        return
    _swept.add(folder)
    with suppress(OSError):
        for name in os.listdir(folder):
            number = name.removeprefix(_PREFIX).partition("-")[0]
            if name.startswith(_PREFIX) and number.isdecimal() and not _is_running(int(number)):
                Path(folder, name).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_device(path: str | os.PathLike[str]) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
