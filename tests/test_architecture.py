"""Rooms import only from rooms to their left, and only one of them knows torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import neuralns

PACKAGE = Path(neuralns.__file__).parent
ROOMS = (
    "problem",
    "compiled",
    "routes",
    "operators",
    "selection",
    "search",
    "mdp",
    "learning",
    "experiments",
    "bridges",
    "reproduction",
    "studio",
    "cli",
)
# Modules beside the rooms, and the first room that may import them; pictures need solutions.
SHARED = {"errors": "problem", "files": "problem", "plot": "operators", "testing": "cli"}
# Modules beside the rooms that import as a room may.
BESIDE = {"testing.py": "search", "__main__.py": "cli"}
FILES = sorted(PACKAGE.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Names of all modules that a source imports when it runs, also inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from imported(node)


def room_of(path: Path) -> str | None:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else BESIDE.get(parts[0])


def broken_rules(room: str | None, source: str) -> list[str]:
    """What a source in a room imports but must not."""
    found = []
    for name in imported(ast.parse(source)):
        parts = name.split(".")
        if parts[0] == "torch" and room != "learning":
            found.append(name)
        if room == "compiled" and parts[:2] == ["neuralns", "problem"]:
            found.append(name)
        if parts[0] != "neuralns" or len(parts) < 2:
            continue
        if parts[1] in ROOMS:
            allowed = ROOMS[: ROOMS.index(room) + 1] if room is not None else ("problem",)
            if parts[1] not in allowed:
                found.append(name)
        elif parts[1] in SHARED and room is not None and ROOMS.index(room) < ROOMS.index(SHARED[parts[1]]):
            found.append(name)
    return found


def test_the_rooms_are_those_of_the_package() -> None:
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_leftward(path: Path) -> None:
    assert broken_rules(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "source", "found"),
    [
        ("search", "from neuralns.selection.uniform import Uniform", []),
        ("selection", "import neuralns.search.solve", ["neuralns.search.solve"]),
        ("selection", "def f():\n    import neuralns.mdp.lanes", ["neuralns.mdp.lanes"]),
        ("mdp", "from neuralns import cli", ["neuralns.cli"]),
        ("mdp", "import torch", ["torch"]),
        ("learning", "import torch.nn", []),
        ("compiled", "import neuralns.problem.instance", ["neuralns.problem.instance"]),
        ("routes", "import neuralns.problem.instance", []),
        ("routes", "import neuralns.operators.registry", ["neuralns.operators.registry"]),
        ("experiments", "import neuralns.reproduction.plan", ["neuralns.reproduction.plan"]),
        ("problem", "from neuralns.plot import routes", ["neuralns.plot", "neuralns.plot.routes"]),
        ("problem", "from neuralns.files import write_text", []),
        ("search", "if TYPE_CHECKING:\n    from neuralns.cli import app", []),
        (None, "from neuralns.search.solve import solve", ["neuralns.search.solve", "neuralns.search.solve.solve"]),
    ],
)  # fmt: skip
def test_a_broken_rule_is_found(room: str | None, source: str, found: list[str]) -> None:
    assert broken_rules(room, source) == found
