"""Resource-constrained project scheduling: activities with predecessors share renewable resources; end early."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from benchmarks.alns.problem import Problem, in_three_sizes

ACTIVITIES, RESOURCES = 90, 4


class Project:
    """An instance by its seed: durations of 1 to 10, up to three successors each, scarce resources."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([15, seed])
        self.durations: list[int] = rng.integers(1, 11, ACTIVITIES).tolist()
        needs = rng.integers(1, 11, (ACTIVITIES, RESOURCES)) * (rng.random((ACTIVITIES, RESOURCES)) < 0.5)
        self.needs: list[list[int]] = needs.tolist()
        self.capacity: list[int] = np.maximum(needs.max(axis=0), np.round(needs.mean(axis=0) * 3)).astype(int).tolist()
        self.before: list[list[int]] = [[] for _ in range(ACTIVITIES)]
        self.after: list[list[int]] = [[] for _ in range(ACTIVITIES)]
        for activity in range(ACTIVITIES - 1):
            latest = min(ACTIVITIES, activity + 16)
            count = min(int(rng.integers(1, 4)), latest - activity - 1)
            for later in rng.choice(np.arange(activity + 1, latest), count, replace=False).tolist():
                self.before[later].append(activity)
                self.after[activity].append(later)
        # All that must be done earlier or later, not only next to it: a list may lack what stands between two.
        self.earlier: list[set[int]] = [set() for _ in range(ACTIVITIES)]
        self.later: list[set[int]] = [set() for _ in range(ACTIVITIES)]
        for activity in range(ACTIVITIES):
            for other in self.before[activity]:
                self.earlier[activity] |= self.earlier[other] | {other}
            for other in self.earlier[activity]:
                self.later[other].add(activity)
        self.horizon = sum(self.durations)


def serial(project: Project, order: list[int], before: list[list[int]]) -> list[int]:
    """Start each activity, in order, as early as its predecessors and the resources let it."""
    free = [list(project.capacity) for _ in range(project.horizon + 11)]
    starts = [0] * ACTIVITIES
    durations = project.durations
    for activity in order:
        begin = 0
        for other in before[activity]:
            end = starts[other] + durations[other]
            if end > begin:
                begin = end
        length = durations[activity]
        used = [(kind, need) for kind, need in enumerate(project.needs[activity]) if need]
        moment = begin
        while moment < begin + length:
            row = free[moment]
            for kind, need in used:
                if row[kind] < need:
                    begin = moment + 1
                    break
            moment += 1
        starts[activity] = begin
        for moment in range(begin, begin + length):
            row = free[moment]
            for kind, need in used:
                row[kind] -= need
    return starts


class Schedule:
    """A list of activities that keeps to their precedence, and the starts that follow from it."""

    def __init__(self, project: Project, order: list[int], missing: list[int]) -> None:
        self.project, self.order, self.missing = project, order, missing
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        if self._starts is None:
            self._starts = serial(self.project, self.order, self.project.before)
        return self._starts

    def objective(self) -> float:
        return max(map(int.__add__, self.starts, self.project.durations))

    def use(self) -> npt.NDArray[np.float64]:
        """Share of all resources in use at each moment."""
        span = int(self.objective())
        used = np.zeros((span + 1, RESOURCES))
        for activity, start in enumerate(self.starts):
            end = start + self.project.durations[activity]
            used[start] += self.project.needs[activity]
            used[end] -= self.project.needs[activity]
        shares: npt.NDArray[np.float64] = (used.cumsum(axis=0)[:span] / self.project.capacity).mean(axis=1)
        return shares

    def get_context(self) -> npt.NDArray[np.float64]:
        use = self.use()
        third = len(use) // 3
        return np.array([use.mean(), use.std(), use[:third].mean(), use[third:-third].mean(), use[-third:].mean()])


def initial(seed: int) -> Schedule:
    """Activities by their numbers, which keep to precedence."""
    return Schedule(Project(seed), list(range(ACTIVITIES)), [])


def without(state: Schedule, gone: list[int]) -> Schedule:
    chosen = set(gone)
    return Schedule(state.project, [activity for activity in state.order if activity not in chosen], gone)


def mobile_removal(state: Schedule, rng: np.random.Generator, size: int) -> Schedule:
    """Remove activities with much room between their predecessors and successors in the list, by chance."""
    place = {activity: index for index, activity in enumerate(state.order)}
    room = np.empty(ACTIVITIES)
    for activity in range(ACTIVITIES):
        low = max((place[other] for other in state.project.before[activity]), default=-1)
        high = min((place[other] for other in state.project.after[activity]), default=ACTIVITIES)
        room[activity] = high - low - 1
    return without(state, np.argsort(-room * rng.random(ACTIVITIES))[:size].tolist())


def idle_removal(state: Schedule, rng: np.random.Generator, size: int) -> Schedule:
    """Remove activities that run while little else does, by chance."""
    use = state.use()
    share = np.empty(ACTIVITIES)
    for activity, start in enumerate(state.starts):
        share[activity] = use[start : start + state.project.durations[activity]].mean()
    return without(state, np.argsort(share + rng.random(ACTIVITIES) * share.std() * 3)[:size].tolist())


def segment_removal(state: Schedule, rng: np.random.Generator, size: int) -> Schedule:
    begin = int(rng.integers(ACTIVITIES - size + 1))
    return without(state, state.order[begin : begin + size])


def random_removal(state: Schedule, rng: np.random.Generator, size: int) -> Schedule:
    return without(state, rng.choice(ACTIVITIES, size, replace=False).tolist())


def bounds(state: Schedule, activity: int) -> tuple[int, int]:
    """Return the first and last place where precedence lets an activity be inserted."""
    before, after = state.project.earlier[activity], state.project.later[activity]
    low, high = 0, len(state.order)
    for index, other in enumerate(state.order):
        if other in before:
            low = index + 1
        elif other in after:
            high = index
            break
    return low, high


def random_insertion(state: Schedule, rng: np.random.Generator) -> Schedule:
    """Insert each missing activity anywhere that precedence lets it, predecessors first."""
    for activity in sorted(state.missing):
        low, high = bounds(state, activity)
        state.order.insert(int(rng.integers(low, high + 1)), activity)
    state.missing = []
    return state


def early_insertion(state: Schedule, rng: np.random.Generator) -> Schedule:
    """Insert each missing activity as early as precedence lets it, in the random order of ready ones."""
    for activity in sorted(state.missing):
        low, high = bounds(state, activity)
        state.order.insert(min(high, low + int(rng.geometric(0.3)) - 1), activity)
    state.missing = []
    return state


def insertion_and_justification(state: Schedule, rng: np.random.Generator) -> Schedule:
    """Insert anywhere, then schedule backward by ends and forward by starts (Valls et al. 2005)."""
    random_insertion(state, rng)
    project = state.project
    ends = [start + length for start, length in zip(state.starts, project.durations, strict=True)]
    backward = serial(project, sorted(range(ACTIVITIES), key=lambda a: (-ends[a], -a)), project.after)
    span = max(map(int.__add__, backward, project.durations))
    late = [span - start - length for start, length in zip(backward, project.durations, strict=True)]
    return Schedule(project, sorted(range(ACTIVITIES), key=lambda a: (late[a], a)), [])


PROBLEM = Problem(
    "projects",
    initial,
    in_three_sizes([mobile_removal, idle_removal, segment_removal, random_removal], ACTIVITIES),
    {"random": random_insertion, "early": early_insertion, "justification": insertion_and_justification},
)
