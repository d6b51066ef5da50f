"""Functions of one's own that never return: the search ends all the same, with the best so far, and names them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from numba import njit

from helpers import is_running
from neuralns import (
    Acceptance,
    InputWarning,
    Instance,
    MaxIterations,
    MaxTime,
    OperatorError,
    Progress,
    Result,
    Solution,
    Stop,
    StopWhen,
    Uniform,
    destroy,
    make_portfolio,
    portfolio_named,
    repair,
)
from neuralns import solve as search_for_routes
from neuralns.operators.toolkit import best_opening, insert, open_route, random_routed, remove
from neuralns.search import solve as solve_module
from neuralns.search import supervision
from neuralns.search.setup import make_setup
from neuralns.search.supervision import has_own_functions

ENDLESS = """
import json, os, signal, sys, threading, time, warnings
from neuralns import *
from neuralns.compiled.structs import whole
from neuralns.operators.toolkit import *

@destroy("stuck")
def stuck(state, quota):
    while state.n_removed < quota or state.status.iteration == 300:
        if state.n_removed < quota:
            remove(state, random_routed(state))

@repair("stuck-repair")
def stuck_repair(state):
    while state.n_removed > 0 or state.status.iteration == 300:
        if state.n_removed > 0:
            customer = state.removed[0]
            insert(state, customer, open_route(state, best_opening(state, customer)[1]), 0)

class Stuck(Selector):
    name = "stuck-selector"
    fields = {"turn": whole}
    def start(self, portfolio, customers=1):
        return self.new_memory(turn=0)
    @staticmethod
    def choose(memory, state, phase):
        while state.status.iteration == 300:
            memory.turn += 1
        return 0

class Never(Acceptance):
    @staticmethod
    def accepts(state, candidate):
        while state.status.iteration == 300:
            state.status.gain += 1.0
        return True

def unsure(state):
    while state.status.iteration == 300:
        state.status.gain += 1.0
    return False

class Pondering:
    def choose(self, situation):
        while situation.iteration == 300:
            pass
        return situation.destroys[0], situation.repairs[0]
    def update(self, outcome):
        pass

choices = {
    "destroy": dict(portfolio=["stuck", "greedy"]),
    "repair": dict(portfolio=["random-node", "stuck-repair"]),
    "selector": dict(selector=Stuck()),
    "acceptance": dict(acceptance=Never()),
    "rule": {},
    "python": dict(selector=PythonSelector(Pondering(), every=100, name="pondering")),
    "best-fixed": dict(selector="best-fixed", portfolio=["stuck", "random-node", "greedy"]),
}
what, limit, workers, signals = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
stop = MaxTime(limit) | (StopWhen(unsure) if what == "rule" else Stop())
if limit == 0:
    stop = MaxIterations(10 ** 6)
    from neuralns.search import supervision
    supervision.STUCK = 1.0

# The best moment for a wait with a limit to be missed is when a handler takes longer than that.
from neuralns.search.interrupt import Interrupts
note = Interrupts._note
def note_slowly(self, number, frame):
    time.sleep(0.3)
    note(self, number, frame)
Interrupts._note = note_slowly

def disturb():
    for name in signals:
        time.sleep(0.7)
        os.kill(os.getpid(), getattr(signal, name))

def disturb_trials():
    while not any("ThreadPool" in thread.name for thread in threading.enumerate()):
        time.sleep(0.1)
    time.sleep(2.0)
    disturb()

if what == "best-fixed" and signals:
    threading.Thread(target=disturb_trials, daemon=True).start()

def begin(progress):
    if progress.iteration == 0 and not threading.active_count() > 2:
        threading.Thread(target=disturb, daemon=True).start()

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    result = solve("E-n22-k4", stop, initial="random", workers=workers, callbacks=[begin], on_sigterm="return",
                   **choices[what])
said = [str(warning.message) for warning in said]
print(json.dumps([result.stopped_by, result.iterations, result.feasible, result.runtime, said]))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("endless") / "endless.py"
    path.write_text(ENDLESS)
    return path


def run(program: Path, *arguments: object) -> list[Any]:
    command = [sys.executable, str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("destroy", "operator 'stuck'"),
        ("repair", "operator 'stuck-repair'"),
        ("selector", "selector 'stuck-selector'"),
        ("acceptance", "acceptance rule 'Never'"),
        ("rule", "stopping rule 'unsure'"),
        ("python", "selector 'pondering'"),
    ],
)
def test_who_gives_no_answer_is_given_up_well_past_the_limit_and_named(program: Path, what: str, name: str) -> None:
    reason, iterations, feasible, runtime, said = run(program, what, 1, 1)
    assert (reason, iterations, feasible) == (f"{name} (no answer)", 300, True)
    assert 1.5 < runtime < 10
    assert said == [f"{name} gave no answer (an endless loop?) and was given up; this is the best found before."]


