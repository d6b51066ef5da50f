"""The store: what is written is read again, whatever ends a run, and one run at a time writes to a file."""

from __future__ import annotations

import csv
import errno
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuralns import InputError
from neuralns.experiments import store as module
from neuralns.experiments.comparison import SelectorRun
from neuralns.experiments.solver_runs import SolverRun
from neuralns.experiments.store import CsvRows, JsonRows, Store, read_rows, rows_text

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True)
class Row:
    name: str
    count: int
    cost: float
    good: bool


ROWS = [Row("C101", 20, 1.25, True), Row("a, b\n", -3, 1e-9, False), Row('say "é"', 0, 0.1 + 0.2, True)]
PLAIN_ROWS = [row for row in ROWS if "\n" not in row.name]
HEADER = "name,count,cost,good\n"
Make = Callable[[Path], Store[Any]]


def csv_store(path: Path | None) -> Store[Row]:
    return Store(path, CsvRows(Row))


def json_store(path: Path | None) -> Store[Mapping[str, Any]]:
    return Store(path, JsonRows({"kind": "numbers", "seeds": 2}, lambda entry: entry["number"]))


FORMS = pytest.mark.parametrize(
    ("make", "rows"),
    [(csv_store, PLAIN_ROWS), (json_store, [{"number": 1.5}, {"number": [1, 2], "name": "é"}])],
    ids=["csv", "json"],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows"


# --- Rows. -----------------------------------------------------------------------------------------------------------


def test_rows_are_lines_below_the_names_of_their_fields() -> None:
    assert rows_text(ROWS[:1]) == f"{HEADER}C101,20,1.25,True\n"
    assert rows_text(iter(ROWS[:1])) == f"{HEADER}C101,20,1.25,True\n"


def test_the_header_is_written_once(path: Path) -> None:
    for row in ROWS:
        with csv_store(path) as store:
            store.add(row)
    assert path.read_text() == rows_text(ROWS)
    assert read_rows(path, Row) == ROWS


@FORMS
def test_a_row_is_in_the_file_as_soon_as_it_is_added(path: Path, make: Make, rows: list[Any]) -> None:
    with make(path) as store:
        store.add()
        assert path.read_bytes() == b""
        for number, row in enumerate(rows, 1):
            store.add(row)
            assert make(path).rows == store.rows == rows[:number]
    with make(path) as store:
        assert store.rows == rows
        store.add(*rows)
    assert make(path).rows == [*rows, *rows]


@given(
    st.lists(
        st.builds(
            Row,
            st.text(st.characters(codec="utf-8", exclude_characters="\r\x00")),
            st.integers(),
            st.floats(allow_nan=False),
            st.booleans(),
        ),
        min_size=1,
    )
)
def test_rows_read_again_are_the_same_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text(rows_text(rows), encoding="utf-8", newline="")
    assert read_rows(path, Row) == rows


def test_an_interval_that_one_seed_does_not_have_is_read_again(path: Path) -> None:
    with csv_store(path) as store:
        store.add(Row("C101", 1, math.nan, True))
    assert math.isnan(read_rows(path, Row)[0].cost)


@dataclass(frozen=True)
class Gappy:
    name: str
    count: int | None
    cost: float | None


def test_nothing_is_an_empty_cell(path: Path) -> None:
    rows = [Gappy("a", None, 0.1 + 0.2), Gappy("", 3, None), Gappy("", None, None)]
    path.write_text(rows_text(rows))
    assert path.read_text().splitlines()[1:] == ["a,,0.30000000000000004", ",3,", ",,"]
    assert read_rows(path, Gappy) == rows


def test_lines_that_another_program_ended_in_its_way_are_read(path: Path) -> None:
    path.write_bytes(f"{HEADER}C101,20,1.25,True\n\n".replace("\n", "\r\n").encode())
    assert read_rows(path, Row) == ROWS[:1]


RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.csv")), ids=lambda file: file.name)
def test_the_results_in_the_repository_are_read_to_the_last_digit(file: Path) -> None:
    rows: list[Any] = read_rows(file, SelectorRun if file.name.startswith("selectors") else SolverRun)
    assert len({row.key for row in rows}) == len(rows) > 0
    assert rows_text(rows) == file.read_text(encoding="utf-8")


def test_no_file_has_no_rows(path: Path) -> None:
    assert read_rows(path, Row) == []
    assert not path.exists()


def test_without_a_file_rows_are_kept_in_memory() -> None:
    with csv_store(None) as store:
        store.add(*ROWS)
    assert store.rows == ROWS


def test_rows_are_not_added_to_a_store_that_is_not_open(path: Path) -> None:
    with pytest.raises(RuntimeError, match="inside a with statement"):
        csv_store(path).add(*ROWS)
    assert not path.exists()


# --- Files that a run left. ------------------------------------------------------------------------------------------


@FORMS
def test_what_a_killed_run_left_half_written_is_cut_off_wherever_it_was_cut(
    path: Path, make: Make, rows: list[Any]
) -> None:
    with make(path) as store:
        store.add(*rows)
    content = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = max(0, sum(end <= cut for end in ends) - 1)
        store = make(path)
        assert store.rows == rows[:whole]
        # Reading leaves the file alone.
        assert path.read_bytes() == content[:cut]
        with store:
            assert store.rows == rows[:whole]
            store.add(*rows[whole:])
        assert path.read_bytes() == content


def test_a_half_line_is_never_taken_for_lines_before_it(path: Path) -> None:
    # A name with a break in it: what is left of its row is a whole line, and is not thrown away unseen.
    path.write_text(f'{HEADER}C101,20,1.25,True\n"a, b\n')
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line 3: is not a result"):
        csv_store(path)


@FORMS
def test_a_file_without_rows_is_begun(path: Path, make: Make, rows: list[Any]) -> None:
    with make(path) as store:
        store.add(rows[0])
    content = path.read_bytes()
    head = content.splitlines(keepends=True)[0]
    for begun in (b"", head[:1], head[:-1], head):
        path.write_bytes(begun)
        with make(path) as store:
            assert store.rows == []
            store.add(rows[0])
        assert path.read_bytes() == content


@FORMS
def test_a_full_disk_loses_no_row_and_the_next_one_is_written_over_the_rest(
    path: Path, make: Make, rows: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with make(path) as store:
        store.add(*rows)
    content = path.read_bytes()
    path.unlink()

    def full(descriptor: int) -> None:
        os.truncate(path, size + 3)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with make(path) as store:
        for row in rows:
            size = path.stat().st_size
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", full)
                with pytest.raises(InputError, match=r"rows: cannot be written \(No space left on device\)\.$"):
                    store.add(row)
            assert row not in store.rows
            store.add(row)
    assert store.rows == rows
    assert path.read_bytes() == content


def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_the_whole_row(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = module._open_alone(path)
    slow = type("Slow", (), {"write": lambda self, data: opened[0].write(data[:3])})()
    for name in ("seek", "readall", "truncate", "fileno", "close"):
        setattr(slow, name, getattr(opened[0], name))
    monkeypatch.setattr(module, "_open_alone", lambda path: (slow, opened[1]))
    with csv_store(path) as store:
        store.add(*ROWS)
    assert read_rows(path, Row) == ROWS


@FORMS
def test_an_empty_file_is_left_only_where_one_was(path: Path, make: Make, rows: list[Any]) -> None:
    with make(path):
        assert path.exists()
    assert not path.exists()
    path.touch()
    with make(path):
        pass
    assert path.read_bytes() == b""


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "target")
    with csv_store(path):
        pass
    assert path.is_symlink()
    assert not path.exists()
    with csv_store(path) as store:
        store.add(*ROWS)
    assert path.is_symlink()
    assert read_rows(tmp_path / "target", Row) == ROWS


# --- Files that are refused. -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a,b", "a,b\n1,2\n", "name,count,cost\n", "count,name,cost,good\n", "\x00\xff"])
def test_a_file_with_other_columns_is_refused_and_left_alone(path: Path, text: str) -> None:
    path.write_text(text, encoding="latin-1", newline="")
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}, line 1: holds other columns than name, count"):
        read_rows(path, Row)
    assert path.read_bytes() == text.encode("latin-1")


def test_a_column_that_is_missing_is_named(path: Path) -> None:
    path.write_text("name,cost,good\nC101,1.25,True\n")
    sentence = "line 1: holds other columns than name, count, cost, good; count is missing."
    with pytest.raises(InputError, match=re.escape(f"{path}, {sentence}")):
        read_rows(path, Row)


@pytest.mark.parametrize("name", ["=1+1", "+49 30 1", "-x", "@me", "'=1", "''-x", "'", "'plain", "-5", "\t=1", ""])
def test_texts_that_begin_as_a_formula_are_text_in_spreadsheets_and_come_back(path: Path, name: str) -> None:
    with csv_store(path) as store:
        store.add(Row(name, -20, -1.25, True))
    assert read_rows(path, Row) == [Row(name, -20, -1.25, True)]
    (cells,) = list(csv.reader(path.read_text().splitlines()[1:]))
    assert cells[0] == "-5" or not cells[0].startswith(("=", "+", "-", "@", "\t"))
    assert cells[1:] == ["-20", "-1.25", "True"]


def test_a_file_whose_lines_do_not_end_in_our_way_is_refused_and_left_alone(path: Path) -> None:
    content = b"name,count,cost,good\rC101,20,1.25,True\r"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line 1: is not a result\.$"):
        read_rows(path, Row)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        "C101,many,1.0,True", "C101,1.5,1.0,True", "C101,1,1.0,yes", "C101,1", "C101,1,,True", "C101,1,1.0,True,more",
        "C101,1,1.0,TrueC101,1,1.0,True",
    ],
)  # fmt: skip
def test_a_line_that_is_no_row_is_named(path: Path, line: str) -> None:
    path.write_text(f"{HEADER}C101,20,1.25,True\n{line}\n")
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line 3: is not a result \(.+\)\.$"):
        read_rows(path, Row)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"mine", ", line 1: is not a result of neuralns."),
        (b'{"seeds": 2}\n', ", line 1: is not a result of neuralns."),
        (b'{"kind": "numbers", "seeds": 3}\n', ": holds results with seeds 3, but now it is 2; choose another folder"),
        (b'{"kind": "words", "seeds": 2}\n', ": holds results with kind words, but now it is numbers; choose another"),
        (b'{"kind": "numbers", "seeds": 2}\n{"name": 1}\n', ", line 2: is not a result of neuralns."),
    ],
)
def test_results_of_other_conditions_or_kinds_are_refused_and_left_alone(
    path: Path, content: bytes, sentence: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{re.escape(str(path) + sentence)}"):
        json_store(path)
    assert path.read_bytes() == content


@FORMS
def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path, make: Make, rows: list[Any]) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(str(tmp_path))}: cannot be read \(Is a directory\)\.$"):
        make(tmp_path)
    path = tmp_path / "absent" / "rows"
    with (
        pytest.raises(
            InputError, match=rf"^{re.escape(str(path))}: cannot be written \(No such file or directory\)\.$"
        ),
        make(path),
    ):
        pass


