"""``neuralns generate``."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import invoke
from neuralns import (
    Instance,
    generate_days,
    generate_depots,
    generate_fleet,
    generate_of,
    generate_prizes,
    generate_solomon,
    generate_windows,
    generate_x,
    read,
)
from texts import assert_same


@pytest.mark.parametrize("suffix", [".vrp", ".json"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", generate_x(100)),
        (
            "--customers 30 --positions clustered --depot corner --demand unit --route-length 5 --seed 7",
            generate_x(30, "corner", "clustered", "unit", 5, 7),
        ),
        ("--family solomon --customers 30 --positions mixed --seed 7", generate_solomon(30, "mixed", 7)),
        ("--windows --customers 30", generate_windows(30)),
        (
            "--windows --customers 30 --positions mixed --width wide --horizon long --window-share 0.5 --seed 7",
            generate_windows(30, "mixed", "wide", "long", 0.5, 7),
        ),
        ("--variant cvrp --customers 30 --seed 7", generate_of("cvrp", 30, 7)),
        ("--variant vrptw --customers 30 --positions mixed", generate_of("vrptw", 30, positions="mixed")),
        (
            "--variant hfvrp --customers 30 --fleet hd --positions mixed --depot corner --demand unit --route-length 5",
            generate_fleet(30, "hd", "corner", "mixed", "unit", 5),
        ),
        (
            "--variant mdvrptw --customers 30 --depots 3 --positions mixed --width wide --seed 7",
            generate_depots(30, 3, "mixed", "wide", 7),
        ),
        (
            "--variant pcvrptw --customers 30 --positions mixed --width wide --horizon long --window-share 0.5",
            generate_prizes(30, "mixed", "wide", "long", 0.5),
        ),
    ],
    ids=["default", "x", "solomon", "windows", "other windows", "cvrp", "vrptw", "hfvrp", "mdvrptw", "pcvrptw"],
)
def test_the_file_holds_the_instance_asked_for(tmp_path: Path, suffix: str, arguments: str, expected: Instance) -> None:
    path = tmp_path / f"new{suffix}"
    outcome = invoke("generate", path, *arguments.split())
    assert outcome.stdout == (
        f"{expected.name}: {expected.customers} customers, capacity {expected.capacity:g}, written to {path}\n"
    )
    assert_same(read(path), expected)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["new.vrp", "--family", "y"], "family 'y' is not known; choose x or solomon."),
        (["new.vrp", "--customers", "0"], "0 customers cannot be generated; at least 1 is needed."),
        (["new.vrp", "--seed", "-1"], "seed -1 must be a whole number of at least 0."),
        (["new.vrp", "--depot", "north"], "depot 'north' is not known; choose one of random, center, corner."),
        (["new.vrp", "--route-length", "nan"], "route length nan must lie between 1 and the number of customers."),
        (["new.vrp", "--windows", "--width", "odd"], "width 'odd' is not known; choose one of narrow, wide."),
        (
            ["new.vrp", "--windows", "--window-share", "2"],
            "share 2 of customers with a window must lie between 0 and 1.",
        ),
        (["."], ".: is a folder, not a file."),
        (
            ["new.vrp", "--variant", "tsp", "--width", "wide"],
            "variant 'tsp' is not known; choose one of cvrp, vrptw, pdptw, hfvrp, mdvrptw, pcvrptw, day.",
        ),
        (["new.vrp", "--variant", "vrptw", "--windows"], "--variant and --windows do not go together."),
        (["new.vrp", "--windows", "--family", "x"], "--windows and --family do not go together."),
        (
            ["new.vrp", "--variant", "mdvrptw", "--window-share", "0.5"],
            "--window-share does not go with --variant mdvrptw; its options are --depots, --positions, --width.",
        ),
        (
            ["new.json", "--variant", "day", "--width", "wide"],
            "--width does not go with --variant day; its options are --positions, --depots, --window-share, "
            "--spare-capacity, --spare-time.",
        ),
        (
            ["new.json", "--variant", "pdptw", "--spare-time", "0.1"],
            "--spare-time does not go with --variant pdptw; its options are --positions, --width, --horizon, "
            "--window-share.",
        ),
        (
            ["new.json", "--variant", "day", "--spare-capacity", "0.7"],
            "spare capacity 0.7 must lie between 0 and 0.5.",
        ),
        (
            ["new.json", "--variant", "day", "--depots", "3"],
            "3 depots cannot be generated for a day; choose 1 or 2.",
        ),
        (
            ["new.vrp", "--width", "wide"],
            "--width does not go with --family x; its options are --positions, --depot, --demand, --route-length.",
        ),
        (
            ["new.vrp", "--windows", "--depots", "3"],
            "--depots does not go with --windows; its options are --positions, --width, --horizon, --window-share.",
        ),
        (
            ["new.json", "--variant", "pdptw", "--customers", "5"],
            "5 customers cannot be paired; shipments need an even number.",
        ),
        (
            ["new.vrp", "--variant", "pdptw", "--positions", "random", "--width", "wide", "--horizon", "long"],
            "new.vrp: shipments-random-wide-long-n101-s0: VRPLIB's format has no place for shipments; "
            "write a .json file instead.",
        ),
    ],
)
def test_what_cannot_be_generated_is_refused_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("generate", *arguments).refusal() == sentence
    assert list(tmp_path.iterdir()) == []


def test_shipments_are_written_as_json(tmp_path: Path) -> None:
    path = tmp_path / "couriers.json"
    assert invoke("generate", path, "--variant", "pdptw", "--customers", 30, "--seed", 7).code == 0
    assert_same(read(path), generate_of("pdptw", 30, 7))


def test_days_are_written_as_json_and_solved(tmp_path: Path) -> None:
    path = tmp_path / "day.json"
    arguments = (
        "--variant day --customers 30 --positions mixed --depots 2 --window-share 0.4 --spare-capacity 0.3 "
        "--spare-time 0.4 --seed 7"
    )
    assert invoke("generate", path, *arguments.split()).code == 0
    assert_same(read(path), generate_days(30, "mixed", 2, 0.4, 0.3, 0.4, 7))
    assert invoke("solve", path, "--iterations", 300).code == 0


def test_a_file_is_written_over_only_if_told_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.vrp"
    path.write_text("hours of work")
    refusal = invoke("generate", path, "--customers", 5).refusal()
    assert refusal == f"{path}: exists already; choose another name, or write over it with --force."
    assert path.read_text() == "hours of work"
    assert invoke("generate", path, "--customers", 5, "--force").code == 0
    assert read(path).customers == 5


def test_another_ending_is_refused(tmp_path: Path) -> None:
    refusal = invoke("generate", tmp_path / "mine.txt").refusal()
    assert refusal.endswith("mine.txt: the file name must end with .vrp or .json.")
    assert list(tmp_path.iterdir()) == []
