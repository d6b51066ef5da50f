"""Portfolios: which operators, in which order, how many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import plane
from neuralns import (
    Group,
    InputError,
    Instance,
    MaxIterations,
    Portfolio,
    Shipment,
    VehicleType,
    make_portfolio,
    portfolio_named,
    solve,
)
from neuralns.compiled.calls import MOST_PARAMETERS
from neuralns.operators.contract import FINE, apply_destroy
from neuralns.operators.portfolio import PAPER_DESTROYS, default_for, fullness, portfolio_names, strongest_for
from neuralns.operators.registry import Operator, operator, operators
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import new_state


def test_the_paper_portfolio_has_twelve_destroys_and_two_repairs_in_the_decoded_order() -> None:
    paper = portfolio_named("paper")
    assert [entry.name for entry in paper.destroys] == list(PAPER_DESTROYS)
    assert len(paper.destroys) == 12
    assert [paper.destroys[4].name, paper.destroys[11].name] == ["random-route", "greedy-route"]
    assert [entry.name for entry in paper.repairs] == ["greedy", "regret-2"]
    kinds = {entry.name: entry.kind for entry in operators()}
    assert sorted(kinds[name] for name in PAPER_DESTROYS) == ["greedy"] * 3 + ["random"] * 2 + ["related"] * 7


@pytest.mark.parametrize("size", range(2, 13))
def test_prefixes_of_the_paper_portfolio_grow_one_by_one(size: int) -> None:
    portfolio = portfolio_named(f"paper-{size}")
    assert [entry.name for entry in portfolio.destroys] == list(PAPER_DESTROYS[:size])
    assert len(portfolio.repairs) == 2
    assert f"paper-{size}" in portfolio_names()


def test_a_portfolio_is_a_list_of_names_in_order() -> None:
    portfolio = portfolio_named("pair, greedy,worst-node")
    assert [entry.name for entry in portfolio.destroys] == ["pair", "worst-node"]
    assert portfolio.names == ("pair", "worst-node", "greedy")


def test_a_portfolio_in_a_list_stands_for_its_operators() -> None:
    assert portfolio_named("modern,zone,greedy").names == ("string", "zone", "blinks", "regret-2", "greedy")
    assert portfolio_named("modern,zone,greedy").name == "modern,zone,greedy"
    assert make_portfolio("own", ["modern", operator("zone")]).names == ("string", "zone", "blinks", "regret-2")


@pytest.mark.parametrize("name", ["modern,string", "string,modern", "modern,modern", "modern, string, regret-2"])
def test_an_operator_of_a_portfolio_that_is_listed_too_is_there_once(name: str) -> None:
    assert sorted(portfolio_named(name).names) == sorted(portfolio_named("modern").names)
    assert make_portfolio("own", [operator("string"), "modern"]).names == portfolio_named("modern").names


def test_portfolios_that_share_operators_join() -> None:
    joined = portfolio_named("modern,paper").names
    assert set(joined) == {*portfolio_named("modern").names, *portfolio_named("paper").names}
    assert len(set(joined)) == len(joined)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nonsense", "portfolio 'nonsense' is not known"),
        ("paper-13", "portfolio 'paper-13' is not known"),
        ("pair,nonsense", "operator 'nonsense' is not known"),
        ("pair,worst-node", "has no repair operator"),
        ("greedy,regret-2", "has no destroy operator"),
        ("pair,pair,greedy", "names operator 'pair' twice"),
    ],
)
def test_a_portfolio_that_cannot_be_is_refused(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        portfolio_named(name)


def test_a_portfolio_is_made_of_names_and_operators() -> None:
    paper = portfolio_named("paper")
    assert make_portfolio("own", [paper.destroys[0], "greedy"]).names == ("worst-node", "greedy")


def test_whether_the_history_of_arcs_is_needed_is_told() -> None:
    assert portfolio_named("paper").uses_history
    assert portfolio_named("paper-11").uses_history
    assert not portfolio_named("paper-10").uses_history
    assert not portfolio_named("modern").uses_history


def test_variants_of_one_operator_stand_side_by_side() -> None:
    portfolio = portfolio_named("string:longest=1, string:longest=3:split=0, string, blinks:rate=0")
    assert portfolio.names == ("string:longest=1", "string:longest=3:split=0", "string", "blinks:rate=0")
    with pytest.raises(InputError, match="names operator 'string:longest=1' twice"):
        portfolio_named("string:longest=1,string:longest=1,greedy")


def test_variants_of_one_operator_behave_as_their_parameters_say() -> None:
    # Two routes of eight customers side by side: strings of one customer come from both, long ones from one.
    rows = [(float(place), 10.0 + row) for row in (0, 1) for place in range(8)]
    solution = plane([(0, 0), *rows], [list(range(1, 9)), list(range(9, 17))])
    portfolio = portfolio_named("string:longest=1,string:longest=8:split=0,greedy")

    def share_of_one_route(choice: int) -> float:
        found = 0
        for seed in range(300):
            state = new_state(solution.instance, seed, solution=solution)
            checkpoint(state)
            assert apply_destroy(state, portfolio.tables, choice, 2) == FINE
            found += len({int(customer) > 8 for customer in state.removed[:2]}) == 1
        return found / 300

    assert share_of_one_route(0) == 0
    assert share_of_one_route(1) > 0.7


def test_tables_hold_the_parameters_of_each_operator() -> None:
    tables = portfolio_named("zone,string:split=0.25,worst-node:determinism=7,blinks:rate=0.5,greedy").tables
    assert (tables.n_destroys, tables.n_repairs) == (3, 2)
    assert tables.destroy_counts.tolist() == [0, 3, 1]
    assert tables.destroy_parameters.shape == (3, MOST_PARAMETERS)
    assert tables.destroy_parameters[1, :3].tolist() == [10.0, 0.25, 0.99]
    assert tables.destroy_parameters[2, 0] == 7.0
    assert tables.repair_counts.tolist() == [2, 0]
    assert tables.repair_parameters[0, 0] == 0.5


def test_improve_operators_are_no_actions_but_have_names() -> None:
    portfolio = portfolio_named("or-opt:share=0.5,zone,2-opt:near=4,greedy")
    assert portfolio.actions == ("zone", "greedy")
    assert portfolio.names == ("zone", "greedy", "or-opt:share=0.5", "2-opt:near=4")
    tables = portfolio.tables
    assert (tables.n_destroys, tables.n_repairs, tables.n_improves) == (1, 1, 2)
    assert tables.improve_shares.tolist() == [0.5, 1.0]
    assert tables.improve_counts.tolist() == [2, 1]
    assert tables.improve_parameters[:, :2].tolist() == [[10.0, 3.0], [4.0, 0.0]]
    with_improves = [name for name in portfolio_names() if portfolio_named(name).improves]
    assert with_improves == ["plain", "large", "long", "tight", "wide"]


def test_too_many_improve_operators_are_refused() -> None:
    crowd = [f"or-opt:near={near}" for near in range(1, 62)]
    with pytest.raises(InputError, match=r"has 61 improve operators; 60 at most\.$"):
        make_portfolio("crowd", ["zone", "greedy", *crowd])


def test_too_many_operators_are_refused() -> None:
    crowd = ",".join(f"string:longest={longest}" for longest in range(1, 8001))
    with pytest.raises(InputError, match=r"^portfolio 'string:longest=1,.{30,60} has 8001 operators; 500 at most\.$"):
        portfolio_named(f"{crowd},greedy")


@pytest.mark.parametrize("count", [33, 45, 120])
def test_as_many_operators_as_one_likes_run(count: int) -> None:
    destroys = [operator(f"string:longest={longest}") for longest in range(1, count + 1)]
    repairs = [operator(f"blinks:rate={rate / 1000}") for rate in range(1, count + 1)]
    portfolio = Portfolio("crowd", tuple(destroys), tuple(repairs))
    result = solve("E-n22-k4", MaxIterations(100 * count), portfolio=portfolio, seed=1)
    assert result.feasible
    assert len(result.operators) == 2 * count
    for phase in ("destroy", "repair"):
        used = [use.used for use in result.operators if use.phase == phase]
        assert sum(used) == 100 * count
        assert np.array(used) == pytest.approx(np.full(count, 100), abs=60)


def test_all_operators_there_are_form_one_portfolio() -> None:
    built_in: list[str | Operator] = [entry for entry in operators() if entry.kind != "own"]
    result = solve("E-n22-k4", MaxIterations(3000), portfolio=make_portfolio("all", built_in))
    assert result.feasible
    assert all(use.used > 0 for use in result.operators)


def _fleet(available: int | None, **values: Any) -> Instance:
    """Four stops with windows that need 8 of what each vehicle carries 5 of."""
    changes: dict[str, Any] = {"deliveries": [0, 2, 2, 2, 2], "fleet": [VehicleType(5, available)]}
    return Instance(
        "fleet", None, coordinates=[(0, 0), (1, 1), (2, 1), (3, 1), (4, 1)], windows=[[0, 99]] * 5, **changes | values
    )


def test_how_full_vehicles_are_is_told_by_what_they_are_fullest_of() -> None:
    assert fullness(_fleet(2)) == 8 / 10
    assert fullness(_fleet(None)) == 0.0
    assert fullness(_fleet(2, pickups=[0, 5, 4, 0, 0])) == 9 / 10
    two = [VehicleType([5, 9], 2), VehicleType([1, 1], 2), VehicleType([99, 1], 0)]
    amounts = [[0, 0], [2, 9], [2, 1], [2, 0], [2, 0]]
    assert fullness(_fleet(2, deliveries=amounts, fleet=two)) == 8 / 12
    assert fullness(_fleet(2, deliveries=[0] * 5)) == 0.0
    assert fullness(_fleet(2, deliveries=[0, 0, 0, 2, 2], shipments=[Shipment(1, 2, 2)])) == 0.0
    assert fullness(_fleet(2, groups=[Group([1, 2])])) == 0.0


def test_full_vehicles_have_a_portfolio_of_their_own() -> None:
    assert [default_for(_fleet(count)) for count in (2, 3, None)] == ["tight", "windows", "windows"]
    assert [strongest_for(_fleet(count)) for count in (2, 3, None)] == ["windows"] * 3
    assert solve(_fleet(2), MaxIterations(50)).best.broken_rules() == []
