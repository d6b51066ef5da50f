"""Machine code kept on disk: one file for each function, signature and processor, found by the fingerprint.

The files are unpickled, so that whoever may write to their folder can run code: a folder that others may write to is
refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.misc.appdirs import AppDirs

from neuralns.compiled import helpers
from neuralns.compiled.fingerprint import fingerprint, fingerprint_anew, own_helpers, signature_text
from neuralns.errors import InputWarning

MOST_VERSIONS = 64
"""Files kept of one function: its signatures, a sweep over a global, some checkouts that share a folder."""
FORGOTTEN = 3600.0
"""Seconds after which a file that was never finished is removed."""
NOBODY = 65534
"""Owner of what belongs to users outside of a container, who are not among those inside."""
_DIGEST = hashlib.sha256().digest_size


class KeptCode(_Cache):  # type: ignore[misc]
    """What a compiled function asks for its machine code before it compiles, and tells afterwards.

    ``versions`` are the fingerprints of the function whenever it was compiled or loaded; None where it has none.
    """

    def __init__(self, function: Callable[..., Any], options: str = "") -> None:
        self._function, self._options = function, options
        self._enabled = True
        self._compiled_as: str | None = None
        self.versions: set[str | None] = set()
        name = f"{Path(function.__code__.co_filename).stem}.{function.__code__.co_qualname}"
        self._name = "".join(letter for letter in name if letter.isalnum() or letter in "._-")

    @property
    def cache_path(self) -> str:
        """The folder to write to."""
        return str(_folder_to_write(self._function.__code__.co_filename) or "")

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        for path in self._versions(_folder_to_write(self._function.__code__.co_filename)):
            path.unlink(missing_ok=True)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return what was compiled for a signature, or None."""
        context.refresh()
        # Before anything is compiled: what the code is then made of counts.
        self._compiled_as = None if _has_older_helpers(self._function) else fingerprint(self._function)
        self.versions.add(self._compiled_as)
        name = self._file_name(signature, context.codegen())
        if name is None:
            return None
        for folder in _folders_to_read(self._function.__code__.co_filename):
            try:
                content = _read_checked(folder / name)
                if content is not None:
                    rebuilt = helpers.rebuilt if helpers.is_making_one() else CompileResult._rebuild
                    return rebuilt(context, *pickle.loads(content))
            except Exception as error:
                _tell_of_no_folder(error)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled for a signature, if a later process can tell that it is the same."""
        name = self._file_name(signature, result.codegen)
        if name is None or any(not part.can_cache for part in result.lifted) or result.library.has_dynamic_globals:
            return
        # A global that was set in between, or one of the package, which is looked at once otherwise.
        if fingerprint_anew(self._function) != self._compiled_as:
            return
        source = self._function.__code__.co_filename
        folder = _folder_to_write(source)
        if folder is None:
            # Typed at a prompt there is no file to keep it beside.
            if os.path.isfile(source):
                shared = [folder for folder in _candidates(source) if folder.is_dir() and not _is_private(folder)]
                if shared:
                    _tell_of_others(shared[0])
                else:
                    _tell_of_no_folder(RuntimeError())
            return
        try:
            data = dumps(helpers.parts_of(result) if helpers.is_helper(result) else result._reduce())
            _write(folder / name, hashlib.sha256(data).digest() + data)
            drafts = _times(folder.glob(f"{self._name}-*.nbc.*"))
            forgotten = [path for path, written in drafts.items() if written < time.time() - FORGOTTEN]
            for path in (*self._versions(folder)[MOST_VERSIONS:], *forgotten):
                path.unlink(missing_ok=True)
        except Exception as error:
            _tell_of_no_folder(error)

    def _file_name(self, signature: Any, codegen: Any) -> str | None:
        told = signature_text(*normalize_signature(signature))
        if not self._enabled or self._compiled_as is None or told is None:
            return None
        form = "helper" if helpers.is_making_one() else "whole"
        whole = f"{self._compiled_as} {self._options} {told} {form} {codegen.magic_tuple()}"
        return f"{self._name}-{hashlib.sha256(whole.encode()).hexdigest()[:24]}.nbc"

    def _versions(self, folder: Path | None) -> list[Path]:
        """Return the files of this function, newest first."""
        times = {} if folder is None else _times(folder.glob(f"{self._name}-{'?' * 24}.nbc"))
        return sorted(times, key=lambda path: times[path], reverse=True)


def _times(paths: Iterable[Path]) -> dict[Path, float]:
    """Return when files were changed, without those that another process has removed meanwhile."""
    times = {}
    for path in paths:
        with contextlib.suppress(OSError):
            times[path] = path.stat().st_mtime
    return times


def _has_older_helpers(function: Callable[..., Any]) -> bool:
    """Return whether a helper of the user's may have been compiled from something else than it is now."""
    return any(
        helper.overloads and getattr(helper._cache, "versions", None) != {fingerprint(helper.py_func)}
        for helper in own_helpers(function)
    )


