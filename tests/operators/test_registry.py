"""Registration, portfolios, and a user's own operators."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import neuralns
from neuralns import InputError, MaxIterations, OperatorError, load_operators, make_portfolio, portfolio_named, solve
from neuralns.operators.registry import PAPER_DESTROYS, operators, portfolio_names

HEADER = "from neuralns import destroy, repair\nfrom neuralns.operators.state import *\n"


def written(folder: Path, body: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(HEADER + textwrap.dedent(body))
    return path


def run(path: Path, *names: str) -> neuralns.Result:
    load_operators(path)
    return solve("E-n22-k4", MaxIterations(50), portfolio=list(names), scale=4)


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


def test_a_users_operator_runs_next_to_the_built_in_ones(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        @destroy("own-first-ones")
        def first_ones(state, quota):
            '''Remove the customers with the smallest numbers.'''
            for customer in range(1, quota + 1):
                remove(state, customer)

        @repair("own-anywhere")
        def anywhere(state):
            '''Open a route for each customer.'''
            while state.n_removed > 0:
                insert(state, state.removed[0], open_route(state), 0)
        """,
    )
    result = run(path, "own-first-ones", "worst-node", "own-anywhere", "greedy")
    assert result.feasible
    assert {use.name: use.used > 0 for use in result.operators} == {
        "own-first-ones": True,
        "worst-node": True,
        "own-anywhere": True,
        "greedy": True,
    }
    assert load_operators(path)[0].summary == "Remove the customers with the smallest numbers."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@destroy('w-signature')\ndef f(state): pass", "operator 'w-signature' takes \\(state\\)"),
        ("@repair('w-signature-2')\ndef f(state, quota): pass", "operator 'w-signature-2' takes \\(state, quota\\)"),
        ("@destroy('two words')\ndef f(state, quota): pass", "operator name 'two words'"),
        ("@destroy('worst-node')\ndef f(state, quota): pass", "operator 'worst-node' is registered already"),
    ],
)
def test_a_mistake_in_the_declaration_is_named(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        load_operators(written(tmp_path, body))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "@destroy('w-quota')\ndef f(state, quota):\n    remove(state, 1)",
            "operator 'w-quota' removed 1 customers, but its quota was 4",
        ),
        (
            "@destroy('w-twice')\ndef f(state, quota):\n    for _ in range(quota):\n        remove(state, 3)",
            "operator 'w-twice' removed customer 3, which is not on a route",
        ),
        (
            "@destroy('w-name')\ndef f(state, quota):\n    state.nonsense = 3",
            "operator 'w-name' does not compile: .*nonsense",
        ),
        (
            "@destroy('w-undefined')\ndef f(state, quota):\n    nobody(state)",
            "operator 'w-undefined' does not compile: .*nobody",
        ),
    ],
)
def test_a_mistake_in_a_destroy_operator_is_reported_by_name(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said) as caught:
        run(written(tmp_path, body), body.split("'")[1], "greedy")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@repair('w-idle')\ndef f(state): pass", "operator 'w-idle' left 4 customers on the removal list"),
        (
            "@repair('w-place')\ndef f(state):\n    insert(state, state.removed[0], 0, state.removed[0])",
            "operator 'w-place' inserted customer",
        ),
        (
            "@repair('w-slot')\ndef f(state):\n    insert(state, state.removed[0], state.customers - 1, 0)",
            "operator 'w-slot' inserted customer",
        ),
        (
            "@repair('w-load')\ndef f(state):\n    slot = state.active[0]\n    while state.n_removed > 0:\n"
            "        insert(state, state.removed[0], slot, 0)",
            "operator 'w-load' overloaded a route",
        ),
    ],
)
def test_a_mistake_in_a_repair_operator_is_reported_by_name(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        run(written(tmp_path, body), "random-node", body.split("'")[1])


def test_an_operator_typed_at_a_prompt_runs_as_well() -> None:
    program = """
import neuralns
from neuralns.operators.state import remove
@neuralns.destroy("typed")
def typed(state, quota):
    for customer in range(1, quota + 1):
        remove(state, customer)
print(neuralns.solve("E-n22-k4", neuralns.MaxIterations(10), portfolio=["typed", "greedy"]).feasible)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_file_that_is_missing_fails_or_registers_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.py: cannot be read"):
        load_operators(tmp_path / "absent.py")
    with pytest.raises(InputError, match=r"fails when run \(ZeroDivisionError"):
        load_operators(written(tmp_path, "1 / 0"))
    with pytest.raises(InputError, match="registers no operator"):
        load_operators(written(tmp_path, "x = 1", "empty.py"))
    with pytest.raises(InputError, match=r"fails when run \(SyntaxError"):
        load_operators(written(tmp_path, "def", "broken.py"))


def test_too_many_operators_are_refused() -> None:
    paper = portfolio_named("paper")
    with pytest.raises(InputError, match="36 destroy operators, at most 32"):
        neuralns.Portfolio("crowd", paper.destroys * 3, paper.repairs)
    assert make_portfolio("own", [paper.destroys[0], "greedy"]).names == ("worst-node", "greedy")