def test_so_it_is_in_workers(program: Path) -> None:
    reason, iterations, feasible, runtime, said = run(program, "destroy", 1, 2)
    assert (reason, feasible) == ("operator 'stuck' (no answer)", True)
    assert iterations >= 300
    assert runtime < 10
    assert len(said) == 1


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGINT"], ["SIGINT", "SIGINT"]])
@pytest.mark.parametrize(("what", "name"), [("destroy", "operator 'stuck'"), ("python", "selector 'pondering'")])
def test_signals_end_it_long_before_the_limit(program: Path, what: str, name: str, signals: list[str]) -> None:
    reason, _, feasible, runtime, _ = run(program, what, 600, 1, *signals)
    assert (reason, feasible) == (f"{name} (no answer)", True)
    assert runtime < 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signal comes by itself there.")
def test_a_signal_whose_handler_takes_long_does_not_keep_a_watch_from_giving_up() -> None:
    before = signal.signal(signal.SIGALRM, lambda number, frame: time.sleep(0.3))
    signal.setitimer(signal.ITIMER_REAL, 0.25)
    try:
        with pytest.raises(OperatorError, match="operator 'stuck' gave no answer"):
            supervision.watch([lambda: time.sleep(5)], lambda: 0, lambda: "operator 'stuck'", 1.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_step_that_never_ends_is_given_up_without_a_limit_of_time(program: Path) -> None:
    reason, iterations, feasible, runtime, _ = run(program, "destroy", 0, 1)
    assert (reason, iterations, feasible) == ("operator 'stuck' (no answer)", 300, True)
    assert runtime < 10


def test_trials_for_the_best_pair_end_with_the_best_that_they_found(program: Path) -> None:
    reason, iterations, feasible, _, said = run(program, "best-fixed", 2, 1)
    assert (reason, iterations, feasible) == ("operator 'stuck' (no answer)", 0, True)
    assert len(said) == 1


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGINT", "SIGINT"]])
def test_signals_end_trials_too(program: Path, signals: list[str]) -> None:
    reason, iterations, feasible, *_ = run(program, "best-fixed", 600, 1, *signals)
    assert reason in ("operator 'stuck' (no answer)", signals[0])
    assert (iterations, feasible) == (0, True)


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGINT", "SIGINT"]])
def test_signals_end_workers_too(program: Path, signals: list[str]) -> None:
    reason, _, feasible, runtime, _ = run(program, "destroy", 600, 2, *signals)
    assert reason in ("operator 'stuck' (no answer)", *signals)
    assert feasible
    assert runtime < 10


def test_the_command_line_says_it_in_a_sentence(tmp_path: Path) -> None:
    source = ENDLESS[: ENDLESS.index("@repair")]
    (tmp_path / "mine.py").write_text(source)
    command = [sys.executable, "-c", "from neuralns.cli import main; main()"]
    options = ["solve", "E-n22-k4", "A-n32-k5", "--time", "0.5", "--portfolio", "stuck,greedy", "-q", "--json"]
    done = subprocess.run(
        [*command, *options, "--operators", str(tmp_path / "mine.py")], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0
    (found,) = json.loads(done.stdout)["results"]
    assert (found["stopped_by"], found["feasible"]) == ("operator 'stuck' (no answer)", True)
    assert "neuralns: operator 'stuck' gave no answer (an endless loop?) and was given up;" in done.stderr


@destroy("plain-removal")
def plain_removal(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))


def late(state):
    return state.status.iteration >= 150


class Own(Uniform):
    """Chooses as the package does, by a function of its own."""

    @staticmethod
    def choose(memory, state, phase):
        return 0


def test_searches_without_functions_of_ones_own_are_not_watched() -> None:
    tiny = Instance("tiny", [0, 1], 1, [[0, 0], [0, 1]])
    modern, own = portfolio_named("modern"), make_portfolio("own", ["plain-removal", "greedy"])
    assert not has_own_functions(make_setup(tiny, MaxTime(1), Uniform(), modern))
    assert has_own_functions(make_setup(tiny, MaxTime(1), Uniform(), own))
    assert has_own_functions(make_setup(tiny, MaxTime(1), Own(), modern))
    assert has_own_functions(make_setup(tiny, MaxTime(1) | StopWhen(late), Uniform(), modern))


def test_watched_searches_find_the_same_routes_and_tell_all_in_the_callers_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: set[int] = set()
    costs: list[list[float]] = []

    def note(best: Solution, progress: Progress) -> None:
        threads.add(threading.get_ident())
        costs[-1].append(best.cost)

    def find() -> Result:
        costs.append([])
        return search_for_routes(
            "X-n101-k25",
            MaxIterations(3000),
            seed=4,
            initial="random",
            portfolio=["plain-removal", "string", "greedy", "regret-2"],
            callbacks=[lambda progress: threads.add(threading.get_ident())],
            on_best=note,
        )

    watched = find()
    for module in (solve_module, supervision):
        monkeypatch.setattr(module, "has_own_functions", lambda setup: False)
    plain = find()
    assert watched.routes == plain.routes
    assert watched.operators == plain.operators
    assert costs[0] == costs[1]
    assert len(costs[0]) > 10
    assert threads == {threading.get_ident()}


@destroy("watched-but-idle")
def watched_but_idle(state, quota):
    pass


def test_a_broken_contract_is_reported_as_before() -> None:
    with pytest.raises(OperatorError, match="operator 'watched-but-idle' removed 0 customers"):
        search_for_routes("E-n22-k4", MaxIterations(10), portfolio=["watched-but-idle", "greedy"])


@njit
def entry_of(numbers, place):
    return numbers[place]


@destroy("reads-too-far")
def reads_too_far(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    if state.status.iteration == 50:
        state.keys[0] = [1.0, 2.0][quota + 5]


@destroy("helped-too-far")
def helped_too_far(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    if state.status.iteration == 50:
        state.keys[0] = entry_of([1.0, 2.0], quota + 5)


@repair("divides")
def divides(state):
    while state.n_removed > 0:
        customer = state.removed[0]
        insert(state, customer, open_route(state, best_opening(state, customer)[1]), 0)
    if state.status.iteration == 50:
        state.keys[0] = 1 // state.n_removed


class Lost(Uniform):
    """Learns by a list that is too short."""

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        counts = [0, 0]
        counts[destroy + 2] += 1


class Broken(Acceptance):
    """Fails in the middle of a search."""

    @staticmethod
    def accepts(state, candidate):
        return 1 // (50 - state.status.iteration) > -2


def dividing(state):
    return 1 // (50 - state.status.iteration) > 1


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("choices", "who", "how", "line"),
    [
        ({"portfolio": ["reads-too-far", "greedy"]}, "operator 'reads-too-far'", "IndexError", "[1.0, 2.0][quota"),
        ({"portfolio": ["helped-too-far", "greedy"]}, "operator 'helped-too-far'", "IndexError", "return numbers["),
        ({"portfolio": ["random-node", "divides"]}, "operator 'divides'", "ZeroDivisionError", "1 // state.n_removed"),
        ({"selector": Lost("lost")}, "selector 'lost'", "IndexError", "counts[destroy + 2]"),
        ({"acceptance": Broken()}, "acceptance rule 'Broken'", "ZeroDivisionError", "iteration) > -2"),
        ({"stop": StopWhen(dividing)}, "stopping rule 'dividing'", "ZeroDivisionError", "iteration) > 1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_ends_the_search_with_the_best_so_far_and_names_the_line(
    choices: dict[str, Any], who: str, how: str, line: str, workers: int
) -> None:
    stop = MaxIterations(1000) | choices.get("stop", Stop())
    with pytest.warns(InputWarning) as said:
        result = search_for_routes("E-n22-k4", initial="random", workers=workers, **{**choices, "stop": stop})
    assert result.stopped_by == f"{who} (failed)"
    assert result.feasible
    assert result.iterations <= 51 * workers
    (sentence,) = {str(warning.message) for warning in said}
    assert sentence.startswith(f"{who} failed ({__file__}, line {line_of(line)}: {how}")
    assert sentence.endswith("and was given up; this is the best found before.")


WAITING = """
import multiprocessing, sys
sys.argv = ["endless.py", "destroy", "600", "2"]
source = open(__file__.replace("orphans", "endless")).read()
def tell(progress):
    print(*(process.pid for process in multiprocessing.active_children()), flush=True)
exec(source.replace("callbacks=[begin]", "callbacks=[tell]"))
"""


def test_a_worker_that_is_stuck_does_not_outlive_the_coordinator(program: Path) -> None:
    orphans = program.with_name("orphans.py")
    orphans.write_text(WAITING)
    process = subprocess.Popen([sys.executable, str(orphans)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    children = [int(word) for word in process.stdout.readline().split()]
    assert len(children) == 2
    time.sleep(1)  # until they are stuck
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    begin = time.perf_counter()
    while any(is_running(child) for child in children):
        assert time.perf_counter() - begin < 10
        time.sleep(0.05)
