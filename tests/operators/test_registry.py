"""Operators by name, with their parameters, and a user's own."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import neuralns
from helpers import on_a_line, outcomes, plane
from neuralns import InputError, InputWarning, MaxIterations, OperatorError, load_operators, solve
from neuralns.compiled.calls import MOST_PARAMETERS
from neuralns.operators import registry
from neuralns.operators.dial import Dial
from neuralns.operators.own_file import run_python_file
from neuralns.operators.registry import operator, operators

HEADER = "from neuralns import destroy, repair\nfrom neuralns.operators.toolkit import *\n"


def written(folder: Path, body: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(HEADER + textwrap.dedent(body))
    return path


def run(path: Path, *names: str) -> neuralns.Result:
    load_operators(path)
    return solve("E-n22-k4", MaxIterations(50), portfolio=list(names), scale=4)


def test_a_users_operator_runs_next_to_the_built_in_ones(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        @destroy("own-first-ones", dials={"first": Dial("first one", 0.2)})
        def first_ones(state, quota, first=1):
            '''Remove the customers with the smallest numbers.'''
            for customer in range(int(first), int(first) + quota):
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
    assert load_operators(path)[0].dials == (("first", Dial("first one", 0.2)),)
    assert operator("own-first-ones:first=2").dials == load_operators(path)[0].dials
    assert load_operators(path)[0].summary == "Remove the customers with the smallest numbers."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@destroy('w-signature')\ndef f(state): pass", "operator 'w-signature' takes \\(state\\)"),
        ("@repair('w-signature-2')\ndef f(state, quota): pass", "operator 'w-signature-2' takes \\(state, quota\\)"),
        ("@improve('w-signature-3')\ndef f(state, quota): pass", "operator 'w-signature-3' takes \\(state, quota\\)"),
        ("@improve('w-share')\ndef f(state, share=1): pass", "operator 'w-share': an improve operator has a parameter"),
        (
            "@destroy('w-dial', dials={'far': Dial('far')})\ndef f(state, quota, near=1): pass",
            "dial of 'far', which is no",
        ),
        (
            "@destroy('w-dial-2', dials={'near': 3})\ndef f(state, quota, near=1): pass",
            "3 is no dial of parameter 'near'",
        ),
        ("@destroy('two words')\ndef f(state, quota): pass", "operator name 'two words'"),
        ("@destroy('worst-node')\ndef f(state, quota): pass", "operator 'worst-node' is registered already"),
        ("@destroy('with:colon')\ndef f(state, quota): pass", "operator name 'with:colon'"),
        ("@repair('')\ndef f(state): pass", "operator name '' must not be empty"),
        (
            "@destroy('w-default')\ndef f(state, quota, how='far'): pass",
            "operator 'w-default': default 'far' of parameter 'how' is not a number",
        ),
        (
            "@repair('w-crowd')\ndef f(state, a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1): pass",
            "operator 'w-crowd' has 9 parameters; 8 at most",
        ),
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
from neuralns.operators.toolkit import remove
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


# --- Parameters. -----------------------------------------------------------------------------------------------------


def test_a_name_may_set_parameters() -> None:
    plain, longer = operator("string"), operator("string:longest=20:keep=0.5")
    assert plain.parameters == (("longest", 10.0), ("split", 0.5), ("keep", 0.99))
    assert longer.parameters == (("longest", 20.0), ("split", 0.5), ("keep", 0.5))
    assert longer.name == "string:longest=20:keep=0.5"
    assert (longer.phase, longer.kind, longer.summary) == (plain.phase, plain.kind, plain.summary)
    assert plain == operator("string")


def test_an_operator_without_parameters_has_none() -> None:
    assert operator("greedy").parameters == ()
    assert all(len(entry.parameters) <= MOST_PARAMETERS for entry in operators())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "string:length=2",
            "operator 'string' has no parameter 'length' (its parameters: longest, split, keep).",
        ),
        ("greedy:depth=2", "operator 'greedy' has no parameter 'depth' (its parameters: none)."),
        ("string:", "operator 'string' has no parameter '' (its parameters: longest, split, keep)."),
        ("string:longest", "operator 'string': 'longest' does not give a number, such as longest=2."),
        ("string:longest=", "operator 'string': 'longest=' does not give a number, such as longest=2."),
        ("string:longest=far", "operator 'string': 'longest=far' does not give a number, such as longest=2."),
        ("string:longest=nan", "operator 'string': 'longest=nan' does not give a number, such as longest=2."),
        ("string:split=1:keep=inf", "operator 'string': 'keep=inf' does not give a number, such as keep=2."),
        ("strong:longest=2", "operator 'strong' is not known (see 'neuralns operators')."),
    ],
)
def test_parameters_that_cannot_be_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        operator(name)


EXTREME = """
import sys, neuralns
try:
    result = neuralns.solve("E-n22-k4", neuralns.MaxIterations(200), portfolio=sys.argv[1], scale=5)
    print("routes", result.feasible)
