"""Several searches of one setup in processes of their own, in rounds.

Large solutions are divided in parts (see `division`): each search has one for a round, then they are put together and
divided anew. Searches of small ones exchange their best solution. In between, several teams divide a solution each.
"""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiled.failures import is_own
from neuralns.compiled.fingerprint import fingerprint
from neuralns.errors import GivenUpError, InputError, InputWarning, NeuralnsError
from neuralns.operators.own_file import run_python_file, user_files
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.transfer import new_state
from neuralns.search.division import Routes, divide, fleets, parts_of, put_together
from neuralns.search.interrupt import interrupts_blocked
from neuralns.search.pausing import Clock
from neuralns.search.progress import Progress
from neuralns.search.search import Search
from neuralns.search.setup import Setup, prepare
from neuralns.search.supervision import Supervised, functions_of

EXCHANGES = 20
"""Times in a run that the search, or team, that is worst off goes on from the best solution of all."""
ROUND_SECONDS, ROUND_ITERATIONS = 0.25, 5000
"""Length of a round of up to 1000 customers where solutions are divided; of more it is longer in proportion."""
DIVIDED_SHARE, PLENTY = 0.5, 400
"""Share of a run after which solutions are searched whole again, if searches have so many iterations for each customer.

Going on from the best is worth more then than many iterations, and no border is in the way."""
OPEN_ROUND = 100_000
"""Iterations of a round when neither time nor iterations are limited."""
MESSAGE_SECONDS = 0.1
PAUSE_SECONDS = 0.05
"""Time after which a worker that stands still looks whether it is to go on."""
MOST_WORKERS = 1000
START = "NEURALNS_START"
"""Variable of the environment that says how processes begin: ``fork`` or ``spawn``."""


@dataclass(frozen=True)
class Task:
    """What a search is to do in a round: until when, and with which routes, if not on from where it is."""

    number: int
    time: float
    iterations: float
    routes: Routes | None = None
    vehicles: tuple[int, ...] | None = None
    part: bool = False
    fleet: int | None = None


@dataclass(frozen=True)
class Message:
    """What a search tells the coordinator: small, since it is sent many times.

    Costs and routes are those of its part where it has one. The best routes are left out if they were told before, the
    current ones unless a round is over and they serve everybody.
    """

    number: int
    time: float
    iteration: int
    current: float
    best: float
    rank: tuple[int, int, float]
    standing: tuple[int, float]
    temperature: float
    uses: dict[str, int]
    routes: Routes | None
    vehicles: tuple[int, ...]
    current_routes: Routes | None
    reason: str | None
    counts: npt.NDArray[np.int64]
    decision_times: tuple[float, float] | None


NOTHING = (1 << 62, 0, math.inf)
"""Rank of a search that has told no solution yet."""


@dataclass
class Team:
    """Searches that divide a solution, and the best one that they found; or a single search of a whole one.

    ``parts`` are the routes that each was sent, and ``best`` the best routes of all parts.
    """

    workers: list[int]
    parts: dict[int, Routes] = field(default_factory=dict)
    rank: tuple[int, int, float] = NOTHING
    best: list[Routes] = field(default_factory=list)
    vehicles: tuple[int, ...] | None = None
    current: float = math.inf

    def solution(self, instance: Instance) -> Solution:
        """Return the best solution."""
        if self.vehicles is not None:
            return Solution(instance, self.best[0], self.vehicles)
        return put_together(instance, self.best)


