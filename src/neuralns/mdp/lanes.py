"""Lanes: a batch of episodes held in arrays and stepped by one compiled call.

Each lane has a solution and a generator of its own, so that what happens in it depends on its start, its seed and its
actions alone: not on the other lanes, nor on how many threads share the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from neuralns.compiled.caching import compile_for, compiled
from neuralns.compiled.calls import address_of
from neuralns.compiled.failures import catching, is_own
from neuralns.compiled.random import seed_generator
from neuralns.compiled.structs import Struct
from neuralns.errors import GivenUpError, InputError
from neuralns.mdp.mdp import MDP
from neuralns.operators.contract import FINE, broken_contract
from neuralns.operators.portfolio import Portfolio, tables_type
from neuralns.problem.solution import Solution
from neuralns.routes.edits import FAILED
from neuralns.routes.evaluate import is_on_time
from neuralns.routes.layout import state_at
from neuralns.routes.rules import fleet, load
from neuralns.routes.transfer import State, flatten, load_routes, new_state, routes_of
from neuralns.search.step import CHOOSING, begin_step, chosen, end_step
from neuralns.search.step import called as called_last
from neuralns.search.supervision import watch
from neuralns.selection.features import RICH, FeatureSet, features_named, write_dynamic, write_globals, write_static
from neuralns.selection.selector import DESTROY, REPAIR, Selector, call_choose, memory_at, new_memory_of

# Columns of the lanes' numbers: phase, pairs left and in all, customers to remove, whether rewards come at once, the
# operator chosen last, the address of the acceptance rule, and whether the lane is being worked on.
PHASE, LEFT, BUDGET, SCALE, PAY_AT_ONCE, CHOICE, ACCEPTS, BUSY = range(8)
# Costs at the start and now, the last reward, and the course of the temperature over the pairs.
START_COST, COST, REWARD, HOT, LOG_RATE = range(5)
_LONG_COLUMNS, _FLOAT_COLUMNS = 8, 5

_longs = types.Array(types.int64, 1, "C")
_long_table = types.Array(types.int64, 2, "C")
_float_table = types.Array(types.float64, 2, "C")
_features = types.Array(types.float32, 1, "C")
_marks = types.Array(types.int8, 2, "C")


@compiled
def set_clock(status, left, longs, floats, lane):
    """Write into the status of a lane's state how much of the budget is left, and the temperature that goes with it."""
    status.left = left / longs[lane, BUDGET]
    status.temperature = floats[lane, HOT] * np.exp(floats[lane, LOG_RATE] * (longs[lane, BUDGET] - left))


@compiled
def step_lane(state, tables, action, longs, floats, lane):
    """Apply an action to a lane; return a code of `contract`."""
    before = floats[lane, COST]
    floats[lane, REWARD] = 0.0
    if longs[lane, PHASE] == DESTROY:
        longs[lane, CHOICE] = action
        code = begin_step(state, tables, action, longs[lane, SCALE])
        if code == FINE:
            longs[lane, PHASE] = REPAIR
        return code
    choice = action - tables.n_destroys
    longs[lane, CHOICE] = choice
    code, _ = end_step(state, tables, choice, longs[lane, ACCEPTS])
    if code != FINE:
        return code
    longs[lane, PHASE] = DESTROY
    longs[lane, LEFT] -= 1
    set_clock(state.status, longs[lane, LEFT], longs, floats, lane)
    floats[lane, COST] = state.cost
    if longs[lane, PAY_AT_ONCE] != 0:
        floats[lane, REWARD] = before - state.cost
    elif longs[lane, LEFT] == 0:
        floats[lane, REWARD] = floats[lane, START_COST] - state.cost
    return FINE


_step_signature = types.int64(_longs, tables_type, _longs, _long_table, _float_table, types.int64, types.int64)


def _step(addresses, tables, actions, longs, floats, low, high):
    """Apply one action in each lane from ``low`` to ``high`` − 1; return −1, or the lane that broke a contract."""
    for lane in range(low, high):
        if longs[lane, LEFT] == 0:
            floats[lane, REWARD] = 0.0
            continue
        longs[lane, BUSY] = 1
        code = step_lane(state_at(addresses[lane]), tables, actions[lane], longs, floats, lane)
        longs[lane, BUSY] = 0
        if code != FINE:
            longs[lane, PHASE] = -code
            return lane
    return -1


