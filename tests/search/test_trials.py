"""Trials that find the best fixed pair."""

from __future__ import annotations

import pytest

from helpers import WASTEFUL
from neuralns import (
    Fixed,
    MaxIterations,
    MaxTime,
    Operator,
    make_mdp,
    make_portfolio,
    nearest_insertion,
    portfolio_named,
    read,
    savings,
)
from neuralns.search import trials as trials_module
from neuralns.search.search import Search
from neuralns.search.trials import Trials

INSTANCES = [read("E-n22-k4"), read("P-n16-k8")]


def test_the_best_pair_is_found() -> None:
    # In the paper's setting a route costs 100: to open one for each customer is the worst of all.
    instance = make_mdp("R101", customers=20).instance
    entries: list[str | Operator] = ["random-node", WASTEFUL, "greedy"]
    for order in (entries, entries[::-1]):
        portfolio = make_portfolio("own", order)
        trials = Trials([instance], portfolio, MaxIterations(100), 1.0, scale=8)
        assert trials.best_fixed() == Fixed("random-node", "greedy")


def test_the_same_trials_find_the_same_pair_on_any_number_of_threads() -> None:
    portfolio = portfolio_named("zone,string,worst-node,greedy,blinks")
    found = {
        Trials(INSTANCES, portfolio, MaxIterations(200), 0.5, workers=workers).best_fixed() for workers in (1, 1, 3)
    }
    assert len(found) == 1


def test_every_pair_is_tried_on_every_instance_for_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Watched(Search):
        def reason_to_stop(self) -> str | None:
            reason = super().reason_to_stop()
            if reason is not None:
                seen.append((self.setup.selector, self.setup.instance, self.iteration, self.setup.quotas))
            return reason

    monkeypatch.setattr(trials_module, "Search", Watched)
    portfolio = portfolio_named("zone,string,greedy,blinks")
    Trials(INSTANCES, portfolio, MaxIterations(200), 0.25, scale=3).best_fixed()
    assert seen == [
        (Fixed(destroy, repair), instance, 50, (3, 3))
        for destroy in ("zone", "string")
        for repair in ("greedy", "blinks")
        for instance in INSTANCES
    ]


def test_costs_are_compared_by_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first pair saves 10 of 10000, the second one loses 10 % of 100: relative to the best, it is the worse one.
    costs = {
        ("zone", "E-n22-k4"): 10010.0, ("zone", "P-n16-k8"): 100.0,
        ("string", "E-n22-k4"): 10000.0, ("string", "P-n16-k8"): 110.0,
    }  # fmt: skip
    monkeypatch.setattr(
        Trials, "_cost", lambda self, pair, instance: costs[pair.destroy, instance.name.partition(":")[0]]
    )
    trials = Trials(INSTANCES, portfolio_named("string,zone,greedy"), MaxIterations(10), 1.0)
    assert trials.best_fixed() == Fixed("zone", "greedy")


def test_the_only_pair_is_the_best() -> None:
    assert Trials(INSTANCES[:1], portfolio_named("zone,greedy"), MaxTime(0.05), 0.5).best_fixed() == Fixed(
        "zone", "greedy"
    )


def test_trials_start_from_what_they_are_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Watched(Search):
        def reason_to_stop(self) -> str | None:
            seen.append(self.setup.initial)
            return "enough"

    monkeypatch.setattr(trials_module, "Search", Watched)
    portfolio = portfolio_named("zone,string,greedy")
    for initial in ("savings", "insertion", "random"):
        Trials(INSTANCES[:1], portfolio, MaxIterations(5), 1.0, initial=initial).best_fixed()
    # All pairs start alike.
    assert seen[0] == seen[1] == savings(INSTANCES[0])
    assert seen[2] == seen[3] == nearest_insertion(INSTANCES[0])
    assert seen[4] == seen[5]
    assert seen[4].cost > seen[0].cost