def run_in_parallel(
    setup: Setup,
    seeds: list[np.random.SeedSequence],
    begin: float,
    watch: Callable[[Progress], str | None],
    tell_best: Callable[[Solution, Progress], object] | None = None,
    hurried: Callable[[], bool] = lambda: False,
    clock: Clock | None = None,
) -> tuple[Solution, list[Message], str | GivenUpError]:
    """Run a search for each seed until a limit is reached or ``watch`` gives a reason to end.

    Returned are the best solution, the last messages, and why it ended.

    ``watch`` is called several times a second with the progress of all: the sum of iterations, the least costs. Rounds
    end at fixed numbers of iterations if iterations are the limit, so that the result depends on the seeds alone.

    A worker that is killed is left out, with a warning; what it told last counts. If all are, that is the result. When
    ``hurried`` says so, the rest of the round is not waited for. While the ``clock`` is paused, workers stand still.
    """
    clock = Clock() if clock is None else clock
    method = start_method()
    if multiprocessing.current_process().daemon:
        raise InputError("several workers cannot be started by a daemonic process; search on one core there.")
    if parts_of(setup, len(seeds)) > 1:
        # Current routes go from one search to another.
        setup = replace(setup, keeps_limit=True)
    # What searches hold in common is made once, and shared.
    new_state(setup.instance, 0, quota=setup.quotas[1])
    context: Any = multiprocessing.get_context(method)
    anew = method == "spawn"
    if anew:
        packed = _packed(setup)
        memory = clock.memory_for(context)
        # What they load first is no time of the search.
        clock.pause()
    connections: list[Connection] = []
    processes = []
    try:
        for seed in seeds:
            own, other = context.Pipe()
            connections.append(own)
            if anew:
                process = context.Process(target=_work_anew, args=(other, packed, seed, begin, memory, os.getpid()))
            else:
                given = (other, [*connections], setup, seed, begin, clock, os.getpid())
                process = context.Process(target=_work, args=given)
            process.daemon = True
            try:
                with interrupts_blocked() if anew else nullcontext():
                    process.start()
            except OSError as error:
                raise InputError(f"a worker cannot be started ({error.strerror or error}).") from None
            processes.append(process)
            other.close()
        generator = np.random.default_rng(seeds[0].spawn(1)[0])
        coordinator = _Coordinator(setup, connections, generator, watch, tell_best, hurried)
        if anew:
            coordinator.await_all()
            clock.resume()
        return coordinator.run()
    finally:
        for connection in connections:
            connection.close()
        for process in processes:
            process.kill()
            process.join()


def start_method() -> str:
    """Return how processes begin: forked where that is safe, as on Linux, and elsewhere started anew (``spawn``)."""
    known = multiprocessing.get_all_start_methods()
    chosen = os.environ.get(START) or ("fork" if "fork" in known and sys.platform != "darwin" else "spawn")
    if chosen not in ("fork", "spawn") or chosen not in known:
        raise InputError(f"{START}={chosen}: processes cannot begin so here; choose spawn, or fork where there is one.")
    return chosen


Packed = tuple[list[str], list[str], bytes, list[str | None]]


def _packed(setup: Setup) -> Packed:
    """Return a setup for processes that are started anew.

    These are files and modules to load first, the setup itself, and the fingerprints of the user's functions.
    """
    modules = {entry.function.__module__ for entry in setup.portfolio.operators}
    try:
        # Files of a user's own are run there, and what the program itself defines is there by then.
        known = [name for name in modules if not name.startswith(("neuralns_user_", "__"))]
        return user_files(), sorted(known), pickle.dumps(setup), _fingerprints(setup)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"several workers are started anew here, and something of this search cannot be sent to them ({error}); "
            "define it at the top of a module, or search on one core."
        ) from None


def _fingerprints(setup: Setup) -> list[str | None]:
    return [fingerprint(function) if is_own(function) else None for function in functions_of(setup)]