_observe_signature = types.void(
    _longs, types.int64, _features, _features, _marks, _marks, types.int64, types.int64, types.int64, _long_table,
    types.int64, types.int64,
)  # fmt: skip


def _observe(
    addresses, feature_set, nodes, globals_, allowed, mask, node_stride, global_stride, destroys, longs, low, high
):
    """Write what changes in the observations of the lanes from ``low`` to ``high`` − 1."""
    for lane in range(low, high):
        state = state_at(addresses[lane])
        phase = longs[lane, PHASE]
        if node_stride > 0:
            write_dynamic(state, feature_set, nodes, lane * node_stride)
        write_globals(state, feature_set, phase, globals_, lane * global_stride)
        for action in range(mask.shape[1]):
            mask[lane, action] = allowed[lane, action] if (action >= destroys) == (phase == REPAIR) else 0


_play_signature = types.int64(
    _longs, tables_type, types.int64, _longs, _long_table, _float_table, _long_table, types.int64, types.int64
)


def _play(addresses, tables, choose, memories, longs, floats, uses, low, high):
    """Play the episodes of the lanes from ``low`` to ``high`` − 1 to their end by a compiled selector."""
    for lane in range(low, high):
        state, memory = state_at(addresses[lane]), memory_at(memories[lane - low])
        longs[lane, BUSY] = 1
        while longs[lane, LEFT] > 0:
            phase = longs[lane, PHASE]
            state.status.running = CHOOSING
            action = call_choose(choose, (memory, state, phase))
            if phase == REPAIR:
                action += tables.n_destroys
            code = step_lane(state, tables, action, longs, floats, lane)
            if code != FINE:
                longs[lane, PHASE] = -code
                return lane
            uses[lane, action] += 1
        longs[lane, BUSY] = 0
    return -1


@compiled
def _reset_lanes(addresses, customers, ends, routes, sizes, numbers, seeds, longs, floats):
    """Begin an episode in every lane; return the first whose start breaks a rule, −1 if there is none."""
    fault = -1
    for lane in range(len(addresses)):
        state, number = state_at(addresses[lane]), numbers[lane]
        load_routes(
            state, customers[number, : sizes[number]], ends[number, : routes[number] + 1], customers[number, :0]
        )
        seed_generator(state, seeds[lane])
        state.status.quota = longs[lane, SCALE]
        floats[lane, START_COST] = state.cost
        floats[lane, COST] = state.cost
        floats[lane, REWARD] = 0.0
        longs[lane, PHASE] = DESTROY
        longs[lane, BUSY] = 0
        longs[lane, LEFT] = longs[lane, BUDGET]
        set_clock(state.status, longs[lane, LEFT], longs, floats, lane)
        if fault < 0 and not _keeps_rules(state):
            fault = lane
    return fault


@compiled
def _keeps_rules(state):
    """Return whether there are not too many routes, and all are allowed beyond their loads."""
    if not fleet.is_kept(state):
        return False
    for index in range(state.n_active):
        if not is_on_time(state, state.active[index]):
            return False
    return True


@compiled
def _first_fault(addresses, customers, ends, routes, sizes, numbers):
    """Return the first lane whose start is no solution, −1 if there is none."""
    for lane in range(len(addresses)):
        state, number = state_at(addresses[lane]), numbers[lane]
        seen = np.zeros(state.customers + 1, np.bool_)
        for index in range(sizes[number]):
            customer = np.int64(customers[number, index])
            if customer < 1 or customer > state.customers or seen[customer]:
                return lane
            seen[customer] = True
        for route in range(routes[number]):
            total = 0.0
            for index in range(ends[number, route], ends[number, route + 1]):
                total += state.demand[customers[number, index]]
            if not load.is_allowed(state, total):
                return lane
    return -1


