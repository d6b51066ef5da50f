"""How functions are compiled: once, kept on disk, and compiled anew whenever any compiled source changes."""

from __future__ import annotations

import hashlib
import os
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from neuralns.errors import InputWarning

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_ROOMS = ("compiled", "routes", "operators", "selection", "search", "mdp")


def compiled(function: Function, inline: bool = False, error_model: str = "numpy", kept: bool = True) -> Function:
    """Compile a function for the types it is called with; the result is kept on disk, unless it is not to be ``kept``.

    Numba notices an edit of the function's own file, but not of the functions that it inlines from other files. The
    stamp of the cache therefore covers the sources of all rooms that hold compiled functions.
    """
    dispatcher = njit(error_model=error_model, nogil=True, forceinline=inline)(function)
    if not kept:
        return dispatcher
    try:
        dispatcher.enable_caching()
    except (RuntimeError, OSError) as error:
        # Typed at a prompt there is no file to keep it beside; otherwise no folder can be written to.
        if os.path.isfile(function.__code__.co_filename):
            _warn_of_no_place(error)
        return dispatcher
    cache: Any = getattr(dispatcher, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if isinstance(file, IndexDataCacheFile):
        stamp = (file._source_stamp, _stamp_of_sources())
        # By a name of their own: what numba itself wrote has no checksum.
        cache._cache_file = _CheckedFile(file._cache_path, f"{cache._impl.filename_base}.checked", stamp)
        cache.load_overload = _forgiving(cache.load_overload)
        cache.save_overload = _forgiving(cache.save_overload)
    return dispatcher


def inlined(function: Function) -> Function:
    """Compile a function that is always built into its callers: for a few lines that the innermost loops call."""
    return compiled(function, inline=True)


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
    """What numba keeps of a function, with a checksum before it: machine code with a flipped bit is never run."""

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_index(self) -> Any:
        found = self._read(self._index_path)
        if found is None or found[:2] != (self._version, self._source_stamp):
            return {}
        return found[2]

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def _read(self, path: str) -> Any:
        """Return what a file holds; None if there is none, or if it is not what was written."""
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        digest, data = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(data).digest() != digest:
            _say_once(f"{path}: compiled code kept there is damaged; it is compiled anew.")
            return None
        return pickle.loads(data)


_DIGEST = hashlib.sha256().digest_size


def _forgiving(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does without the disk where that fails: what is not loaded is compiled."""

    def try_to(*arguments: Any) -> Any:
        try:
            return work(*arguments)
        except Exception as error:
            _warn_of_no_place(error)
            return None

    return try_to


def _warn_of_no_place(error: Exception) -> None:
    if isinstance(error, OSError):
        why = error.strerror or str(error)
    else:
        why = "no folder can be written to" if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"
    _say_once(
        f"compiled code cannot be kept on disk ({why}) and is compiled each time; NUMBA_CACHE_DIR can name a folder."
    )


_said: set[str] = set()


def _say_once(sentence: str) -> None:
    kind = sentence.rpartition(": ")[2]
    if kind not in _said:
        _said.add(kind)
        warnings.warn(sentence, InputWarning, stacklevel=2)


def compile_for(signature: Any, function: Callable[..., Any], error_model: str = "numpy", kept: bool = True) -> Any:
    """Compile a function for one signature, so that it can be called by its address (see `calls`).

    With the ``error_model`` of ``python`` a division by zero is an exception.
    """
    dispatcher = compiled(function, error_model=error_model, kept=kept)
    dispatcher.compile(signature)  # type: ignore[attr-defined]
    dispatcher.disable_compile()  # type: ignore[attr-defined]
    return dispatcher


@cache
def _stamp_of_sources() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for room in COMPILED_ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            status = path.stat()
            digest.update(f"{path.name} {status.st_mtime_ns} {status.st_size};".encode())
    return digest.hexdigest()


class CompilationNotice(event.Listener):  # type: ignore[misc]
    """Call ``notify`` once, at the first function that has to be compiled because the disk does not hold it.

    >>> with CompilationNotice(lambda: print("compiling ...")):
    ...     pass
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify: Callable[[], None] | None = notify

    def on_start(self, event: Any) -> None:
        if self._notify is not None:
            notify, self._notify = self._notify, None
            notify()

    def on_end(self, event: Any) -> None:
        pass

    def __enter__(self) -> CompilationNotice:
        event.register("numba:compile", self)
        return self

    def __exit__(self, *exception: object) -> None:
        event.unregister("numba:compile", self)