except neuralns.InputError as error:
    print("refused", error)
"""


@pytest.mark.parametrize(
    "name",
    [
        "worst-node:determinism=0",
        "worst-node:determinism=-1",
        "shaw:determinism=-3",
        "string:longest=-5",
        "string:longest=0",
    ],
)
def test_numbers_that_make_no_sense_end_in_routes_or_are_refused(name: str) -> None:
    # In a process of its own: a wrong index may end it, a wrong length never does.
    command = [sys.executable, "-c", EXTREME, f"{name},greedy"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.split()[0] in ("routes", "refused")


def test_an_operator_is_applied_with_its_parameters() -> None:
    _, solution = on_a_line([1], [2], [3], [4], places=[1.0, 2.0, 3.0, 4.0])
    assert set(outcomes("worst-node:determinism=1e9", solution, 1, seeds=100)) == {(4,)}
    assert len(outcomes("worst-node:determinism=1", solution, 1, seeds=100)) == 4


def test_a_users_operator_has_parameters_of_its_own(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        @destroy("own-from")
        def from_one_on(state, quota, first=1, step=1):
            '''Remove every so many customers from one on.'''
            for number in range(quota):
                remove(state, int(first + number * step))
        """,
    )
    load_operators(path)
    solution = plane([(0, 0), *[(float(place), 1.0) for place in range(1, 9)]], [list(range(1, 9))])
    assert set(outcomes("own-from", solution, 2, seeds=1)) == {(1, 2)}
    assert set(outcomes("own-from:first=3", solution, 2, seeds=1)) == {(3, 4)}
    assert set(outcomes("own-from:step=2:first=3", solution, 3, seeds=1)) == {(3, 5, 7)}


def test_an_operator_may_have_eight_parameters(tmp_path: Path) -> None:
    letters = "abcdefgh"
    signature = ", ".join(f"{letter}={number}" for number, letter in enumerate(letters, 1))
    body = (
        f"@destroy('own-eight')\ndef eight(state, quota, {signature}):\n"
        "    '''Remove the customer that the numbers make.'''\n"
        "    remove(state, int(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h) - 203)\n"
    )
    load_operators(written(tmp_path, body))
    solution = plane([(0, 0), *[(float(place), 1.0) for place in range(1, 12)]], [list(range(1, 12))])
    # 1 × 1 + 2 × 2 + … + 8 × 8 = 204; one more of the k-th parameter is k more.
    assert set(outcomes("own-eight", solution, 1, seeds=1)) == {(1,)}
    for place, letter in enumerate(letters, 1):
        assert set(outcomes(f"own-eight:{letter}={place + 1}", solution, 1, seeds=1)) == {(1 + place,)}


def test_an_operator_that_is_loaded_again_is_replaced(tmp_path: Path) -> None:
    body = "@destroy('own-again')\ndef again(state, quota, first={}):\n    '''Say.'''\n    remove(state, int(first))\n"
    load_operators(written(tmp_path, body.format(1)))
    assert operator("own-again").parameters == (("first", 1.0),)
    path = written(tmp_path, body.format("2.5"))
    assert load_operators(path)[0].parameters == (("first", 2.5),)
    assert operator("own-again").parameters == (("first", 2.5),)


def test_operators_are_listed_with_the_destroy_operators_first() -> None:
    phases = [entry.phase for entry in operators()]
    assert phases == sorted(phases, key=("destroy", "repair", "improve").index)
    assert {entry.name for entry in operators()} >= {"string", "greedy", "blinks", "worst-node"}


