"""Traits: what an instance is like, in numbers that mean the same at every size."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neuralns
from neuralns import generate_windows, generate_x
from neuralns.problem.instance import Instance
from neuralns.search.setup import initial_solution
from neuralns.selection.instance_features import INSTANCE_FEATURES, instance_features_of


def features_of(instance: Instance, seconds: float = 6.0) -> dict[str, float]:
    found = instance_features_of(instance, initial_solution(instance, "savings"), seconds)
    assert found.shape == (len(INSTANCE_FEATURES),)
    assert np.isfinite(found).all()
    return dict(zip(INSTANCE_FEATURES, found.tolist(), strict=True))


def test_they_tell_size_time_and_routes() -> None:
    found = features_of(generate_x(200, demand="unit", route_length=12, seed=1))
    assert found["customers"] == 0.0
    assert found["time"] == pytest.approx(0.0)
    assert found["route"] == pytest.approx(0.0, abs=0.1)
    assert found["fill"] == pytest.approx(1.0, abs=0.1)
    assert found["demand"] == 0.0
    assert (found["windows"], found["general"], found["types"], found["depots"]) == (0, 0, 0, 0)


def test_they_mean_the_same_at_another_unit_of_length() -> None:
    instance = neuralns.read("X-n110-k13")
    assert instance.coordinates is not None
    larger = Instance("larger", instance.demands, instance.capacity, 7 * instance.coordinates, rounding="none")
    same = Instance("same", instance.demands, instance.capacity, instance.coordinates, rounding="none")
    assert features_of(larger) == pytest.approx(features_of(same))


def test_clusters_and_windows_show() -> None:
    clustered, spread = (features_of(generate_x(200, positions=kind, seed=2)) for kind in ("clustered", "random"))
    assert clustered["clusters"] < spread["clusters"] - 0.1
    narrow = features_of(generate_windows(100, width="narrow", horizon="long", seed=3))
    wide = features_of(generate_windows(100, width="wide", horizon="long", seed=3))
    short = features_of(generate_windows(100, width="narrow", horizon="short", seed=3))
    assert narrow["width"] < wide["width"]
    assert short["horizon"] < narrow["horizon"]
    assert narrow["windows"] > 0.9
    assert features_of(generate_windows(100, share=0.5, seed=3))["windows"] == pytest.approx(0.5, abs=0.1)


def test_one_customer_and_places_on_one_spot_have_features_too() -> None:
    features_of(Instance("one", [0, 1], 1, [[0, 0], [3, 4]]))
    features_of(Instance("spot", [0, 1, 1], 2, [[0, 0], [0, 0], [0, 0]]))
    assert features_of(neuralns.read("R101"))["service"] > math.log(1.1)
