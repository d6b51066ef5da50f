"""``neuralns bench``."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from commands import invoke
from neuralns import read
from neuralns.experiments import ablation
from neuralns.operators.portfolio import MODERN
from neuralns.problem.formats.own_json import json_instance_text

SHORT = ("--time", 0.1, "--seeds", 1)


def test_peers_prints_a_table_writes_results_and_runs_nothing_twice(tmp_path: Path) -> None:
    results, picture = tmp_path / "peers.csv", tmp_path / "gaps.png"
    words = ("bench", "peers", "P-n16-k8", "E-n22-k4", "--solvers", "neuralns", *SHORT, "--output", results)
    first = invoke(*words, "--plot", picture)
    assert first.code == 0, first.stderr
    assert "mean gap to the best known cost in %" in first.stdout
    rows = {line.split()[0]: line.split()[1] for line in first.stdout.splitlines()[2:]}
    assert rows["P-n16-k8"] == rows["E-n22-k4"] == rows["mean"] == "0.00"
    assert first.stderr.count("seed 1") == 2
    assert picture.read_bytes().startswith(b"\x89PNG")
    with open(results, encoding="utf-8") as file:
        assert [row["solver"] for row in csv.DictReader(file)] == ["neuralns", "neuralns"]
    again = invoke(*words)
    assert (again.code, again.stderr, again.stdout) == (0, "", first.stdout)


def test_peers_prints_vehicles_and_distance_by_class_of_size(tmp_path: Path) -> None:
    words = ("--solvers", "neuralns", "--objective", "vehicles", *SHORT, "--output", tmp_path / "x.csv")
    outcome = invoke("bench", "peers", "P-n16-k8", "X-n110-k13", *words)
    assert outcome.code == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert lines[0] == "mean number of vehicles, and cost, 0.1 s on one core, 1 seeds, rounding round"
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "P-n16-k8", "X-n110-k13", "up to 100 customers", "101 to 200 customers", "mean",
    ]  # fmt: skip
    assert lines[2].split() == ["P-n16-k8", "8.00", "450.0"]
    assert "P-n16-k8  neuralns  seed 1  8 vehicles, cost 450" in outcome.stderr


def test_peers_takes_folders_and_shows_the_fewest_known_vehicles(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    for name in ("P-n16-k8", "E-n22-k4"):
        (folder / f"{name}.json").write_text(json_instance_text(replace(read(name), best_known=None)))
    (folder / "best_known.csv").write_text("instance,vehicles,cost\nP-n16-k8,8,450\n")
    words = ("--solvers", "neuralns", "--objective", "vehicles", *SHORT, "--output", tmp_path / "x.csv")
    outcome = invoke("bench", "peers", folder, *words)
    assert outcome.code == 0, outcome.stderr
    lines = [line.split() for line in outcome.stdout.splitlines()]
    assert lines[1] == ["instance", "neuralns", "best", "known"]
    assert lines[2] == ["P-n16-k8", "8.00", "450.0", "8.00", "450.0"]
    assert lines[3] == ["E-n22-k4", "4.00", "375.0"]
    assert "fewest known vehicles with every seed: neuralns on 1 of 1" in outcome.stdout
    by_cost = ("--solvers", "neuralns", *SHORT, "--output", tmp_path / "y.csv")
    assert "P-n16-k8  neuralns  seed 1  0.00 %" in invoke("bench", "peers", folder / "P-n16-k8.json", *by_cost).stderr
    outcome = invoke("bench", "peers", "RC101", "--ignore", "windows", *by_cost[:-1], tmp_path / "z.csv")
    assert "to the cheapest run where none is known" in outcome.stdout
    assert "RC101  neuralns  seed 1  cost " in outcome.stderr
    (tmp_path / "empty").mkdir()
    assert "empty: no instances in this folder" in invoke("bench", "peers", tmp_path / "empty", *by_cost).refusal()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("P-n16-k8", "--solvers", "nobody"), "solver 'nobody' is not known"),
        (("nosuch", "--solvers", "neuralns"), "no such file"),
        (("P-n16-k8", "--output", "/absent/folder/x.csv"), "folder /absent/folder does not exist"),
        (("P-n16-k8", "--plot", "x.bmp"), "a picture's name must end with"),
        (("P-n16-k8", "--plot", "x.png", "--objective", "vehicles"), "--plot draws gaps to best known costs"),
        (("P-n16-k8", "--objective", "duration"), "objective 'duration' cannot be compared with other solvers"),
    ],
)
def test_peers_refuses_what_it_cannot_use(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    output = () if "--output" in words else ("--output", tmp_path / "x.csv")
    assert sentence in invoke("bench", "peers", *words, *SHORT, *output).refusal()


def test_ablation_compares_every_variant_with_modern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "MODERN_CANDIDATES", (*MODERN, "shaw"))
    outcome = invoke(
        "bench", "ablation", "P-n16-k8", "--time", 0.05, "--seeds", 1, "--workers", 2, "--output", tmp_path / "x.csv"
    )
    assert outcome.code == 0, outcome.stderr
    assert "+ shaw" in outcome.stdout
    assert "− blinks" in outcome.stdout
    assert "all candidates" in outcome.stdout
