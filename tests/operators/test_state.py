"""The state as editors see it is the state that compiled code sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from numba.np.numpy_support import as_dtype

from neuralns.compiled.structs import number, whole
from neuralns.operators.state import State, Status
from neuralns.routes.layout import state_type
from neuralns.routes.status import status_type


@pytest.mark.parametrize(("seen", "true"), [(State, state_type), (Status, status_type)])
def test_every_field_is_there_with_its_type(seen: Any, true: Any) -> None:
    for name, hint in get_type_hints(seen).items():
        kind = true.fields[name]
        if hint in (int, float):
            assert kind == {int: whole, float: number}[hint], name
        else:
            (entry,) = hint.__args__[1].__args__
            assert as_dtype(kind.dtype) == np.dtype(entry), name


def test_an_operator_can_be_checked_with_it(tmp_path: Path) -> None:
    good = (
        "from neuralns.operators.toolkit import State, destroy, remove\n\n"
        "@destroy('typed')\ndef typed(state: State, quota: int) -> None:\n"
        "    while state.n_removed < quota:\n        remove(state, state.first[state.active[0]])\n"
    )
    for name, text in (("good", good), ("bad", good.replace("n_removed", "nremoved"))):
        (tmp_path / f"{name}.py").write_text(text)
    done = [
        subprocess.run(
            [sys.executable, "-m", "mypy", f"{name}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        for name in ("good", "bad")
    ]
    assert [each.returncode for each in done] == [0, 1]
    assert 'bad.py:5: error: "State" has no attribute "nremoved"' in done[1].stdout
