"""Li and Lim's format: shipments with windows, and each refusal with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import texts
from neuralns import InputError, Solution, read
from neuralns.problem.fleet import Shipment
from neuralns.problem.formats.source import read_instance
from texts import written


def test_shipments_windows_and_vehicles_are_read(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.LI_LIM, "lc999.txt"))
    assert (instance.name, instance.customers, instance.capacity, instance.vehicles) == ("lc999", 4, 10, 2)
    assert (instance.rounding, instance.best_known) == ("none", None)
    assert instance.shipments == (Shipment(1, 3, 7.5), Shipment(4, 2, 2))
    assert instance.windows is not None
    assert instance.windows.tolist() == [[0, 100], [10, 20], [0, 60], [30, 90], [0, 50]]
    assert instance.services.tolist() == [0, 5, 5, 0, 5]
    assert Solution(instance, [[1, 4, 2, 3]]).feasible
    assert not Solution(instance, [[1, 2, 4, 3]]).feasible


@pytest.mark.parametrize("speed", ["0", "1", "2.5"])
@pytest.mark.parametrize(
    ("old", "new"), [("\t", "  "), ("\n", "\r\n"), ("4\t1\t1", "4\t1.0\t1.0"), ("2\t10", "\n2\t10")]
)
def test_what_files_do_differently_makes_no_difference(tmp_path: Path, old: str, new: str, speed: str) -> None:
    text = texts.LI_LIM.replace("10\t1\n", f"10\t{speed}\n", 1).replace(old, new)
    texts.assert_same(
        read_instance(written(tmp_path, text, "a.txt")), read_instance(written(tmp_path, texts.LI_LIM, "a.txt"))
    )


def test_windows_and_vehicles_can_be_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, texts.LI_LIM)
    assert not read(path, ignore="windows").timed
    assert read(path, ignore="vehicles").vehicles is None


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("0\t3\n", "0\t5\n", "line 3: partner 5 of customer 1 is no customer"),
        (
            "0\t3\n",
            "0\t0\n",
            "line 3: customer 1 has no partner; a pickup names its delivery, and a delivery its pickup",
        ),
        ("0\t3\n", "2\t3\n", "line 3: customer 1 has two partners"),
        ("0\t3\n", "0\t2\n", "line 3: customer 1 names 2 as its partner, which does not name it in return (line 4)"),
        ("0\t3\n", "0\t1\n", "line 3: customer 1 names 1 as its partner, which does not name it in return (line 3)"),
        ("0\t3\n", "0\t3.5\n", "line 3: partner '3.5' is not a node's number, nor 0 for none"),
        ("0\t3\n", "0\n", "line 3: 8 numbers in the table, 9 expected"),
        ("\t7.5", "\t7", "line 3: amount 7 of customer 1 does not fit that of its partner 3, -7.5 (line 5)"),
        ("\t2\t0\t50", "\t3\t0\t50", "line 4: amount -2 of customer 2 does not fit that of its partner 4, 3 (line 6)"),
        ("\t7.5", "\tmany", "line 3: 'many' is not a number"),
        (
            "0\t0\t0\t0\t0\t100",
            "0\t0\t0\t1\t0\t100",
            "line 2: the depot has a partner or an amount, but must have none",
        ),
        ("10\t20\t5", "20\t10\t5", "line 3: the window of customer 1, 20 to 10, ends before it begins"),
        ("10\t20\t5", "10\t20\t-5", "line 3: service time -5 of customer 1 is negative"),
        ("2\t10\t1\n", "2\t0\t1\n", "line 1: capacity 0 must be above 0"),
        ("2\t10\t1\n", "2.5\t10\t1\n", "line 1: number of vehicles 2.5 must be a whole number above 0"),
        ("2\t10\t1\n", "2\t5\t1\n", "shipment 1 (from 1 to 3) is of 7.5, more than any vehicle carries (5)"),
        ("2\t6\t8", "3\t6\t8", "line 4: node 3 in the table, 2 expected"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_value(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in texts.LI_LIM
    path = written(tmp_path, texts.LI_LIM.replace(old, new, 1), "a.txt")
    with pytest.raises(InputError) as refusal:
        read_instance(path)
    assert str(refusal.value).startswith(str(path))
    assert sentence in str(refusal.value)


def test_signs_of_amounts_the_wrong_way_round_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, texts.LI_LIM.replace("7.5", "x").replace("\t-x", "\t7.5").replace("\tx", "\t-7.5"))
    with pytest.raises(InputError, match=r"line 3: amount -7\.5 of customer 1 does not fit .* an amount below 0\.$"):
        read_instance(path)
