"""Cutting stock: pieces of given lengths from as few beams of equal length as possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from benchmarks.alns.problem import Problem, in_three_sizes

BEAM = 1000
PIECES = 600


class Plan:
    """The pieces of each beam, by length; destroyed, the plan lacks the pieces in ``missing``."""

    def __init__(self, beams: list[list[int]], missing: list[int]) -> None:
        self.beams, self.missing = beams, missing

    def objective(self) -> float:
        return len(self.beams)

    def get_context(self) -> npt.NDArray[np.float64]:
        waste = BEAM - np.array(list(map(sum, self.beams)))
        return np.array([waste.mean(), waste.std(), waste.max(), np.mean(waste == 0), np.mean(waste > 200)])


def initial(seed: int) -> Plan:
    """Pieces in the order in which they come, each in the first beam that has room."""
    rng = np.random.default_rng([13, seed])
    plan = Plan([], rng.integers(200, 501, PIECES).tolist())
    return first_fit(plan, rng)


def without(plan: Plan, gone: list[int]) -> Plan:
    """Take whole beams apart."""
    chosen = set(gone)
    kept = [list(beam) for index, beam in enumerate(plan.beams) if index not in chosen]
    return Plan(kept, [piece for index in gone for piece in plan.beams[index]])


def first_beams(plan: Plan, order: npt.NDArray[np.int64], size: int) -> list[int]:
    """Return the first beams in an order that hold so many pieces, at least two."""
    held = np.cumsum([len(plan.beams[index]) for index in order.tolist()])
    chosen: list[int] = order[: max(2, int(held.searchsorted(size)) + 1)].tolist()
    return chosen


def random_removal(plan: Plan, rng: np.random.Generator, size: int) -> Plan:
    return without(plan, first_beams(plan, rng.permutation(len(plan.beams)), size))


def worst_removal(plan: Plan, rng: np.random.Generator, size: int) -> Plan:
    """Take beams apart that waste most, with some chance in the order."""
    waste = BEAM - np.array(list(map(sum, plan.beams)))
    return without(plan, first_beams(plan, np.argsort(-(waste + 1) * rng.random(len(waste))), size))


def piece_removal(plan: Plan, rng: np.random.Generator, size: int) -> Plan:
    """Take single pieces out of their beams."""
    chosen = set(rng.choice(PIECES, size, replace=False).tolist())
    beams: list[list[int]] = []
    missing: list[int] = []
    count = 0
    for beam in plan.beams:
        kept: list[int] = []
        for piece in beam:
            (missing if count in chosen else kept).append(piece)
            count += 1
        if kept:
            beams.append(kept)
    return Plan(beams, missing)


def first_fit(plan: Plan, rng: np.random.Generator) -> Plan:
    """Put each piece, in random order, into the first beam that has room."""
    rng.shuffle(plan.missing)
    rooms = [BEAM - sum(beam) for beam in plan.beams]
    for piece in plan.missing:
        index = next((index for index, room in enumerate(rooms) if piece <= room), len(rooms))
        if index == len(rooms):
            rooms.append(BEAM)
            plan.beams.append([])
        plan.beams[index].append(piece)
        rooms[index] -= piece
    plan.missing = []
    return plan


def least_waste(plan: Plan, rng: np.random.Generator) -> Plan:
    """Put each piece, longest first, into the beam where least room is left over."""
    rooms = [BEAM - sum(beam) for beam in plan.beams]
    for piece in sorted(plan.missing, reverse=True):
        best, chosen = BEAM + 1, -1
        for index, room in enumerate(rooms):
            if piece <= room < best:
                best, chosen = room, index
        if chosen < 0:
            chosen = len(rooms)
            rooms.append(BEAM)
            plan.beams.append([])
        plan.beams[chosen].append(piece)
        rooms[chosen] -= piece
    plan.missing = []
    return plan


def exact_filling(plan: Plan, rng: np.random.Generator) -> Plan:
    """Fill one beam after the other as full as the missing pieces can; put the last ones where least is wasted."""
    pieces = plan.missing
    rng.shuffle(pieces)
    while pieces and sum(pieces) > BEAM // 2:
        reached: dict[int, tuple[int, ...]] = {0: ()}
        for index, piece in enumerate(pieces):
            for total, used in list(reached.items()):
                if total + piece <= BEAM and total + piece not in reached:
                    reached[total + piece] = (*used, index)
            if BEAM in reached:
                break
        chosen = set(reached[max(reached)])
        plan.beams.append([pieces[index] for index in chosen])
        pieces = [piece for index, piece in enumerate(pieces) if index not in chosen]
    plan.missing = pieces
    return least_waste(plan, rng)


PROBLEM = Problem(
    "cutting",
    initial,
    in_three_sizes([random_removal, worst_removal, piece_removal], PIECES),
    {"first fit": first_fit, "least waste": least_waste, "exact filling": exact_filling},
)