def test_an_improve_operator_has_a_share_of_the_steps(tmp_path: Path) -> None:
    path = written(tmp_path, "@improve('own-shared')\ndef f(state, near=3): pass")
    (entry,) = load_operators(path)
    assert entry.parameters == (("share", 1.0), ("near", 3.0))
    assert (entry.share, entry.arguments) == (1.0, (3.0,))
    seldom = entry.with_parameters("share=0.25:near=7")
    assert (seldom.share, seldom.arguments) == (0.25, (7.0,))
    with pytest.raises(InputError, match=r"^operator 'own-shared': share 1.5 must be from 0 to 1\.$"):
        entry.with_parameters("share=1.5")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@improve('w-forget')\ndef f(state):\n    remove(state, 1)", "operator 'w-forget' left 1 customers"),
        (
            "@improve('w-again')\ndef f(state):\n    remove(state, 1)\n    remove(state, 1)",
            "operator 'w-again' moved customer 1 in a way that cannot be",
        ),
        (
            "@improve('w-heavy')\ndef f(state):\n    slot = state.active[0]\n    for customer in range(1, 22):\n"
            "        remove(state, customer)\n        insert(state, customer, slot, 0)",
            "operator 'w-heavy' overloaded a route",
        ),
    ],
)
def test_a_mistake_in_an_improve_operator_is_reported_by_name(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        run(written(tmp_path, body), "zone", "greedy", "or-opt", body.split("'")[1])


def test_an_operator_can_be_defined_again_at_a_prompt() -> None:
    """Cells of a notebook have file names of their own."""
    cell = (
        "@neuralns.destroy('own-at-a-prompt')\n"
        "def mine(state, quota):\n"
        "    while state.n_removed < quota:\n"
        "        remove(state, {})\n"
    )
    program = (
        "import neuralns\nfrom neuralns.operators.toolkit import remove, random_routed\n"
        f"cell = {cell!r}\n"
        "for number, who in enumerate(['state.n_removed + 1', 'state.customers - state.n_removed']):\n"
        "    exec(compile(cell.format(who), f'<ipython-input-{number}>', 'exec'))\n"
        "    result = neuralns.solve('E-n22-k4', neuralns.MaxIterations(20), portfolio=['own-at-a-prompt', 'greedy'])\n"
        "    print(result.cost)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) > 1


def test_helpers_and_modules_beside_the_file_need_no_decorator(tmp_path: Path) -> None:
    (tmp_path / "own_helpers.py").write_text("SHARE = 1\n\ndef chosen(state):\n    return SHARE + state.n_removed\n")
    path = written(
        tmp_path,
        """
        from own_helpers import chosen

        def take(state):
            remove(state, chosen(state))

        @destroy("own-with-helpers")
        def with_helpers(state, quota):
            while state.n_removed < quota:
                take(state)
        """,
    )
    assert run(path, "own-with-helpers", "greedy").feasible


# --- Operators of installed packages. ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """An entry point of an installed package."""

    name: str
    path: Path
    value: str = "plugin:operators"
    dist: None = None

    def load(self) -> object:
        return run_python_file(self.path)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install packages that consist of a Python file each."""

    def pretend(*paths: Path) -> None:
        entries = [Entry(path.stem, path) for path in paths]
        monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == "neuralns.operators" else [])
        registry._load_installed.cache_clear()

    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    return pretend


def test_operators_of_installed_packages_are_known_by_name(tmp_path: Path, install: Callable[..., None]) -> None:
    source = "from neuralns import destroy\n@destroy('{}')\ndef f(state, quota):\n    pass\n"
    broken, good, other = (tmp_path / f"{name}.py" for name in ("broken", "good", "other"))
    broken.write_text("import nothing_of_this_name\n")
    good.write_text(source.format("plugged-in"))
    other.write_text(source.format("greedy"))
    install(broken, good, other)
    with pytest.warns(InputWarning) as warned:
        assert operator("plugged-in").phase == "destroy"
    sentences = [str(each.message) for each in warned]
    assert len(sentences) == 2
    assert sentences[0].startswith("operators 'broken' of a package (plugin:operators) cannot be loaded (")
    assert "nothing_of_this_name" in sentences[0]
    assert sentences[1].startswith("operators 'other' of a package")
    assert "plugged-in" in [entry.name for entry in operators()]


def test_names_that_are_known_load_no_package(install: Callable[..., None], tmp_path: Path) -> None:
    install(tmp_path / "missing.py")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert operator("greedy").name == "greedy"
    with (
        pytest.warns(InputWarning, match="operators 'missing'"),
        pytest.raises(InputError, match="'none' is not known"),
    ):
        operator("none")


def test_a_portfolio_and_a_selector_follow_their_globals(tmp_path: Path) -> None:
    """In one process, without being made anew."""
    path = written(
        tmp_path,
        """
        from neuralns import Selector
        FIRST, WHICH = 1, 0

        @destroy("own-sweep")
        def sweep(state, quota):
            for customer in range(FIRST, FIRST + quota):
                remove(state, customer)

        class Chosen(Selector):
            name = "chosen"

            def start(self, portfolio, customers=1):
                return self.new_memory()

            @staticmethod
            def choose(memory, state, phase):
                return WHICH if phase == 0 else 0
        """,
    )
    load_operators(path)
    mine: Any
    (mine,) = [module for module in sys.modules.values() if getattr(module, "__file__", None) == str(path.resolve())]
    portfolio = neuralns.make_portfolio("own", ["own-sweep", "random-node", "greedy"])
    uses = []
    for mine.FIRST, mine.WHICH in ((1, 0), (10**6, 1), (1, 0)):
        selector = mine.Chosen()
        result = solve("E-n22-k4", MaxIterations(20), portfolio=portfolio, scale=4, selector=selector)
        uses.append([use.used for use in result.operators][:2])
    assert uses == [[20, 0], [0, 20], [20, 0]]
    mine.FIRST, mine.WHICH = 10**6, 0
    with pytest.raises(OperatorError, match="own-sweep"):
        solve("E-n22-k4", MaxIterations(20), portfolio=portfolio, scale=4, selector=selector)