class _Coordinator:
    """Gives searches their tasks round by round, and puts together what they tell."""

    def __init__(
        self,
        setup: Setup,
        connections: list[Connection],
        generator: np.random.Generator,
        watch: Callable[[Progress], str | None],
        tell_best: Callable[[Solution, Progress], object] | None,
        hurried: Callable[[], bool],
    ) -> None:
        self.setup, self.connections, self.generator = setup, connections, generator
        self.watch, self.tell_best, self.hurried = watch, tell_best, hurried
        self.present = set(range(len(connections)))
        self.latest: dict[int, Message] = {}
        self.waiting: set[int] = set()
        self.silent: list[GivenUpError] = []
        self.parts = parts_of(setup, len(connections))
        self.teams = [Team([worker]) for worker in range(len(connections))]
        self.divided = False
        self.number = 0
        # Rounds gone by, of as many as a run has if all are like this one.
        self.round = 0
        self.told: tuple[int, int, float] | None = None

    def await_all(self) -> None:
        """Wait until every search is ready to begin, or gone."""
        while not self.present <= self.latest.keys():
            self._receive()
        if not self.latest:
            raise InputError(
                "all worker processes ended as soon as they were started; a program that starts workers anew calls "
                "solve under 'if __name__ == \"__main__\":'."
            )

    def run(self) -> tuple[Solution, list[Message], str | GivenUpError]:
        ended: str | None = None
        while True:
            self._receive()
            if not self.present:
                if not self.latest:
                    raise InputError("all worker processes ended unexpectedly (killed, or out of memory).")
                return self._finish(ended or LOST, len(self.connections))
            if ended is not None and self.hurried():
                return self._finish(ended)
            if not self.present <= self.latest.keys():
                continue
            self._renew_teams()
            if ended is None:
                together = self._together()
                best = self._best()
                if self.tell_best is not None and (self.told is None or best.rank < self.told):
                    self.told = best.rank
                    self.tell_best(best.solution(self.setup.instance), together)
                ended = self.watch(together)
                if ended is None and math.isfinite(self.setup.stop.time) and self._hit():
                    # Runs limited by iterations go on to the end of the round, so that they can be repeated.
                    ended = "target"
                if ended is not None:
                    self._send(dict.fromkeys(sorted(self.present), "stop"))
            if not self.present or not self.present <= self.waiting:
                continue
            told = [self.latest[worker] for worker in sorted(self.present)]
            # Who had no part in this round has nothing to say.
            reasons = [message.reason for message in told if message.number == self.number or not self.divided]
            reason = ended or ("target" if self._hit() else reasons[0] if reasons and all(reasons) else None)
            if reason is not None:
                return self._finish(reason, len(self.connections) - len(self.present))
            self._begin_round()

    def _receive(self) -> None:
        """Take in what searches tell; one that waits has nothing to say."""
        busy = [self.connections[worker] for worker in self.present - self.waiting]
        for connection in wait(busy, MESSAGE_SECONDS):
            worker = self.connections.index(connection)  # type: ignore[arg-type]
            try:
                event, content = self.connections[worker].recv()
            except (EOFError, OSError):
                self._leave_out(worker)
                continue
            if event == "error":
                raise content
            if event == "given up":
                content, error = content
                self.silent.append(error)
                self._leave_out(worker)
            if content.routes is None:
                content = replace(content, routes=self.latest[worker].routes, vehicles=self.latest[worker].vehicles)
            self.latest[worker] = content
            if event == "round":
                self.waiting.add(worker)

    def _leave_out(self, worker: int) -> None:
        self.present.discard(worker)
        self.waiting.discard(worker)

    def _send(self, answers: dict[int, Any]) -> None:
        for worker, answer in answers.items():
            try:
                self.connections[worker].send(answer)
            except OSError:
                self._leave_out(worker)

    def _finish(self, reason: str, gone: int | None = None) -> tuple[Solution, list[Message], str | GivenUpError]:
        if gone is not None:
            _warn_of_lost(gone - len(self.silent), len(self.connections))
        self._renew_teams()
        best = self._best().solution(self.setup.instance)
        messages = [self.latest[worker] for worker in sorted(self.latest)]
        return best, messages, self.silent[0] if self.silent else reason

    def _best(self) -> Team:
        # What a worker found that was killed since is not lost: the others may go on from it.
        return min(self.teams, key=lambda team: team.rank)

    def _hit(self) -> bool:
        if self.divided:
            return self._best().rank[2] <= self.setup.stop.target
        return any(message.reason == "target" for message in self.latest.values())

    def _renew_teams(self) -> None:
        """Bring the teams up to date with what their searches told."""
        for team in self.teams:
            if not self.divided:
                message = self.latest.get(team.workers[0]) if team.workers else None
                if message is not None and message.number == self.number:
                    team.current = message.standing[1]
                    if message.rank <= team.rank:
                        # What was told once is never taken back.
                        team.rank = message.rank
                        team.best, team.vehicles = [message.routes or ()], message.vehicles
                continue
            messages = [self.latest[worker] for worker in team.parts]
            if messages and all(message.number == self.number for message in messages):
                team.current = sum(message.current for message in messages)
                cost = sum(message.best for message in messages)
                if cost < team.rank[2]:
                    team.rank, team.vehicles = (0, 0, cost), None
                    team.best = [message.routes or () for message in messages]

    def _together(self) -> Progress:
        messages = [self.latest[worker] for worker in sorted(self.latest)]
        best = self._best()
        return Progress(
            self.setup.instance,
            self.setup.stop,
            max(message.time for message in messages),
            sum(message.iteration for message in messages),
            min(team.current for team in self.teams),
            best.rank[2],
            messages[0].temperature,
            {name: sum(message.uses[name] for message in messages) for name in messages[0].uses},
            len(messages),
            best.rank[0],
        )

    def _begin_round(self) -> None:
        """Give every search its task of the next round."""
        currents = [self._current_of(team) for team in self.teams] if self.divided else []
        if not self.divided and self.parts > 1 and self._best().rank[0] == 0:
            self._form_teams()
            currents = [[*self._best().solution(self.setup.instance).routes]] * len(self.teams)
        whole = {}
        if self.divided and self._has_plenty():
            pairs = zip(self.teams, currents, strict=True)
            whole = {worker: current for team, current in pairs for worker in team.workers if worker in self.present}
            self._disband_teams()
        self.number += 1
        self.round += 1
        task = Task(self.number, *self._end_of_round())
        tasks = dict.fromkeys(sorted(self.present), task)
        if self.divided:
            tasks = self._divided(currents, replace(task, part=True))
        elif whole:
            tasks = {worker: replace(task, routes=whole[worker]) for worker in tasks}
        elif self.round > 1:
            best = self._best()
            worst = max(self.present, key=lambda worker: (self.latest[worker].standing, worker))
            if best.workers != [worst]:
                found = best.solution(self.setup.instance)
                tasks[worst] = replace(task, routes=found.routes, vehicles=found.vehicles)
        self.waiting -= tasks.keys()
        self._send(tasks)

    def _has_plenty(self) -> bool:
        """Return whether so much of the run is over, with so many iterations, that solutions are searched whole."""
        done, told = self._done(), [self.latest[worker] for worker in self.present]
        enough = PLENTY * done * self.setup.instance.customers * len(told)
        return done >= DIVIDED_SHARE and sum(message.iteration for message in told) >= enough

    def _disband_teams(self) -> None:
        """Let every search be a team of its own again; the best solution so far is kept."""
        kept = replace(self._best(), workers=[], parts={}, current=math.inf)
        teams = [Team([worker], current=team.current) for team in self.teams for worker in team.workers]
        self.teams = [*sorted(teams, key=lambda team: team.workers), kept]
        self.divided, self.parts = False, 1
        self.round = int(self._done() * self._rounds())

    def _form_teams(self) -> None:
        """Form teams that divide solutions from now on, each starting from the best so far."""
        best, present = self._best(), sorted(self.present)
        count = max(1, len(present) // self.parts)
        self.teams = [replace(best, workers=list(map(int, each))) for each in np.array_split(present, count)]
        self.divided = True
        self.round = int(self._done() * self._rounds())

    def _done(self) -> float:
        """Return which share of the run is over."""
        seconds, iterations = self._limits()
        told = [self.latest[worker] for worker in self.present]
        return max(max(each.time / seconds, each.iteration / iterations) for each in told) if seconds > 0 else 1.0

    def _limits(self) -> tuple[float, float]:
        """Return the time and the iterations that rounds are a share of; one of them is infinite."""
        stop = self.setup.stop
        if math.isfinite(stop.time):
            return stop.time, math.inf
        return math.inf, stop.iterations if math.isfinite(stop.iterations) else OPEN_ROUND * EXCHANGES

    def _rounds(self) -> int:
        """Return how many rounds these limits have."""
        if not self.divided:
            return EXCHANGES
        seconds, iterations = self._limits()
        larger = max(1.0, self.setup.instance.customers / 1000)
        rounds = seconds / ROUND_SECONDS if math.isfinite(seconds) else iterations / ROUND_ITERATIONS
        return max(EXCHANGES, math.ceil(rounds / larger))

    def _end_of_round(self) -> tuple[float, float]:
        """Return the time and the iteration at which the round ends."""
        seconds, iterations = self._limits()
        if math.isfinite(seconds):
            return seconds * self.round / self._rounds(), math.inf
        return math.inf, math.ceil(iterations * self.round / self._rounds())

    def _divided(self, currents: list[list[Any]], task: Task) -> dict[int, Task]:
        """Divide the current solution of every team; return the tasks of those who have a part."""
        instance, best = self.setup.instance, self._best()
        if len(self.teams) > 1 and self.round % (self._rounds() // EXCHANGES) == 0:
            worst = max(range(len(self.teams)), key=lambda number: (self.teams[number].current, number))
            if self.teams[worst] is not best:
                currents[worst] = [*best.solution(instance).routes]
        tasks = {}
        for number, team in enumerate(self.teams):
            team.workers = [worker for worker in team.workers if worker in self.present]
            team.parts = {}
            if not team.workers:
                continue
            routes = currents[number]
            parts = divide(instance, routes, len(team.workers), self.generator)
            limits = fleets(instance, parts, self.generator)
            for worker, part, limit in zip(team.workers, parts, limits, strict=False):
                team.parts[worker] = [routes[index] for index in part]
                tasks[worker] = replace(task, routes=team.parts[worker], fleet=limit)
        return tasks

    def _current_of(self, team: Team) -> list[Any]:
        """Return the routes of a team at the end of a round; of a lost worker those that it told or was sent."""
        found: list[Any] = []
        for worker, sent in team.parts.items():
            message = self.latest[worker]
            told = message.current_routes or message.routes if message.number == self.number else None
            found += sent if told is None else told
        return found


LOST = "lost workers"
"""Why a search ended whose workers were all killed."""


def _warn_of_lost(lost: int, workers: int) -> None:
    if lost > 0:
        what = "this is the best they had told of" if lost == workers else "the search went on with the others"
        sentence = f"{lost} of {workers} worker processes ended unexpectedly (killed, or out of memory); {what}."
        warnings.warn(sentence, InputWarning, stacklevel=4)


def _work(
    connection: Connection,
    others: list[Connection],
    setup: Setup,
    seed: np.random.SeedSequence,
    begin: float,
    clock: Clock,
    coordinator: int,
) -> None:
    """Search in a process of its own; signals, which reach the whole group, are the coordinator's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Its copies of the coordinator's ends would keep the pipes open when the coordinator is gone.
    for other in others:
        other.close()
    # Where the coordinator has ended there is nobody to tell.
    with suppress(OSError, EOFError):
        try:
            _search(connection, setup, seed, begin, clock, coordinator)
        except NeuralnsError as error:
            connection.send(("error", error))


def _work_anew(
    connection: Connection,
    packed: Packed,
    seed: np.random.SeedSequence,
    begin: float,
    memory: Any,
    coordinator: int,
) -> None:
    """Load what a setup needs in a process that was started anew, and search."""
    files, modules, content, fingerprints = packed
    try:
        for file in files:
            run_python_file(file)
        for module in modules:
            importlib.import_module(module)
        setup = pickle.loads(content)
        for function, here, there in zip(functions_of(setup), _fingerprints(setup), fingerprints, strict=True):
            if here != there:
                raise InputError(
                    f"{function.__qualname__} of {function.__code__.co_filename} is not the same in workers, which are "
                    "started anew here and run the file again; a global was set, or the file changed, since it was run."
                )
        prepare(setup.portfolio, setup.selector, setup.acceptance, setup.stop, setup.instance)
    except NeuralnsError as error:
        connection.send(("error", error))
        return
    _work(connection, [], setup, seed, begin, Clock(memory), coordinator)


def _search(
    connection: Connection,
    setup: Setup,
    seed: np.random.SeedSequence,
    begin: float,
    clock: Clock,
    coordinator: int,
) -> None:
    supervised = Supervised(
        lambda hook: Search(setup, seed, begin, hook, clock),
        leaving=lambda: connection.poll() or os.getppid() != coordinator,
        hurried=lambda: False,
    )
    with supervised:
        _search_in_rounds(connection, supervised, clock, coordinator)


def _search_in_rounds(connection: Connection, supervised: Supervised, clock: Clock, coordinator: int) -> None:
    search = supervised.search
    number = 0
    told: tuple[int, int, float] | None = None

    def tell(event: str, also: GivenUpError | None = None) -> None:
        nonlocal told
        message = _message_of(search, number, search.rank != told, event == "round")
        told = message.rank
        connection.send((event, message if also is None else (message, also)))

    # Whatever becomes of this worker, the coordinator has routes of it.
    tell("round")
    while True:
        while not connection.poll(1.0):
            _expect(coordinator)
        task = connection.recv()
        if task == "stop":
            return
        number = task.number
        if task.routes is not None:
            told = None
            routes = Solution(search.setup.instance, task.routes, task.vehicles)
            if task.part:
                search.continue_with_part(routes, task.fleet)
            else:
                search.continue_from(routes)
        search.until = task.time
        last_told = time.perf_counter()
        while search.reason_to_stop() is None and search.elapsed < task.time and search.iteration < task.iterations:
            while clock.paused and not connection.poll(PAUSE_SECONDS):
                _expect(coordinator)
            if connection.poll():
                break
            try:
                supervised.advance(task.iterations - search.iteration)
            except GivenUpError as error:
                tell("given up", error)
                return
            if time.perf_counter() - last_told > MESSAGE_SECONDS:
                last_told = time.perf_counter()
                _expect(coordinator)
                tell("progress")
        tell("round")


def _expect(coordinator: int) -> None:
    """End where the coordinator is gone, also if some other process still holds its end of the pipe."""
    if os.getppid() != coordinator:
        raise EOFError


def _message_of(search: Search, number: int, with_best: bool, with_current: bool) -> Message:
    progress = search.progress()
    best = search.best() if with_best else None
    return Message(
        number,
        progress.time,
        progress.iteration,
        progress.current,
        progress.best,
        search.rank,
        search.standing,
        progress.temperature,
        progress.uses,
        None if best is None else best.routes,
        () if best is None else best.vehicles,
        search.current().routes if with_current and search.standing[0] == 0 else None,
        search.reason_to_stop(),
        search.counts,
        search.decision_times,
    )