@compiled
def _tour_edges(state, out, base, width):
    """Write predecessor and successor of each node into the first two of its ``width`` columns (itself if none)."""
    for node in range(state.customers + 1):
        on_route = node > 0 and state.route[node] >= 0
        out[base + node * width] = state.predecessor[node] if on_route else node
        out[base + node * width + 1] = state.successor[node] if on_route else node


@cache
def _functions() -> tuple[Any, Any, Any]:
    return (
        compile_for(_step_signature, _step),
        compile_for(_observe_signature, _observe),
        compile_for(_play_signature, _play),
    )


class Tours:
    """Solutions laid in arrays, for lanes to start from again and again."""

    def __init__(self, solutions: Sequence[Solution]) -> None:
        flat = [flatten(solution)[:2] for solution in solutions]
        self.sizes = np.array([len(customers) for customers, _ in flat], dtype=np.int64)
        self.routes = np.array([len(ends) - 1 for _, ends in flat], dtype=np.int64)
        self.customers = np.zeros((len(flat), int(self.sizes.max(initial=0))), np.int32)
        self.ends = np.zeros((len(flat), int(self.routes.max(initial=0)) + 1), np.int32)
        for number, (customers, ends) in enumerate(flat):
            self.customers[number, : len(customers)] = customers
            self.ends[number, : len(ends)] = ends

    def __len__(self) -> int:
        return len(self.sizes)


