"""Response surfaces fitted to runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neuralns.selection.response import Response
from neuralns.selection.response_fit import Runs, fit_response
from neuralns.selection.staged import LENGTHS
from surfaces import DIALS, INSTANCE_FEATURES, SEARCH_FEATURES, WIDTH, surface

MEANS = ("instance_mean", "instance_spread", "search_mean", "search_spread")


def runs_of(true: Response, groups: int, noise: float, seed: int = 5) -> Runs:
    """Runs of settings drawn by chance whose costs are by a surface, six to an instance."""
    rng = np.random.default_rng(seed)
    each = np.repeat(np.arange(groups), 6)
    values = rng.normal(0, 1, (len(each), len(LENGTHS), WIDTH))
    instance_features = rng.normal(0, 1, (groups, INSTANCE_FEATURES))[each]
    search_features = rng.normal(0, 1, (len(each), len(LENGTHS) - 1, SEARCH_FEATURES))
    percent = rng.normal(0, noise, len(each))
    for run in range(len(each)):
        for stage, length in enumerate(LENGTHS):
            effects = true.effects(instance_features[run], stage, search_features[run, stage - 1] if stage else None)
            value = values[run, stage]
            percent[run] += length * effects @ np.concatenate([value, value**2])
    level = rng.uniform(100, 1000, groups)[each]
    return Runs(values, instance_features, search_features, level * np.exp(percent / 100), each)


def test_a_fit_finds_the_surface_that_runs_came_from() -> None:
    true = surface({"shaw": 0.2, "start heat": -0.15}, {"scale": 0.2}, {"blinks": 0.3})
    true.factors[WIDTH:, 0] = 0.05
    fitted, share = fit_response(DIALS, runs_of(true, 500, 0.1))
    assert share > 0.6
    for given in (([0.0, 0.0], 0, None), ([1.0, 0.0], 0, None), ([-1.0, 1.0], 2, [0.0, 0.0, 1.0])):
        assert fitted.effects(*given) == pytest.approx(true.effects(*given), abs=0.2)


def test_runs_that_tell_nothing_foretell_nothing() -> None:
    nothing = surface({}, {}, {})
    nothing.factors[:] = 0.0
    _, share = fit_response(DIALS, runs_of(nothing, 40, 1.0))
    assert share < 0.05


def test_a_fit_from_a_prior_keeps_what_few_runs_cannot_tell_and_learns_what_they_do() -> None:
    true = surface({"shaw": 0.2, "start heat": -0.15}, {"scale": 0.2}, {"blinks": 0.3})
    true.factors[WIDTH:, 0] = 0.05
    given = [0.5, 0.0], 2, [0.0, 0.0, 1.0]
    few = runs_of(true, 12, 1.0)

    def error(found: Response) -> float:
        return float(np.abs(found.effects(*given) - true.effects(*given)).mean())

    kept, _ = fit_response(DIALS, few, prior=true)
    assert error(kept) < 0.5 * error(fit_response(DIALS, few)[0])
    wrong = replace(true, factors=true.factors.copy(), most_spreads=2.5)
    wrong.factors[DIALS.names.index("shaw"), 0] = -0.6
    learned, _ = fit_response(DIALS, runs_of(true, 300, 0.1), prior=wrong)
    assert error(learned) < 0.2 * error(wrong)
    assert all(np.array_equal(getattr(learned, name), getattr(true, name)) for name in MEANS)
    assert learned.most_spreads == 2.5


def test_groups_of_one_instance_are_left_out_together() -> None:
    runs = runs_of(surface({}, {}, {}), 6, 1.0)
    assert runs.apart is runs.groups
    instances = runs.groups // 3
    assert replace(runs, instances=instances).apart is instances
    assert replace(runs, instances=0 * instances).apart is runs.groups
