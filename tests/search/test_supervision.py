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

from neuralns import (
    Instance,
    MaxIterations,
    MaxTime,
    OperatorError,
    Progress,
    Result,
    Solution,
    StopWhen,
    Uniform,
    destroy,
    make_portfolio,
    portfolio_named,
)
from neuralns import solve as search_for_routes
from neuralns.operators.toolkit import random_routed, remove
from neuralns.search import solve as solve_module
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

choices = {
    "destroy": dict(portfolio=["stuck", "greedy"]),
    "repair": dict(portfolio=["random-node", "stuck-repair"]),
    "selector": dict(selector=Stuck()),
    "acceptance": dict(acceptance=Never()),
    "rule": {},
}
what, limit, workers, signals = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
stop = MaxTime(limit) | (StopWhen(unsure) if what == "rule" else Stop())

def disturb():
    for name in signals:
        time.sleep(0.7)
        os.kill(os.getpid(), getattr(signal, name))

def begin(progress):
    if progress.iteration == 0 and not threading.active_count() > 2:
        threading.Thread(target=disturb, daemon=True).start()

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    result = solve("E-n22-k4", stop, initial="random", workers=workers, callbacks=[begin], **choices[what])
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
def test_signals_end_it_long_before_the_limit(program: Path, signals: list[str]) -> None:
    reason, _, feasible, runtime, _ = run(program, "destroy", 600, 1, *signals)
    assert (reason, feasible) == ("operator 'stuck' (no answer)", True)
    assert runtime < 10


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
    monkeypatch.setattr(solve_module, "has_own_functions", lambda setup: False)
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


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