class Lanes:
    """A batch of episodes.

    Parameters
    ----------
    mdps
        The MDP of each lane. Instances and sizes may differ; operators must all be among those of the longest
        portfolio, after which actions are numbered.
    features
        Feature set of the observations (see `neuralns.selection.features`).
    nodes
        Rows of the node features, the last ones padding; by default as many as the largest instance needs.
    observes_nodes
        Whether node features are written; selectors that look at the whole only do without.
    threads
        Threads that share the work.

    Attributes
    ----------
    node_features, node_mask, global_features, action_mask
        The observation: float32 (lanes, nodes, features), int8 (lanes, nodes), float32 (lanes, features),
        int8 (lanes, actions). The arrays stay the same objects; each step overwrites them.
    costs, rewards
        F of the last complete solution, and the reward of the last step, of each lane.

    Examples
    --------
    >>> from neuralns.mdp.mdp import episode_seeds, make_mdp
    >>> mdp = make_mdp("C101", customers=20, portfolio="random-route,greedy")
    >>> lanes = Lanes([mdp] * 2)
    >>> lanes.reset(mdp.start_tours("train", 2), episode_seeds(1, 2))
    >>> [int(lanes.action_mask[lane].argmax()) for lane in (0, 1)]
    [0, 0]
    >>> while not lanes.done:
    ...     lanes.step(lanes.action_mask.argmax(axis=1))
    >>> bool((lanes.rewards > 0).all())
    True
    """

    def __init__(
        self,
        mdps: Sequence[MDP],
        features: FeatureSet | str = RICH,
        *,
        nodes: int | None = None,
        observes_nodes: bool = True,
        threads: int = 1,
    ) -> None:
        if not mdps:
            raise InputError("lanes need at least one MDP.")
        if threads < 1:
            raise InputError(f"number of threads {threads} must be at least 1.")
        self.mdps = tuple(mdps)
        self.features = features_named(features) if isinstance(features, str) else features
        self.portfolio = common_portfolio([mdp.portfolio for mdp in mdps])
        self.history = self.portfolio.uses_history or self.features.uses_history
        self._states = [new_state(mdp.instance, 0, history=self.history, quota=mdp.scale) for mdp in mdps]
        count, actions = len(mdps), len(self.portfolio.actions)
        most = max(mdp.instance.customers for mdp in mdps) + 1
        if nodes is not None and nodes < most:
            raise InputError(f"{nodes} rows do not hold {most} nodes.")
        rows = most if nodes is None else nodes
        self._sizes = np.array([mdp.instance.customers for mdp in mdps], dtype=np.int64)
        self._may_leave_out = np.array([mdp.instance.may_leave_out for mdp in mdps])
        self._addresses = np.array([state.address for state in self._states], dtype=np.int64)
        self._longs = np.zeros((count, _LONG_COLUMNS), np.int64)
        self._floats = np.zeros((count, _FLOAT_COLUMNS))
        self._longs[:, BUDGET] = [mdp.budget for mdp in mdps]
        self._longs[:, SCALE] = [mdp.scale for mdp in mdps]
        self._longs[:, ACCEPTS] = [mdp.acceptance.address() for mdp in mdps]
        self._longs[:, PAY_AT_ONCE] = [mdp.reward == "improvement" for mdp in mdps]
        for lane, mdp in enumerate(mdps):
            hot, cold = mdp.temperatures
            self._floats[lane, HOT], self._floats[lane, LOG_RATE] = hot, math.log(cold / hot) / mdp.budget
        self._allowed = np.array(
            [[name in mdp.portfolio.actions for name in self.portfolio.actions] for mdp in mdps], dtype=np.int8
        )
        self.node_features = np.zeros((count, rows if observes_nodes else 0, len(self.features.nodes)), np.float32)
        self.global_features = np.zeros((count, len(self.features.globals)), np.float32)
        self.action_mask = np.zeros((count, actions), np.int8)
        self.node_mask = np.zeros((count, rows), np.int8)
        for lane, mdp in enumerate(mdps):
            self.node_mask[lane, : mdp.instance.customers + 1] = 1
            if observes_nodes:
                write_static(self._states[lane], self.features.index, self.node_features[lane].reshape(-1), 0)
        self.rewards = self._floats[:, REWARD]
        self.costs = self._floats[:, COST]
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        edges = np.linspace(0, count, threads + 1).astype(int)
        functions: list[Any] = [entry.function for entry in self.portfolio.operators]
        self._has_own_functions = any(map(is_own, [*functions, *(mdp.acceptance.function for mdp in mdps)]))
        self._chunks = [(int(low), int(high)) for low, high in pairwise(edges) if high > low]

    def __len__(self) -> int:
        return len(self.mdps)

    @property
    def done(self) -> bool:
        """Whether all episodes are over."""
        return bool((self._longs[:, LEFT] == 0).all())

    @property
    def start_costs(self) -> npt.NDArray[np.float64]:
        """F of the start of each lane."""
        return self._floats[:, START_COST]

    @property
    def phases(self) -> npt.NDArray[np.int64]:
        """0 in the destroy phase, 1 in the repair phase."""
        return self._longs[:, PHASE]

    @property
    def budgets(self) -> npt.NDArray[np.int64]:
        """Pairs left in each lane."""
        return self._longs[:, LEFT]

    def reset(
        self,
        starts: Sequence[Solution] | Tours,
        seeds: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.int64] | None = None,
        observe: bool = True,
    ) -> None:
        """Begin an episode in every lane, from its start and with its seed; the memory of arcs starts empty.

        Lane k starts from number k, or from ``numbers[k]``, of the starts.
        """
        tours = starts if isinstance(starts, Tours) else Tours(starts)
        chosen = np.arange(len(tours)) if numbers is None else np.ascontiguousarray(numbers, dtype=np.int64)
        if len(chosen) != len(self) or len(seeds) != len(self):
            raise InputError(f"{len(self)} lanes need as many starts and seeds; {len(chosen)} and {len(seeds)} given.")
        if ((chosen < 0) | (chosen >= len(tours))).any():
            raise InputError(f"numbers of starts must be from 0 to {len(tours) - 1}.")
        wrong = (tours.sizes[chosen] != self._sizes) & ~self._may_leave_out
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            size = tours.sizes[chosen[lane]]
            raise InputError(f"lane {lane} has {self._sizes[lane]} customers, its start {size}.")
        fault = _first_fault(self._addresses, tours.customers, tours.ends, tours.routes, tours.sizes, chosen)
        if fault < 0:
            fault = _reset_lanes(
                self._addresses, tours.customers, tours.ends, tours.routes, tours.sizes, chosen,
                np.ascontiguousarray(seeds, dtype=np.uint64), self._longs, self._floats,
            )  # fmt: skip
        if fault >= 0:
            number, instance = int(chosen[fault]), self.mdps[fault].instance
            flat, ends = tours.customers[number], tours.ends[number, : tours.routes[number] + 1]
            Solution(instance, [flat[low:high] for low, high in pairwise(ends)]).checked(f"the start of lane {fault}")
            raise InputError(f"the start of lane {fault} breaks a rule of {instance.name}.")
        if observe:
            self.observe()

    @cached_property
    def _tables(self) -> Struct:
        """Operators as they were when they were first asked for."""
        return self.portfolio.tables

    def step(self, actions: npt.NDArray[np.integer], observe: bool = True) -> None:
        """Apply one action in each lane that is not done; rewards, costs and the observation are overwritten."""
        step, _, _ = _functions()
        chosen = np.ascontiguousarray(actions, dtype=np.int64)
        if chosen.shape != (len(self),):
            raise InputError(f"{len(self)} lanes need as many actions; {chosen.shape} given.")
        wrong = (self._longs[:, LEFT] > 0) & ~self._is_allowed(chosen)
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            phase = ("destroy", "repair")[int(self._longs[lane, PHASE])]
            raise InputError(f"action {chosen[lane]} of lane {lane} is no {phase} operator of its portfolio.")
        tables = self._tables
        self._share(lambda low, high: step(self._addresses, tables, chosen, self._longs, self._floats, low, high))
        if observe:
            self.observe()

    def observe(self) -> None:
        """Write the observation of every lane."""
        _, observe, _ = _functions()
        node_stride = self.node_features.shape[1] * self.node_features.shape[2]

        def write(low: int, high: int) -> int:
            observe(
                self._addresses, self.features.index, self.node_features.reshape(-1), self.global_features.reshape(-1),
                self._allowed, self.action_mask, node_stride, self.global_features.shape[1],
                len(self.portfolio.destroys), self._longs, low, high,
            )  # fmt: skip
            return -1

        self._share(write)

    def play(self, selector: Selector) -> npt.NDArray[np.int64]:
        """Play all episodes to their end by a selector, compiled; return how often each lane used each operator.

        Observations are not written.
        """
        _, _, play = _functions()
        if any(mdp.portfolio.actions != self.portfolio.actions for mdp in self.mdps):
            raise InputError("a selector plays lanes of one portfolio.")
        if selector.adapts:
            raise InputError(f"selector {selector.name!r} learns from a search and plays no episodes.")
        if selector.uses_history and not self.history:
            raise InputError(f"selector {selector.name!r} reads the history of arcs, which these lanes do not keep.")
        choose = address_of(selector.functions()[0])
        uses = np.zeros(self.action_mask.shape, np.int64)
        tables = self._tables

        def work(low: int, high: int) -> int:
            memories = self._memories(selector, low, high)
            addresses = np.array([memory.address for memory in memories], dtype=np.int64)
            return int(play(self._addresses, tables, choose, addresses, self._longs, self._floats, uses, low, high))

        self._share(work, selector.name, is_own(type(selector).choose))
        return uses

    def _memories(self, selector: Selector, low: int, high: int) -> list[Struct]:
        """Return a memory for each lane from ``low`` to ``high`` − 1, one for all if choosing does not change it."""
        made: dict[int, Struct] = {}
        found = []
        for lane in range(low, high):
            instance = self.mdps[lane].instance
            key = id(instance) if selector.simulates else 0
            first = made.get(key)
            if first is None:
                first = made[key] = new_memory_of(selector, self.portfolio, int(self._sizes.max()), instance)
                found.append(first)
            else:
                found.append(first.twin(selector.shared) if selector.remembers else first)
        return found

    def run(self, work: Callable[..., int], name: str, copy: State) -> None:
        """Run a compiled player over all lanes: it takes addresses, whole numbers and floats of the lanes.

        It tries things in a ``copy`` of a lane's state.
        """
        works = [lambda: work(self._addresses, self._longs, self._floats)]
        self._do(works, name, self._has_own_functions, lambda chunk: copy, [(0, len(self))])

    def solution(self, lane: int) -> Solution:
        """Return the routes of a lane; in the repair phase the removed customers are missing."""
        instance = self.mdps[lane].instance
        return Solution(instance, routes_of(self._states[lane]))

    def state(self, lane: int) -> State:
        """Return the compiled state of a lane."""
        return self._states[lane]

    def tour_edges(self, out: npt.NDArray[np.int32]) -> None:
        """Write predecessor and successor of each node into the first two columns of (lanes, nodes, columns)."""
        for lane, state in enumerate(self._states):
            _tour_edges(state, out[lane].reshape(-1), 0, out.shape[2])

    def _is_allowed(self, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        inside = (actions >= 0) & (actions < self._allowed.shape[1])
        bounded = np.where(inside, actions, 0)
        in_phase = (bounded >= len(self.portfolio.destroys)) == (self._longs[:, PHASE] == REPAIR)
        return np.asarray(inside & in_phase & (self._allowed[np.arange(len(self)), bounded] == 1))

    def _share(self, work: Callable[[int, int], int], selector: str = "own", own: bool = False) -> None:
        """Run compiled work on chunks of lanes, each in a thread; what a lane does never depends on the others."""
        works = [partial(work, low, high) for low, high in self._chunks]
        self._do(works, selector, own or self._has_own_functions, self._busy, self._chunks)

    def _busy(self, chunk: tuple[int, int]) -> State | None:
        """Return the state of the lane of a chunk that is being worked on."""
        return next((self._states[lane] for lane in range(*chunk) if self._longs[lane, BUSY]), None)

    def _do(
        self,
        works: Sequence[Callable[[], int]],
        selector: str,
        own: bool,
        busy: Callable[[tuple[int, int]], State | None],
        chunks: Sequence[tuple[int, int]],
    ) -> None:
        """Do compiled works, each on a chunk of lanes, and refuse what breaks a contract.

        Functions from outside the package are watched, and their exceptions taken note of.
        """
        if not own:
            each = map if self._threads is None else self._threads.map
            self._check(list(each(lambda work: work(), works)), selector)
            return
        failures: list[GivenUpError] = []

        def called(chunk: tuple[int, int]) -> str:
            state = busy(chunk)
            running = CHOOSING if state is None else int(state.status.running)
            return called_last(running, self.portfolio, selector, self.mdps[chunk[0]].acceptance)

        def note(chunk: tuple[int, int], said: str) -> None:
            failures.append(GivenUpError(called(chunk), said))
            state = busy(chunk)
            if state is not None:
                state.fault = FAILED

        def guarded(work: Callable[[], int], chunk: tuple[int, int]) -> int:
            with catching(partial(note, chunk)):
                return work()

        def moves() -> object:
            return self._longs.tobytes(), [state and state.status.iteration for state in map(busy, chunks)]

        def stuck() -> str:
            return next((called(chunk) for chunk in chunks if busy(chunk) is not None), called(chunks[0]))

        guarded_works = [partial(guarded, *each) for each in zip(works, chunks, strict=True)]
        faults = watch(guarded_works, moves, stuck)
        if failures:
            raise failures[0]
        self._check(faults, selector)

    def _check(self, faults: Sequence[int], selector: str) -> None:
        for lane in faults:
            if lane >= 0:
                row = self._longs[lane]
                code, state = -int(row[PHASE]), self._states[lane]
                choice = chosen(code, int(row[CHOICE]), state.status)
                raise broken_contract(code, self.portfolio, selector, choice, int(row[SCALE]), state)


def common_portfolio(portfolios: Sequence[Portfolio]) -> Portfolio:
    """Return the portfolio that numbers the actions of several: the longest, of which the others must be part."""
    longest = max(portfolios, key=lambda portfolio: len(portfolio.actions))
    for portfolio in portfolios:
        for name in portfolio.actions:
            if name not in longest.actions:
                raise InputError(
                    f"lanes cannot mix portfolio {portfolio.name!r} with {longest.name!r}, which has no {name!r}."
                )
        if portfolio.improves != longest.improves:
            raise InputError(
                f"lanes cannot mix portfolios {portfolio.name!r} and {longest.name!r}: they improve otherwise."
            )
    return longest