# --- One run at a time. ----------------------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from neuralns.errors import InputError
from neuralns.experiments.store import JsonRows, Store

path, begin = Path(sys.argv[1]), float(sys.argv[2])
time.sleep(max(0.0, begin - time.time()))
try:
    with Store(path, JsonRows({"kind": "numbers", "seeds": 2}, lambda entry: entry["number"])) as store:
        print("open", flush=True)
        time.sleep(float(sys.argv[3]))
        store.add({"number": len(store.rows)})
except InputError as error:
    print(error, flush=True)
"""


def hold(path: Path, begin: float, seconds: float) -> subprocess.Popen[str]:
    """A process that opens a store at a time, and holds it for some seconds."""
    command = [sys.executable, "-c", HOLD, str(path), str(begin), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


BUSY = "is being written to by another run; let that one end first."
with_locks = pytest.mark.skipif(sys.platform == "win32", reason="has no locks")


@with_locks
def test_a_file_that_another_process_writes_to_is_refused_until_that_one_is_dead(path: Path) -> None:
    first = hold(path, 0, 60)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}: {BUSY}')}$"), json_store(path):
        pass
    # Whoever only reads may.
    assert json_store(path).rows == []
    first.send_signal(signal.SIGKILL)
    first.communicate()
    with json_store(path) as store:
        store.add({"number": 7})
    assert json_store(path).rows == [{"number": 7}]


@with_locks
def test_of_processes_that_begin_at_the_same_instant_one_alone_succeeds(path: Path) -> None:
    begin = time.time() + 4
    processes = [hold(path, begin, 4) for _ in range(4)]
    said = sorted(process.communicate(timeout=600)[0] for process in processes)
    assert said == [*[f"{path}: {BUSY}\n"] * 3, "open\n"]
    assert json_store(path).rows == [{"number": 0}]


@with_locks
def test_however_often_several_begin_at_once_never_two_have_the_file(tmp_path: Path) -> None:
    inside, most, opened = [0], [0], [0]
    rounds, threads = 150, 3
    together, guard = threading.Barrier(threads), threading.Lock()

    def begin() -> None:
        for number in range(rounds):
            together.wait(60)
            # Half of the files are left empty, and so removed again: the hardest case.
            with suppress(InputError), json_store(tmp_path / str(number)) as store:
                with guard:
                    inside[0] += 1
                    most[0], opened[0] = max(most[0], inside[0]), opened[0] + 1
                if number % 2:
                    store.add({"number": number})
                with guard:
                    inside[0] -= 1

    workers = [threading.Thread(target=begin) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert most[0] == 1
    assert opened[0] >= rounds


@with_locks
@FORMS
def test_a_second_store_of_the_same_process_is_refused_too(path: Path, make: Make, rows: list[Any]) -> None:
    with make(path) as store:
        with pytest.raises(InputError, match=re.escape(BUSY)), make(path):
            pass
        store.add(rows[0])
    with make(path) as store:
        assert store.rows == rows[:1]


@with_locks
def test_a_file_that_was_removed_while_it_was_locked_is_opened_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The run before leaves nothing, and removes its empty file between our opening and locking it.
    lock = fcntl.flock
    locked: list[int] = []

    def late(file: Any, how: int) -> None:
        if not locked:
            path.unlink()
        locked.append(how)
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with csv_store(path) as store:
        store.add(*ROWS)
    assert len(locked) == 2
    assert read_rows(path, Row) == ROWS


def test_without_locks_a_file_that_grows_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(file: Any, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    if sys.platform != "win32":
        monkeypatch.setattr(fcntl, "flock", unknown)
    with ExitStack() as stack:
        one, other = (stack.enter_context(csv_store(path)) for _ in range(2))
        one.add(ROWS[0])
        content = path.read_bytes()
        with pytest.raises(InputError, match=r"rows: has been written to by another run; let that one end first\.$"):
            other.add(ROWS[2])
        assert path.read_bytes() == content
        one.add(ROWS[2])
    assert read_rows(path, Row) == [ROWS[0], ROWS[2]]


def test_a_file_that_is_removed_or_replaced_while_it_is_open_is_noticed(path: Path) -> None:
    for replaced in (False, True):
        with csv_store(path) as store:
            store.add(ROWS[0])
            path.unlink()
            if replaced:
                path.write_text("mine")
            with pytest.raises(InputError, match=r"rows: has been removed or replaced since this run began\.$"):
                store.add(ROWS[2])
    assert path.read_text() == "mine"
