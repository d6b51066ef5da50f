"""Damaged files are read or refused with a sentence; nothing else ever happens."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import texts
from neuralns import (
    InputError,
    Solution,
    read,
    read_solution,
    read_spreadsheet,
    savings,
    write_instance,
    write_solution,
)
from neuralns.problem.formats.source import read_instance

ODD_NUMBERS = ["", "0", "-1", "2.5", "7", "1e200", "1e-320", "1e400", "nan", "-inf", "9" * 40, "9" * 5000, "0" * 5000]
ODD_WORDS = ["1_0", "٣", "0x1", "1\xa02", "null", "true", '"a"', "[1]", "{}", "[" * 3000, ":", "#", "EOF", "X_SECTION"]
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def lose_lines(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    start = draw(st.integers(0, len(lines) - 1))
    del lines[start : start + draw(st.integers(1, 3))]
    return "\n".join(lines)


def repeat_lines(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    start, length = draw(st.integers(0, len(lines) - 1)), draw(st.integers(1, 6))
    place = draw(st.integers(0, len(lines)))
    return "\n".join([*lines[:place], *lines[start : start + length], *lines[place:]])


def swap_lines(draw: st.DrawFn, text: str) -> str:
    lines = text.split("\n")
    one, two, three = sorted(draw(st.lists(st.integers(0, len(lines)), min_size=3, max_size=3)))
    return "\n".join([*lines[:one], *lines[two:three], *lines[one:two], *lines[three:]])


def change_number(draw: st.DrawFn, text: str) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    place = draw(st.sampled_from(found))
    return text[: place.start()] + draw(st.sampled_from(ODD_NUMBERS + ODD_WORDS)) + text[place.end() :]


def add_word(draw: st.DrawFn, text: str) -> str:
    place = draw(st.integers(0, len(text)))
    word = draw(st.sampled_from(ODD_WORDS) | st.text(st.characters(codec="utf-8"), max_size=3))
    return text[:place] + word + text[place:]


def cut_off(draw: st.DrawFn, text: str) -> str:
    return text[: draw(st.integers(0, len(text)))]


ACCIDENTS = [lose_lines, repeat_lines, swap_lines, change_number, add_word, cut_off]


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """The text after a few accidents and flipped bits."""
    for accident in draw(st.lists(st.sampled_from(ACCIDENTS), min_size=1, max_size=4)):
        text = accident(draw, text)
    content = bytearray(text.encode())
    for _ in range(draw(st.integers(0, 2)) if content else 0):
        content[draw(st.integers(0, len(content) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(content)


@pytest.mark.parametrize("kind", texts.INSTANCES)
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_instance_file_is_refused_or_gives_an_instance_to_work_with(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged-instance.{kind}"
    path.write_bytes(data.draw(damaged(texts.INSTANCES[kind])))
    try:
        instance = read(path)
    except InputError as error:
        assert_sentence(error, path)
        return
    assert instance.customers >= 1
    assert np.isfinite(instance.points).all()
    assert all(1 <= customer <= instance.customers for customer in instance.unservable)
    if not (instance.timed or instance.max_distance is not None or instance.may_leave_out):
        assert savings(instance).faults() == []
    plan = Solution(instance, [[customer] for customer in range(1, instance.customers + 1)])
    assert plan.cost >= 0
    assert bool(plan.faults()) >= bool(instance.unservable and instance.prizes is None and instance.groups is None)
    write_instance(instance, path.with_suffix(".json"))
    texts.assert_same(read_instance(path.with_suffix(".json")), instance)


TABLES = {
    "stops.csv": """name;lat;lon;demand;earliest;latest;service
