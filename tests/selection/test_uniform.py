"""Uniform random selection."""

import pytest

from neuralns import MaxIterations, Uniform, solve


def test_every_operator_of_a_phase_is_chosen_alike() -> None:
    result = solve("E-n22-k4", MaxIterations(24000), selector=Uniform(), portfolio="paper", scale=3)
    used = {use.name: use.used for use in result.operators}
    destroys = [used[use.name] for use in result.operators if use.phase == "destroy"]
    repairs = [used[use.name] for use in result.operators if use.phase == "repair"]
    assert destroys == pytest.approx([2000] * 12, abs=250)
    assert repairs == pytest.approx([12000] * 2, abs=500)
