"""Random instances of a variant."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, MaxIterations, generate_of, generate_x, read, solve, write_instance
from neuralns.problem.formats.own_json import instance_to_json
from neuralns.problem.generate.variants import GENERATORS, Variant
from texts import assert_same

VARIANTS = get_args(Variant)


@given(st.sampled_from(VARIANTS), st.integers(1, 30), st.integers(0, 2**32))
@settings(max_examples=30)
def test_the_seed_decides_all_that_is_left_open(variant: Any, pairs: int, seed: int) -> None:
    instance = generate_of(variant, 2 * pairs, seed)
    assert instance.customers == 2 * pairs
    assert instance.unservable == {}
    assert instance_to_json(generate_of(variant, 2 * pairs, seed)) == instance_to_json(instance)


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_choices_are_drawn(variant: Any) -> None:
    names = {generate_of(variant, 6, seed).name.rsplit("-", 1)[0] for seed in range(60)}
    assert len(names) >= 10
    assert {word for name in names for word in name.split("-")} >= {"random", "clustered", "mixed"}


def test_an_option_given_leaves_the_others_as_they_are() -> None:
    for seed in range(5):
        one = generate_of("hfvrp", 20, seed).name.split("-")
        other = generate_of("hfvrp", 20, seed, fleet="fsmf").name.split("-")
        assert (other[0], other[1:]) == ("fsmf", one[1:])
    chosen = generate_of("cvrp", 20, 3, depot="corner", positions="mixed", demand="unit", route_length=4)
    assert_same(chosen, generate_x(20, "corner", "mixed", "unit", 4, 3))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_short_search_finds_routes_that_keep_all_rules(variant: Any) -> None:
    for seed in range(2):
        found = solve(generate_of(variant, 30, seed), MaxIterations(200), seed=1)
        assert found.best.faults() == []


@pytest.mark.parametrize("suffix", [".vrp", ".json"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_files_hold_the_whole_instance(tmp_path: Path, variant: Any, suffix: str) -> None:
    if variant in ("pdptw", "day") and suffix == ".vrp":
        pytest.skip("VRPLIB's format, as written, has neither shipments nor shifts")
    for seed in range(3):
        instance = generate_of(variant, 20, seed)
        path = tmp_path / f"{seed}{suffix}"
        write_instance(instance, path)
        assert_same(read(path), instance)


def test_every_variant_has_a_generator() -> None:
    assert tuple(GENERATORS) == VARIANTS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"variant": "tsp"},
            "variant 'tsp' is not known; choose one of cvrp, vrptw, pdptw, hfvrp, mdvrptw, pcvrptw, day",
        ),
        ({"variant": "cvrp", "width": "wide"}, "cvrp has no option width, only depot, positions, demand, route_length"),
        ({"variant": "mdvrptw", "depots": 1}, "1 depots cannot be generated"),
        ({"variant": "day", "spare_time": 2}, "spare time 2 must lie between 0 and 0.5"),
        ({"variant": "vrptw", "spare_time": 0.1}, "vrptw has no option spare_time, only positions, width"),
        ({"variant": "vrptw", "seed": -1}, "seed -1 must be a whole number"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_of(**arguments)
