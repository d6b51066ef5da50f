"""Every format read and written, and the refusals with their sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import texts
from neuralns import InputError, Instance, Solution, read, read_solution, write_instance, write_solution
from neuralns.problem.files import read_instance
from texts import written

SYMMETRIC = [[0, 5, 10, 6], [5, 0, 5, 4], [10, 5, 0, 7], [6, 4, 7, 0]]
ONE_WAY = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]]


def explicit(form: str, numbers: str) -> str:
    text = texts.EXPLICIT.replace("LOWER_ROW", form)
    return text.replace("5\n10 5\n6 4 7\n", numbers + "\n")


def assert_same(one: Instance, other: Instance) -> None:
    assert (one.name, one.capacity, one.rounding) == (other.name, other.capacity, other.rounding)
    assert one.vehicle_cost == other.vehicle_cost
    np.testing.assert_array_equal(one.demands, other.demands)
    for mine, theirs in ((one.coordinates, other.coordinates), (one.matrix, other.matrix)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            np.testing.assert_array_equal(mine, theirs)


class TestVrplib:
    def test_coordinates_give_euclidean_distances(self, tmp_path: Path) -> None:
        instance = read_instance(written(tmp_path, texts.EUCLIDEAN))
        assert (instance.name, instance.customers, instance.capacity, instance.rounding) == ("tiny", 3, 10, "none")
        assert instance.demands.tolist() == [0, 4, 5, 6]
        assert [instance.distance(0, node) for node in (1, 2, 3)] == [5, 10, 5.5]

    def test_floor_2d_cuts_distances(self, tmp_path: Path) -> None:
        instance = read_instance(written(tmp_path, texts.EUCLIDEAN.replace("EUC_2D", "FLOOR_2D")))
        assert (instance.rounding, instance.distance(0, 3)) == ("trunc", 5)

    @pytest.mark.parametrize(
        ("form", "numbers"),
        [
            ("FULL_MATRIX", "0 5 10 6 5 0 5 4 10 5 0 7 6 4 7 0"),
            ("LOWER_ROW", "5 10 5 6 4 7"),
            ("UPPER_ROW", "5 10 6 5 4 7"),
            ("LOWER_DIAG_ROW", "0 5 0 10 5 0 6 4 7 0"),
            ("UPPER_DIAG_ROW", "0 5 10 6 0 5 4 0 7 0"),
            ("LOWER_COL", "5 10 6 5 4 7"),
            ("UPPER_COL", "5 10 5 6 4 7"),
            ("LOWER_DIAG_COL", "0 5 10 6 0 5 4 0 7 0"),
            ("UPPER_DIAG_COL", "0 5 0 10 5 0 6 4 7 0"),
        ],
    )
    @pytest.mark.parametrize("line_length", [1, 4, 5, 100])
    def test_every_matrix_form_is_read_however_its_lines_break(
        self, tmp_path: Path, form: str, numbers: str, line_length: int
    ) -> None:
        words = numbers.split()
        lines = [" ".join(words[start : start + line_length]) for start in range(0, len(words), line_length)]
        instance = read_instance(written(tmp_path, explicit(form, "\n".join(lines))))
        assert instance.matrix is not None
        assert instance.matrix.tolist() == SYMMETRIC

    def test_a_full_matrix_may_differ_by_direction(self, tmp_path: Path) -> None:
        numbers = "\n".join(" ".join(map(str, row)) for row in ONE_WAY)
        instance = read_instance(written(tmp_path, explicit("FULL_MATRIX", numbers)))
        assert (instance.distance(1, 3), instance.distance(3, 1)) == (6, 11)

    def test_a_matrix_may_come_with_coordinates_for_pictures(self, tmp_path: Path) -> None:
        coordinates = texts.EUCLIDEAN[texts.EUCLIDEAN.index("NODE_COORD") : texts.EUCLIDEAN.index("DEMAND")]
        text = texts.EXPLICIT.replace("DEMAND_SECTION", coordinates + "DEMAND_SECTION")
        instance = read_instance(written(tmp_path, text))
        assert instance.distance(0, 3) == 6
        assert instance.points[3].tolist() == [0, 5.5]

    @pytest.mark.parametrize(
        ("change", "to"),
        [
            ("NODE_COORD_SECTION", "NODE_COORD_SECTION:"),
            ("\n", "\r\n"),
            ("1 0 0\n", "1\t0.0  0e0\n\n"),
            ("DEPOT_SECTION\n1\n-1\n", ""),
            ("DEPOT_SECTION\n1\n-1\nEOF\n", "OTHER_SECTION\n1 2 3 4\nEOF\nnot read any more"),
            (" : ", ":"),
            ("NAME", "\ufeffNAME"),
            ("three customers", "DEMAND_SECTION, EOF: 5 # twice"),
        ],
    )
    def test_what_files_do_differently_makes_no_difference(self, tmp_path: Path, change: str, to: str) -> None:
        plain = read_instance(written(tmp_path, texts.EUCLIDEAN))
        assert_same(read_instance(written(tmp_path, texts.EUCLIDEAN.replace(change, to))), plain)

    @pytest.mark.parametrize("name", ["GEOFFREY", "my_SECTION", "1e3", "007", "Zürich 2"])
    def test_the_name_is_kept_as_it_stands(self, tmp_path: Path, name: str) -> None:
        assert read_instance(written(tmp_path, texts.EUCLIDEAN.replace("tiny", name))).name == name

    @pytest.mark.parametrize("line", ["", "NAME :\n"])
    def test_a_file_without_a_name_is_called_as_the_file(self, tmp_path: Path, line: str) -> None:
        text = texts.EUCLIDEAN.replace("NAME : tiny\n", line)
        assert read_instance(written(tmp_path, text, "X-n4-k2.vrp")).name == "X-n4-k2"

    @pytest.mark.parametrize(
        ("name", "rounding"),
        [
            *((f"{family}-n4-k2", "round") for family in "ABEFMPX"),
            ("XML100_1111_01", "round"),
            ("Leuven1", "round"),
            ("CMT1", "none"),
            ("Golden_1", "none"),
            ("tai75a", "none"),
            ("Xmas-n4-k2", "none"),
        ],
    )
    def test_the_rounding_is_that_of_the_familys_published_costs(
        self, tmp_path: Path, name: str, rounding: str
    ) -> None:
        assert read_instance(written(tmp_path, texts.EUCLIDEAN.replace("tiny", name))).rounding == rounding

    def test_the_rounding_can_be_chosen(self, tmp_path: Path) -> None:
        assert read_instance(written(tmp_path, texts.EUCLIDEAN), "dimacs").rounding == "dimacs"

    @pytest.mark.parametrize(
        ("change", "to", "sentence"),
        [
            ("DIMENSION : 4", "DIMENSION : 5", "line 16: DEMAND_SECTION ends early: 4 rows, 5 expected"),
            ("DIMENSION : 4", "DIMENSION : 3", "line 16: DEMAND_SECTION is too long: 4 rows, 3 expected"),
            ("DIMENSION : 4", "DIMENSION : many", "line 4: DIMENSION 'many' is not a whole number"),
            ("DIMENSION : 4\n", "", "line 'DIMENSION : ...' is missing"),
            ("CAPACITY : 10\n", "", "line 'CAPACITY : ...' is missing"),
            ("CAPACITY : 10", "CAPACITY : ten", "line 6: 'ten' is not a number"),
            ("CAPACITY : 10", "CAPACITY : inf", "line 6: 'inf' is not a finite number"),
            ("CAPACITY : 10", "CAPACITY : 0", "line 6: capacity 0 must be above 0"),
            ("CAPACITY : 10", "CAPACITY : 10\nCAPACITY : 20", "line 7: 'CAPACITY' is given twice"),
            ("CAPACITY : 10", "CAPACITY 10", "line 6: 'CAPACITY 10' is neither 'KEY : value' nor a section"),
            ("TYPE : CVRP", "TYPE : VRPTW", "line 3: problem type 'VRPTW' is not supported, only CVRP"),
            ("EUC_2D", "GEO", "line 5: EDGE_WEIGHT_TYPE 'GEO' is not known, only EUC_2D, FLOOR_2D and EXPLICIT"),
            ("EUC_2D", "EXPLICIT", "section EDGE_WEIGHT_SECTION is missing"),
            ("3 5\n4 6\n", "3 5\n4\n", "line 16: 1 numbers in DEMAND_SECTION, 2 expected"),
            ("3 5\n4 6\n", "3 11\n4 6\n", "line 15: demand 11 of customer 2 is above the capacity 10"),
            ("3 5\n4 6\n", "3 -5\n4 6\n", "line 15: demand -5 of customer 2 is negative"),
            ("3 5\n4 6\n", "3 nan\n4 6\n", "line 15: 'nan' is not a finite number"),
            ("3 5\n4 6\n", "3 1_0\n4 6\n", "line 15: '1_0' is not a number"),
            ("3 5\n4 6\n", "4 6\n3 5\n", "line 15: node 4 in DEMAND_SECTION, 3 expected"),
            ("1 0\n2 4\n", "1 1\n2 4\n", "tiny: the depot has demand 1, but must have 0"),
            ("2 3 4\n", "2 3 inf\n", "line 9: 'inf' is not a finite number"),
            ("2 3 4\n", "2 3 4 5\n", "line 9: 4 numbers in NODE_COORD_SECTION, 3 expected"),
            ("2 3 4\n", "2 3 four\n", "line 9: 'four' is not a number"),
            ("2 3 4\n", "2 : 3 4\n", "line 9: '2 : 3 4' stands inside a section"),
            ("1 0 0\n2 3 4\n3 6 8\n4 0 5.5\n", "", "NODE_COORD_SECTION ends early: 0 rows, 4 expected"),
            ("DEMAND_SECTION", "NODE_COORD_SECTION", "line 12: section NODE_COORD_SECTION appears twice"),
            ("DEMAND_SECTION", "EOF", "section DEMAND_SECTION is missing"),
            ("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n2\n", "line 18: depot '2 -1' is not supported"),
        ],
    )
    def test_a_broken_file_is_refused_with_its_line_and_value(
        self, tmp_path: Path, change: str, to: str, sentence: str
    ) -> None:
        assert change in texts.EUCLIDEAN
        path = written(tmp_path, texts.EUCLIDEAN.replace(change, to, 1))
        with pytest.raises(InputError) as refusal:
            read_instance(path)
        assert str(refusal.value).startswith(str(path))
        assert sentence in str(refusal.value)

    @pytest.mark.parametrize(
        ("form", "numbers", "sentence"),
        [
            ("LOWER_ROW", "5\n10 5\n6 4", "line 10: EDGE_WEIGHT_SECTION has 5 numbers, 6 expected for LOWER_ROW"),
            ("LOWER_DIAG_ROW", "5 10 5 6 4 7", "line 8: EDGE_WEIGHT_SECTION has 6 numbers, 10 expected"),
            ("FULL_MATRIX", "", "EDGE_WEIGHT_SECTION has 0 numbers, 16 expected"),
            ("FUNCTION", "5 10 5 6 4 7", "line 5: EDGE_WEIGHT_FORMAT 'FUNCTION' is not known, only FULL_MATRIX, LOWER"),
            ("LOWER_ROW", "5\n10 x\n6 4 7", "line 9: 'x' is not a number"),
            ("LOWER_ROW", "5\n10 -5\n6 4 7", "tiny: distance -5 from node 1 to node 2 is negative"),
        ],
    )
    def test_a_broken_matrix_is_refused_with_its_line_and_value(
        self, tmp_path: Path, form: str, numbers: str, sentence: str
    ) -> None:
        with pytest.raises(InputError, match=sentence):
            read_instance(written(tmp_path, explicit(form, numbers)))

    @pytest.mark.parametrize("text", ["", "\n", "hello", "\x00\xff"])
    def test_any_other_file_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InputError, match=r"tiny\.vrp"):
            read_instance(written(tmp_path, text))


class TestSolomon:
    def test_coordinates_demands_and_capacity_are_read_with_their_decimals(self, tmp_path: Path) -> None:
        instance = read_instance(written(tmp_path, texts.SOLOMON.replace("200", "200.5"), "r104.txt"))
        assert (instance.name, instance.customers, instance.capacity, instance.rounding) == ("R104", 3, 200.5, "none")
        assert instance.points.tolist() == [[35, 35], [41, 49], [35.5, 17], [55, 45]]
        assert instance.demands.tolist() == [0, 10, 7, 13.25]

    @pytest.mark.parametrize(
        ("change", "to", "sentence"),
        [
            ("  25         200", "  25", "line 5: '25' is not a number of vehicles and a capacity"),
            ("  25         200", "  25 much", "line 5: 'much' is not a number"),
            ("NUMBER     CAPACITY\n", "", "'NUMBER CAPACITY' are missing above the customer table"),
            ("R104\n", "", "NAME, 'VEHICLE' and 'NUMBER CAPACITY' are missing above the customer table"),
            ("    2      35.5", "    5      35.5", "line 12: node 5 in the customer table, 2 expected"),
            ("35.5       17 ", "35.5 ", "line 12: 6 numbers in the customer table, 7 expected"),
            ("13.25", "nan", "line 13: 'nan' is not a finite number"),
            ("13.25", "300", "line 13: demand 300 of customer 3 is above the capacity 200"),
            (texts.SOLOMON[texts.SOLOMON.index("    0 ") :], "", "line 8: the customer table is empty"),
            (texts.SOLOMON[texts.SOLOMON.index("    1 ") :], "", "at least one customer is needed, 0 given"),
        ],
    )
    def test_a_broken_file_is_refused_with_its_line_and_value(
        self, tmp_path: Path, change: str, to: str, sentence: str
    ) -> None:
        assert change in texts.SOLOMON
        path = written(tmp_path, texts.SOLOMON.replace(change, to, 1), "r104.txt")
        with pytest.raises(InputError) as refusal:
            read_instance(path)
        assert str(refusal.value).startswith(str(path))
        assert sentence in str(refusal.value)


class TestJson:
    @pytest.mark.parametrize(
        "instance",
        [
            texts.TINY,
            Instance("one-way", [0, 0.1, 1 / 3, 2], 2.5, matrix=ONE_WAY, rounding="dimacs", vehicle_cost=100),
            Instance("Zürich", [0, 1], 1, [[-1e-7, 1e20], [2**60, 0.1]], [[0, 1], [2, 0]], "trunc"),
        ],
    )
    @pytest.mark.parametrize("suffix", [".json", ".vrp"])
    def test_an_instance_comes_back_as_it_was_written(self, tmp_path: Path, instance: Instance, suffix: str) -> None:
        path = tmp_path / f"instance{suffix}"
        write_instance(instance, path)
        assert path.read_text().startswith("NAME" if suffix == ".vrp" else "{")
        assert_same(read_instance(path), instance)

    def test_the_best_known_cost_comes_back(self, tmp_path: Path) -> None:
        write_instance(texts.TINY, tmp_path / "tiny.json")
        assert read_instance(tmp_path / "tiny.json").best_known == 40

    def test_fields_that_may_be_left_out_have_defaults(self, tmp_path: Path) -> None:
        form = {
            "format": "neuralns-instance",
            "version": 1,
            "demands": [0, 1],
            "capacity": 1,
            "matrix": [[0, 1], [1, 0]],
        }
        instance = read_instance(written(tmp_path, json.dumps(form), "mine.json"))
        assert (instance.name, instance.rounding) == ("mine", "none")
        assert (instance.vehicle_cost, instance.best_known) == (0, None)

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"format": "other"}, "'format' is 'other', expected 'neuralns-instance'"),
            ({"version": 2}, "version 2 of the form is not known, only 1"),
            ({"demands": ...}, "field 'demands' is missing"),
            ({"capacity": ...}, "field 'capacity' is missing"),
            ({"capacity": "much"}, "tiny: capacity 'much' is not a number"),
            ({"capacity": float("nan")}, "tiny: capacity nan is not a finite number"),
            ({"demands": [0, 4, 5, float("inf")]}, "tiny: demands: value inf of node 3 is not a finite number"),
            ({"demands": [0, 4, 5, 60]}, "tiny: demand 60 of customer 3 is above the capacity 10"),
            ({"demands": [0, 4, 5]}, r"coordinates of shape \(4, 2\) do not fit 3 demands"),
            ({"demands": {"a": 1}}, "tiny: demands must be a list of numbers"),
            ({"matrix": [[0, 1], [1]]}, "tiny: distance matrix must be a table of numbers"),
            ({"rounding": "up"}, "rounding 'up' is not known; choose one of none, round, trunc, dimacs"),
            ({"rounding": None}, "fields 'name' and 'rounding' must be text"),
            ({"name": 5}, "fields 'name' and 'rounding' must be text"),
            ({"name": "two\nlines"}, "must be text on one line"),
        ],
    )
    def test_a_broken_instance_is_refused_with_the_field(
        self, tmp_path: Path, changes: dict[str, Any], sentence: str
    ) -> None:
        form = json.loads(texts.INSTANCES["json"]) | changes
        path = written(tmp_path, json.dumps({key: value for key, value in form.items() if value is not ...}), "a.json")
        with pytest.raises(InputError, match=rf"a\.json: .*{sentence}"):
            read_instance(path)

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ('{\n"format": }', r"line 2: not valid JSON \(Expecting value\)"),
            ("{", r"line 1: not valid JSON"),
            ('{"a": ' + "[" * 100_000, "not valid JSON"),
            ('{"a": ' + "9" * 10_000 + "}", "not valid JSON"),
        ],
    )
    def test_malformed_json_is_refused(self, tmp_path: Path, text: str, sentence: str) -> None:
        path = written(tmp_path, text, "a.json")
        for reading in (read_instance, lambda path: read_solution(texts.TINY, path)):
            with pytest.raises(InputError, match=rf"a\.json.*{sentence}"):
                reading(path)


class TestSolutions:
    @pytest.mark.parametrize("name", ["out.sol", "out.json", "out"])
    @pytest.mark.parametrize("routes", [[[1, 2], [3]], [[3, 1], [2]], []])
    def test_routes_come_back_as_they_were_written(self, tmp_path: Path, name: str, routes: list[list[int]]) -> None:
        solution = Solution(texts.TINY, routes)
        if routes or name == "out.json":
            write_solution(solution, tmp_path / name)
            assert read_solution(texts.TINY, tmp_path / name).routes == solution.routes

    def test_a_sol_file_is_written_as_cvrplib_has_them(self, tmp_path: Path) -> None:
        write_solution(texts.SERVED, tmp_path / "out.sol")
        assert (tmp_path / "out.sol").read_text() == texts.SOLUTIONS["sol"]

    def test_a_fractional_cost_is_written_in_full(self, tmp_path: Path) -> None:
        solution = Solution(Instance("pair", [0, 1], 1, [[0, 0], [1, 1]]), [[1]])
        write_solution(solution, tmp_path / "out.sol")
        assert float((tmp_path / "out.sol").read_text().split()[-1]) == solution.cost

    @pytest.mark.parametrize(
        "text",
        [
            "Route #1:\t1  2 \r\nRoute #2: 3\r\n",
            "Route 1: 1\xa02\nRoute:3\nTime 5 s",
            "Cost 3\nRoute #7: 1 2\nRoute #7 : 3",
        ],
    )
    def test_what_files_do_differently_makes_no_difference(self, tmp_path: Path, text: str) -> None:
        assert read_solution(texts.TINY, written(tmp_path, text, "a.sol")).routes == ((1, 2), (3,))

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "no line 'Route #1: ...' found"),
            ("Cost 5", "no line 'Route #1: ...' found"),
            ("Route #1: 1 2\nRoute #2: x", r"line 2: 'Route #2: x' is not a route"),
            ("Route #1 1 2", "line 1: 'Route #1 1 2' is not a route"),
            ("Route #1: 1234567890123", "line 1: 'Route #1: 1234567890123' is not a route"),
            ("Route #1: " + "9" * 5000, "line 1: 'Route #1: 9+' is not a route"),
            ("Route #1: 1 -2", "line 1: 'Route #1: 1 -2' is not a route"),
            ('{"format": "neuralns-instance", "version": 1}', "'format' is 'neuralns-instance', expected"),
            ('{"format": "neuralns-solution", "version": 7}', "version 7 of the form is not known, only 1"),
            ('{"format": "neuralns-solution", "version": 1}', "'routes' must be a list of lists of customer numbers"),
            ('{"format": "neuralns-solution", "version": 1, "routes": [[1.5]]}', "'routes' must be a list of lists"),
            ('{"format": "neuralns-solution", "version": 1, "routes": [1, 2]}', "'routes' must be a list of lists"),
        ],
    )
    def test_a_broken_file_is_refused(self, tmp_path: Path, text: str, sentence: str) -> None:
        with pytest.raises(InputError, match=rf"a\.sol.*{sentence}"):
            read_solution(texts.TINY, written(tmp_path, text, "a.sol"))

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("Route #1: 1 2", "customer 3 is not visited."),
            ("Route #1: 1 2\nRoute #2: 3 1", "customer 1 is visited 2 times."),
            ("Route #1: 1 2\nRoute #2: 3 4", "route 2 visits 4, but the customers are numbered 1 to 3."),
            ("Route #1: 1\nRoute #2: 2 3", "route 2 carries 11, above the capacity 10."),
        ],
    )
    def test_routes_that_break_a_rule_are_read_and_found_at_fault(self, tmp_path: Path, text: str, fault: str) -> None:
        assert read_solution(texts.TINY, written(tmp_path, text, "a.sol")).faults() == [fault]


class TestBestKnownBeside:
    @pytest.mark.parametrize(
        ("beside", "best_known"),
        [
            (texts.SOLUTIONS["sol"], 31),
            ("Route #1: 1 2", None),
            ("not a solution", None),
        ],
    )
    def test_the_cost_of_a_feasible_solution_beside_the_file_is_the_best_known(
        self, tmp_path: Path, beside: str, best_known: float | None
    ) -> None:
        written(tmp_path, beside, "tiny.sol")
        assert read(written(tmp_path, texts.EUCLIDEAN)).best_known == best_known

    def test_without_a_solution_beside_it_the_best_known_cost_is_not_known(self, tmp_path: Path) -> None:
        assert read(written(tmp_path, texts.EUCLIDEAN)).best_known is None

    def test_a_best_known_cost_in_the_file_comes_first(self, tmp_path: Path) -> None:
        written(tmp_path, texts.SOLUTIONS["sol"], "tiny.sol")
        assert read(written(tmp_path, texts.INSTANCES["json"], "tiny.json")).best_known == 40

    @pytest.mark.parametrize("changes", [{"rounding": "round"}, {"vehicle_cost": 1}, {"customers": 2}])
    def test_it_is_forgotten_for_another_objective(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        written(tmp_path, texts.SOLUTIONS["sol"], "tiny.sol")
        text = texts.EUCLIDEAN.replace("4 6\n", "4 1\n")
        assert read(written(tmp_path, text), **changes).best_known is None


class TestPaths:
    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("missing.vrp", r"missing\.vrp: cannot be read \(No such file or directory\)\."),
            (".", r"cannot be read \(Is a directory\)\."),
            ("a" * 300 + ".vrp", r"cannot be read \(File name too long\)\."),
        ],
    )
    def test_a_file_that_cannot_be_read_is_refused(self, tmp_path: Path, name: str, sentence: str) -> None:
        for reading in (read, read_instance, lambda path: read_solution(texts.TINY, path)):
            with pytest.raises(InputError, match=sentence):
                reading(tmp_path / name)
