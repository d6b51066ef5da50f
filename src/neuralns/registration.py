"""The environment made known to Gymnasium as soon as a program loads that, which this package does not do itself."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ENVIRONMENT_ID = "neuralns/OperatorSelection-v0"


def register_environment() -> None:
    """Register the environment, at once or when Gymnasium is loaded."""
    if "gymnasium" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _OnLoading())


def _register() -> None:
    from gymnasium.envs.registration import register

    register(
        id=ENVIRONMENT_ID,
        entry_point="neuralns.mdp.environment:OperatorSelection",
        vector_entry_point="neuralns.mdp.vector_environment:OperatorSelectionLanes",
    )


class _OnLoading(MetaPathFinder):
    """Finds no module itself; lets Gymnasium be followed by the registration."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader = None if spec is None else spec.loader
        if loader is not None:
            load = loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register()

            loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
