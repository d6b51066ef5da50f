"""How functions are compiled: once, kept on disk, and compiled anew whenever any compiled source changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_ROOMS = ("compiled", "routes", "operators", "selection", "search", "mdp")


def compiled(function: Function, inline: bool = False) -> Function:
    """Compile a function for the types it is called with; the result is kept on disk.

    Numba notices an edit of the function's own file, but not of the functions that it inlines from other files. The
    stamp of the cache therefore covers the sources of all rooms that hold compiled functions.
    """
    dispatcher = njit(error_model="numpy", nogil=True, forceinline=inline)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:
        return dispatcher  # typed at a prompt: there is no file to keep it beside
    cache: Any = getattr(dispatcher, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if file is not None and hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _stamp_of_sources())
        cache.load_overload = _forgiving(cache.load_overload, cache.flush)
    return dispatcher


def inlined(function: Function) -> Function:
    """Compile a function that is always built into its callers: for a few lines that the innermost loops call."""
    return compiled(function, inline=True)


def _forgiving(load: Callable[..., Any], forget: Callable[[], None]) -> Callable[..., Any]:
    """Return a loader that starts afresh where the disk holds something that cannot be read (an older version's)."""

    def load_or_forget(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:
            forget()
            return None

    return load_or_forget


def compile_for(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function for one signature, so that it can be called by its address (see `calls`)."""
    dispatcher = compiled(function)
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
