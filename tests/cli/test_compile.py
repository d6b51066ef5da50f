"""``neuralns compile``: nothing is left to compile afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from commands import spawn

PROGRAM = """
import neuralns
from neuralns.compiled.caching import CompilationCount
from neuralns.problem.generate.variants import GENERATORS, generate_of

with CompilationCount() as compilations:
    for variant in GENERATORS:
        instance = generate_of(variant, 30, 5)
        neuralns.solve(instance, neuralns.MaxIterations(200), seed=1)
        neuralns.solve(instance, neuralns.MaxIterations(200), initial="insertion", selector="random")
print(compilations.count)
"""


def test_no_search_has_to_compile_anything_afterwards() -> None:
    done = spawn("compile")
    assert done.code == 0
    assert "pdptw: " in done.stdout
    assert "day (fleet with windows): " in done.stdout
    assert "compiled code is in " in done.stdout
    after = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert after.stdout == "0\n"


def test_operators_of_ones_own_are_compiled_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from neuralns.operators.toolkit import destroy, random_routed, remove\n"
        "@destroy('compiled-in-advance')\n"
        "def f(state, quota):\n    while state.n_removed < quota:\n        remove(state, random_routed(state))\n"
    )
    assert spawn("compile", "--operators", str(tmp_path / "mine.py")).code == 0
    assert list(tmp_path.rglob("mine.f-*.nbc"))
