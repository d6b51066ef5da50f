"""A user's Python file, with operators or a selector: run, and refused by its name if it fails."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType

from neuralns.errors import InputError, NeuralnsError

_siblings: set[str] = set()
"""Names of modules that came from folders of users' files."""
_PREFIX = "neuralns_user_"


def run_python_file(path: str | os.PathLike[str]) -> ModuleType:
    """Run a user's Python file and return it as a module; one that fails is refused by its name.

    It can import the modules beside it, as a program can; they are run anew with each file.
    """
    source = Path(path).resolve()
    if not source.is_file():
        raise InputError(f"{path}: cannot be read (no such file).")
    if source.suffix != ".py":
        raise InputError(f"{path}: is not a Python file.")
    # The full path is part of the name, so that two files of one name do not meet.
    name = f"{_PREFIX}{source.stem}_{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    module = ModuleType(name)
    module.__file__ = str(source)
    sys.modules[name] = module
    try:
        # Not by an import, which would take a file of the same size and second for the same.
        code = compile(source.read_bytes(), str(source), "exec")
        with _importing_from(source.parent):
            exec(code, vars(module))
    except NeuralnsError:
        raise
    except Exception as error:
        raise InputError(f"{path}: fails when run ({type(error).__name__}: {error}).") from None
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Let modules of a folder be imported, none of them from before, and none of another folder's in their place."""
    for name in _siblings & {path.stem for path in folder.iterdir()}:
        for loaded in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[loaded]
    before = set(sys.modules)
    importlib.invalidate_caches()
    entry = str(folder)
    kept, hook = sys.path_importer_cache.pop(entry, None), _finder_in(entry)
    sys.path.insert(0, entry)
    sys.path_hooks.insert(0, hook)
    try:
        yield
    finally:
        sys.path_hooks.remove(hook)
        sys.path_importer_cache.pop(entry, None)
        if kept is not None:
            sys.path_importer_cache[entry] = kept
        if entry in sys.path:
            sys.path.remove(entry)
        for name in sys.modules.keys() - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(folder):
                _siblings.add(name.partition(".")[0])


class _FromSource(SourceFileLoader):
    """Loads a module from its source, whatever Python has kept of it by size and second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _finder_in(folder: str) -> Callable[[str], FileFinder]:
    """Return what finds modules in a folder and the packages below it, for Python's list of such finders."""

    def find(path: str) -> FileFinder:
        if not Path(path).is_relative_to(folder):
            raise ImportError
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FromSource, SOURCE_SUFFIXES))

    return find


def user_files() -> list[str]:
    """Return the users' files that were run so far, for another process to run them."""
    modules = [module for name, module in sys.modules.items() if name.startswith(_PREFIX)]
    files = [Path(str(module.__file__)) for module in modules]
    return [str(file) for file in files if file.is_file()]