def _read_checked(path: Path) -> bytes | None:
    """Return the content of a file; None if there is none, or if it is not what was written."""
    try:
        is_ours = os.name != "posix" or _is_safe(path)
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    if not is_ours:
        _tell_of_others(path)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # those used last are kept longest
    digest, data = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(data).digest() != digest:
        say_once("damaged", f"{path}: compiled code kept there is damaged; it is compiled anew.")
        return None
    return data


def _write(path: Path, content: bytes) -> None:
    # By a name that no other process draws: several may compile the same at once.
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _candidates(source: str) -> list[Path]:
    """Return where to look for machine code of functions in a source file, best first."""
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR) / "neuralns"]
    beside = [Path(source).parent / "__pycache__"] if os.path.isfile(source) else []
    return [*beside, Path(AppDirs(appname="neuralns", appauthor=False).user_cache_dir)]


def home() -> str:
    """Return in words where the package's machine code is kept."""
    folder = _folder_to_write(__file__)
    if folder is None:
        return "kept nowhere"
    beside = folder.parent == Path(__file__).parent
    return f"in the __pycache__ folders below {folder.parents[1]}" if beside else f"in {folder}"


def keeps_code() -> bool:
    """Return whether the package's machine code can be kept on disk."""
    return _folder_to_write(__file__) is not None


@cache
def _folders_to_read(source: str) -> list[Path]:
    """Return the folders that exist and that nobody else may write to; those that somebody may are told."""
    found = [folder for folder in _candidates(source) if folder.is_dir()]
    for folder in found:
        if not _is_private(folder):
            _tell_of_others(folder)
    return [folder for folder in found if _is_private(folder)]


@cache
def _folder_to_write(source: str) -> Path | None:
    """Return the first folder that can be written to, by nobody else; None if there is none."""
    if not os.path.isfile(source) and not _is_notebook(source):
        return None
    for folder in _candidates(source):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK) and _is_private(folder):
            _folders_to_read.cache_clear()
            return folder
    return None


def _is_notebook(source: str) -> bool:
    return source.startswith("<ipython-") or Path(source).parent.name.startswith("ipykernel_")


def _is_private(path: Path) -> bool:
    """Return whether only this user and root may write to a file or folder, or put another one in its place."""
    if os.name != "posix":  # elsewhere rights are lists, and a user's folders are closed to others by default
        return True
    try:
        resolved = path.resolve(strict=True)
        return _is_safe(resolved) and all(_is_safe(parent, above=True) for parent in resolved.parents)
    except OSError:
        return False


def _is_safe(path: Path, above: bool = False) -> bool:
    """Return whether only this user and root may write to one file or folder; one ``above`` may be as /tmp is."""
    status = path.stat()
    if status.st_uid not in (0, os.geteuid()) and not (above and status.st_uid == NOBODY and _is_contained()):
        return False
    if above and status.st_mode & stat.S_ISVTX:
        return True  # what is inside can be replaced by its owner alone
    if status.st_mode & stat.S_IWOTH:
        return False
    return not status.st_mode & stat.S_IWGRP or _is_own_group(status.st_gid)


@cache
def _is_contained() -> bool:
    """Return whether there are users outside of this container whom it does not know."""
    try:
        return Path("/proc/self/uid_map").read_text(encoding="utf-8").split() != ["0", "0", "4294967295"]
    except OSError:
        return False


@cache
def _is_own_group(group: int) -> bool:
    """Return whether a group has no member but this user or root: many systems give everybody such a group."""
    import grp
    import pwd

    try:
        entry, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return (group == 0 or entry.gr_name == user) and set(entry.gr_mem) <= {user, "root"}


def _tell_of_others(path: Path) -> None:
    say_once(
        f"others {path.parent}",
        f"{path}: compiled code there is not used, since others may write to it; take that right from them, or name "
        "another folder by NUMBA_CACHE_DIR.",
    )


def _tell_of_no_folder(error: Exception) -> None:
    if isinstance(error, OSError):
        why = error.strerror or str(error)
    else:
        why = "no folder can be written to" if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"
    say_once(
        "no folder",
        f"compiled code cannot be kept on disk ({why}) and is compiled each time; NUMBA_CACHE_DIR can name a folder.",
    )


_said: set[str] = set()


def say_once(subject: str, sentence: str) -> None:
    """Warn, once for each subject."""
    if subject not in _said:
        _said.add(subject)
        warnings.warn(sentence, InputWarning, stacklevel=2)
