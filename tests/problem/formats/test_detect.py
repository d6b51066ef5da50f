"""Formats are told by content and by the file's name, and what is written is what is read."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import texts
from neuralns import InputError, Instance, Solution, read, read_solution, write_instance, write_solution
from neuralns.problem.fleet import ALWAYS, Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.formats.own_json import instance_schema
from neuralns.problem.formats.schema import violation
from neuralns.problem.formats.source import read_instance
from neuralns.problem.route_cost import balance_durations, overtime, tolls
from texts import assert_same, written

ONE_WAY = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]]


@pytest.mark.parametrize(
    "instance",
    [
        texts.TINY,
        Instance("one-way", [0, 0.1, 1 / 3, 2], 2.5, matrix=ONE_WAY, rounding="dimacs", vehicle_cost=100),
        texts.FULL,
        Instance("Zürich", [0, 1], 1, [[-1e-7, 1e20], [2**60, 0.1]], [[0, 1], [2, 0]], "trunc"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".vrp"])
def test_an_instance_comes_back_as_it_was_written(tmp_path: Path, instance: Instance, suffix: str) -> None:
    path = tmp_path / f"instance{suffix}"
    write_instance(instance, path)
    assert path.read_text().startswith("NAME" if suffix == ".vrp" else "{")
    assert_same(read_instance(path), instance)


@pytest.mark.parametrize("suffix", [".json", ".vrp"])
@pytest.mark.parametrize("part", ["windows", "vehicles"])
def test_what_is_ignored_in_a_file_is_left_out_of_the_instance(tmp_path: Path, suffix: str, part: str) -> None:
    path = tmp_path / f"instance{suffix}"
    for instance in (texts.FULL, read("C101")):
        write_instance(instance, path)
        assert_same(read_instance(path, ignore=[part]), instance.without(part))


FINITE = st.floats(-1e9, 1e9) | st.integers(-(10**9), 10**9).map(float)
POSITIVE = st.floats(0, 1e9)


@st.composite
def full_instances(draw: st.DrawFn) -> Instance:
    """Instances with any of the rules."""
    nodes = draw(st.integers(2, 5))

    def several(values: st.SearchStrategy[Any], count: int = nodes) -> st.SearchStrategy[list[Any]]:
        return st.lists(values, min_size=count, max_size=count)

    opens, closes = draw(st.tuples(FINITE, FINITE).map(sorted))
    inside = st.tuples(st.floats(opens, closes), st.floats(opens, closes) | st.just(math.inf)).map(sorted)
    matrices = several(several(POSITIVE))
    return Instance(
        draw(st.sampled_from(["drawn", "C101", "X-n5-k2"])),
        [0.0, *draw(several(POSITIVE, nodes - 1))],
        draw(st.floats(1e-3, 1e9)),
        draw(several(several(FINITE, 2))),
        draw(st.none() | matrices),
        draw(st.sampled_from(["none", "round", "trunc", "dimacs"])),
        draw(POSITIVE),
        windows=draw(st.none() | several(inside, nodes - 1).map(lambda rest: [[opens, closes], *rest])),
        service=draw(st.none() | several(POSITIVE, nodes - 1).map(lambda rest: [0.0, *rest])),
        durations=draw(st.none() | matrices),
        vehicles=draw(st.none() | st.integers(1, 10**6)),
        max_duration=draw(st.none() | POSITIVE),
        max_distance=draw(st.none() | POSITIVE),
        distance_cost=draw(st.just(1.0) | POSITIVE),
        duration_cost=draw(st.just(0.0) | POSITIVE),
        names=draw(st.none() | several(st.text(st.characters(categories=["L", "N", "P"]), max_size=5))),
    )


AMOUNTS = st.floats(0, 9) | st.integers(0, 9).map(float)


@st.composite
def general_instances(draw: st.DrawFn) -> Instance:
    """Small instances with any of the parts that go together."""
    customers, depots, dimensions = draw(st.integers(2, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    nodes = customers + depots
    homes = [0, *range(customers + 1, nodes)]

    def by_node(values: st.SearchStrategy[Any], of_depots: Any) -> list[Any]:
        return [of_depots if node in homes else draw(values) for node in range(nodes)]

    def amounts() -> st.SearchStrategy[Any]:
        several = st.lists(AMOUNTS, min_size=dimensions, max_size=dimensions)
        return AMOUNTS if dimensions == 1 else several

    shipped = draw(st.booleans())
    several_windows = draw(st.booleans())
    priced = not several_windows and draw(st.booleans())
    texts_ = st.text(st.characters(categories=["L", "N", "P"]), max_size=4)
    ends = st.sampled_from(homes) | (st.none() if draw(st.booleans()) else st.sampled_from(homes))
    profiles = [
        Profile(
            np.full((nodes, nodes), draw(AMOUNTS)), draw(st.none() | st.just(np.ones((nodes, nodes)))), draw(texts_)
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    fleet = [
        VehicleType(
            [9.0] * dimensions if shipped else draw(amounts()),
            draw(st.none() | st.integers(1, 3)),
            draw(AMOUNTS),
            draw(AMOUNTS),
            draw(AMOUNTS) if priced else 0.0,
            draw(ends),
            draw(ends),
            (draw(st.just(-math.inf) | st.floats(-9, 0)), draw(st.just(math.inf) | st.floats(99, 999))),
            draw(st.none() | st.floats(0, 99)),
            draw(st.none() | st.floats(0, 99)) if priced else None,
            draw(st.none() | st.integers(1, 9)),
            ["a", "b"][: draw(st.integers(0, 2))],
            draw(st.integers(0, len(profiles))),
            draw(texts_),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    able = max((each.skills for each in fleet), key=len)
    parts: dict[str, Any] = {}
    nothing: Any = 0.0 if dimensions == 1 else [0.0] * dimensions
    if shipped:
        pairs = [(first, first + 1) for first in range(1, customers, 2)]
        turned = [draw(st.permutations(pair)) for pair in pairs]
        parts["shipments"] = [Shipment(pickup, delivery, draw(amounts())) for pickup, delivery in turned]
    else:
        parts["deliveries"] = by_node(amounts(), nothing)
        parts["pickups"] = draw(st.none() | st.builds(lambda: by_node(amounts(), nothing)))
        parts["release"] = by_node(AMOUNTS, 0.0) if draw(st.booleans()) else None
        parts["prizes"] = by_node(AMOUNTS | st.just(math.inf), math.inf) if draw(st.booleans()) else None
        chosen = draw(st.lists(st.integers(1, customers), unique=True, max_size=3))
        parts["groups"] = [Group(chosen, draw(st.booleans()), draw(texts_))] if chosen else None
    if several_windows:
        parts["windows"] = [[0.0, 99.0]] * nodes
        parts["openings"] = {1: [(draw(st.floats(0, 5)), 6.0), (8.0, draw(st.floats(8, 99) | st.just(math.inf)))]}
    if priced:
        costs = [overtime(draw(AMOUNTS), draw(AMOUNTS)), balance_durations(draw(AMOUNTS)), tolls([0.5] * len(fleet))]
        parts["route_costs"] = costs[: draw(st.integers(0, 3))]
    return Instance(
        "general",
        coordinates=draw(st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=nodes, max_size=nodes)),
        fleet=fleet,
        depots=[Depot(None, draw(AMOUNTS)) if draw(st.booleans()) else Depot() for _ in homes],
        skills={customer: sorted(able) for customer in range(1, customers + 1) if draw(st.booleans())},
        profiles=profiles,
        **parts,
    )


@settings(max_examples=200, deadline=None)
@given(full_instances())
def test_any_instance_comes_back_from_json(tmp_path_factory: pytest.TempPathFactory, instance: Instance) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    write_instance(instance, path)
    assert_same(read_instance(path), instance)


@settings(max_examples=200, deadline=None)
@given(full_instances())
def test_any_instance_that_vrplib_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    windows = None if instance.windows is None else np.minimum(instance.windows, instance.latest[0])
    held = replace(instance, windows=windows, durations=None, duration_cost=0.0, names=None)
    path = tmp_path_factory.getbasetemp() / "any.vrp"
    write_instance(held, path)
    assert_same(read_instance(path), held)


@pytest.mark.parametrize("name", ["out.sol", "out.json", "OUT.SOL"])
@pytest.mark.parametrize("routes", [[[1, 2], [3]], [[3, 1], [2]], []])
def test_routes_come_back_as_they_were_written(tmp_path: Path, name: str, routes: list[list[int]]) -> None:
    solution = Solution(texts.TINY, routes)
    if routes or name == "out.json":
        write_solution(solution, tmp_path / name)
        assert read_solution(texts.TINY, tmp_path / name).routes == solution.routes


@pytest.mark.parametrize("name", ["a.vrp", "a.json", "a.txt", "a"])
@pytest.mark.parametrize("kind", texts.INSTANCES)
def test_an_instance_is_told_by_its_content_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    # Shipments come in pairs.
    customers = 4 if kind == "li-lim" else 3
    assert read_instance(written(tmp_path, texts.INSTANCES[kind], name)).customers == customers


@pytest.mark.parametrize("name", ["a.sol", "a.json", "a.txt", "a"])
@pytest.mark.parametrize("kind", texts.SOLUTIONS)
def test_a_solution_is_told_by_its_content_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    assert read_solution(texts.TINY, written(tmp_path, texts.SOLUTIONS[kind], name)) == texts.SERVED


@pytest.mark.parametrize("kind", texts.FLEET_SOLUTIONS)
def test_a_solution_with_vehicles_is_told_by_its_content(tmp_path: Path, kind: str) -> None:
    assert read_solution(texts.GENERAL, written(tmp_path, texts.FLEET_SOLUTIONS[kind], "a")) == texts.DRIVEN


@pytest.mark.parametrize("instance", [texts.GENERAL, texts.SHIPPED], ids=["general", "shipped"])
def test_an_instance_with_all_there_is_comes_back_from_json(tmp_path: Path, instance: Instance) -> None:
    write_instance(instance, tmp_path / "any.json")
    assert_same(read_instance(tmp_path / "any.json"), instance)


@settings(max_examples=200, deadline=None)
@given(general_instances())
def test_any_general_instance_comes_back_from_json(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    path = tmp_path_factory.getbasetemp() / "general.json"
    write_instance(instance, path)
    jsonschema.validate(json.loads(path.read_text()), instance_schema())
    assert violation(json.loads(path.read_text()), instance_schema()) is None
    assert_same(read_instance(path), instance)


@settings(max_examples=200, deadline=None)
@given(general_instances(), st.data())
def test_routes_and_their_vehicles_come_back(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(1, instance.customers + 1)))
    cut = data.draw(st.integers(0, len(order)))
    routes = [order[:cut], order[cut:]]
    vehicles = data.draw(st.lists(st.integers(0, len(instance.types) - 1), min_size=2, max_size=2))
    solution = Solution(instance, routes, vehicles)
    for suffix in (".sol", ".json"):
        path = tmp_path_factory.getbasetemp() / f"general{suffix}"
        used = [solution.vehicles.count(vehicle) for vehicle in range(len(instance.types))]
        enough = all(
            each.available is None or each.available >= count for each, count in zip(instance.types, used, strict=True)
        )
        if not enough and len(used) > 1 and suffix == ".sol":
            with pytest.raises(InputError, match=r"than there are, which a \.sol file cannot say"):
                write_solution(solution, path)
            continue
        write_solution(solution, path)
        again = read_solution(instance, path)
        driven = sorted(zip(solution.routes, solution.vehicles, strict=True))
        assert sorted(zip(again.routes, again.vehicles, strict=True)) == driven


@settings(max_examples=200, deadline=None)
@given(general_instances().filter(lambda instance: instance.shipments is None))
def test_any_general_instance_that_vrplib_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    plain: dict[str, Any] = {"shift": ALWAYS, "duration_cost": 0.0, "max_stops": None, "max_duration": None}
    plain |= {"skills": (), "profile": 0, "name": "", "max_distance": None}
    nothing: dict[str, Any] = dict.fromkeys(("openings", "windows", "skills", "profiles", "route_costs", "vehicles"))
    nothing |= dict.fromkeys(("max_duration", "max_distance"))
    nothing |= {"vehicle_cost": 0.0, "distance_cost": 1.0, "duration_cost": 0.0}
    held = replace(
        instance,
        **nothing,
        fleet=tuple(
            replace(each, **plain, available=each.available or 2, start=each.start or 0, end=each.start or 0)
            for each in instance.types
        ),
        depots=(Depot(),) * len(instance.depot_nodes),
        groups=tuple(Group(group.members) for group in instance.groups or () if len(group.members) > 1),
        prizes=None if instance.prizes is None else np.maximum(instance.prizes, 0.5),
    )
    path = tmp_path_factory.getbasetemp() / "general.vrp"
    write_instance(held, path)
    again = read_instance(path)
    plan = [[customer] for customer in range(1, held.customers + 1)]
    mine, theirs = Solution(held, plan), Solution(again, plan)
    assert mine.cost == pytest.approx(theirs.cost)
    assert bool(mine.faults()) == bool(theirs.faults())
    for field in ("amounts", "prizes", "groups", "release", "depots"):
        np.testing.assert_array_equal(getattr(held, field), getattr(again, field), field)


@pytest.mark.parametrize("name", ["tiny.txt", "tiny", "tiny.sol.gz"])
def test_a_name_that_says_no_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: the file name must end with \.vrp or \.json\.$"):
        write_instance(texts.TINY, tmp_path / name)
    with pytest.raises(InputError, match=rf"{name}: the file name must end with \.sol or \.json or \.csv\.$"):
        write_solution(texts.SERVED, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused_as_input(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(path)
    for reading in (read, read_instance, lambda path: read_solution(texts.TINY, path)):
        with pytest.raises(InputError, match=rf"{path}: cannot be read \(it is a pipe or a device, not a file\)\.$"):
            reading(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing.vrp", r"missing\.vrp: cannot be read \(No such file or directory\)\."),
        (".", r"cannot be read \(Is a directory\)\."),
        ("a" * 300 + ".vrp", r"cannot be read \(File name too long\)\."),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    for reading in (read, read_instance, lambda path: read_solution(texts.TINY, path)):
        with pytest.raises(InputError, match=sentence):
            reading(tmp_path / name)