depot;52,52;13,40;;08:00;17:00;
A;52,53;13,42;4;08:30;12:00;10
B;52,50;13,38;3;09:00;15:00;00:15
""",
    "fleet.csv": "vehicles,capacity,start,max_duration\n3,10,08:00,480\n",
    "minutes.csv": ",depot,A,B\ndepot,0,7,8\nA,6,0,13\nB,8,14,0\n",
}


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_spreadsheet_is_refused_or_gives_an_instance_to_plan_with(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, text in TABLES.items():
        (folder / name).write_bytes(data.draw(damaged(text)) if name == kind else text.encode())
    try:
        instance = read_spreadsheet(folder / "stops.csv", folder / "fleet.csv", matrix=folder / "minutes.csv")
    except InputError as error:
        assert_sentence(error, folder)
        return
    plan = Solution(instance, [range(1, instance.customers + 1)])
    assert plan.unserved == ()
    assert bool(plan.faults()) >= bool(instance.unservable)
    write_solution(plan, folder / "routes.csv")
    assert read_solution(instance, folder / "routes.csv") == plan


RICH = {
    "stops.csv": """name;type;x;y;delivery;delivery 2;pickup;windows;release;skills;prize;group;shipment;stock;stock 2
North;depot;0;0;;;;06:00-20:00;;;;;;30;20
A;;3;4;4;1;2;8:00-10:00, 14:00-16:00;;;;;;;
B;;6;8;5;;;9:00-12:00;;crane, cold;2,5;;;;
C;pickup;0;5;;;6;;;;;;s1;;
D;delivery;1;5;;;;;;;;;s1;;
E;;9;5;1;;;;;;;g;;;
F;;9;6;1;;;;;;;g;;;
South;depot;9;9;;;;;;;;;;;
""",
    "fleet.csv": """name,number,capacity,capacity 2,cost,depot,end depot,start,end,max_stops,skills
truck,2,20,5,100,,,06:00,19:00,,crane; cold
van,any,8,3,40,South,none,,,4,
""",
}


@pytest.mark.parametrize("kind", RICH)
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_spreadsheet_of_a_mixed_fleet_is_refused_or_gives_an_instance_to_plan_with(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, text in RICH.items():
        (folder / name).write_bytes(data.draw(damaged(text)) if name == kind else text.encode())
    try:
        instance = read_spreadsheet(folder / "stops.csv", folder / "fleet.csv")
    except InputError as error:
        assert_sentence(error, folder)
        return
    routes = [[customer] for customer in range(1, instance.customers + 1)]
    plan = Solution(instance, routes, [customer % len(instance.types) for customer in range(len(routes))])
    assert plan.unserved == plan.skipped == ()
    assert bool(plan.faults()) >= bool(instance.unservable)
    write_solution(plan, folder / "routes.csv")
    assert read_solution(instance, folder / "routes.csv") == plan


@pytest.mark.parametrize("kind", texts.SOLUTIONS)
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_solution_file_is_refused_or_gives_a_solution_to_check(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged-solution.{kind}"
    path.write_bytes(data.draw(damaged(texts.SOLUTIONS[kind])))
    try:
        solution = read_solution(texts.TINY, path)
    except InputError as error:
        assert_sentence(error, path)
        return
    served = sorted(customer for route in solution.routes for customer in route)
    assert bool(solution.faults()) == (
        served != [1, 2, 3] or (2, 3) in [tuple(sorted(r))[-2:] for r in solution.routes]
    )


@pytest.mark.parametrize("kind", texts.FLEET_SOLUTIONS)
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_solution_with_vehicles_is_refused_or_gives_a_solution_to_check(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged-driven.{kind}"
    path.write_bytes(data.draw(damaged(texts.FLEET_SOLUTIONS[kind])))
    try:
        solution = read_solution(texts.GENERAL, path)
    except InputError as error:
        assert_sentence(error, path)
        return
    assert len(solution.vehicles) == len(solution.routes)
    assert all(isinstance(fault, str) for fault in solution.faults())


def assert_sentence(error: InputError, path: Path) -> None:
    assert str(error).startswith(str(path))
    assert str(error).endswith((".", "?"))
