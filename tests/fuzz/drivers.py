"""Drivers: each makes an input from a seed, and checks that the package takes or refuses it as it should.

A check that raises anything is a finding; what the input was is then known to the byte.
"""

from __future__ import annotations

import json
import resource
import shutil
import struct
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import texts
from commands import invoke
from fuzz import accidents, forms, service, solving
from fuzz.damage import ODD, damaged_text, flipped
from fuzz.outside import complaints, cost
from neuralns import (
    InputError,
    Instance,
    MaxIterations,
    Operator,
    Solution,
    make_portfolio,
    random_tours,
    read,
    read_solution,
    savings,
    solve,
)
from neuralns.experiments.jobs import Done, Job, JobStore
from neuralns.experiments.store import CsvRows, Store
from neuralns.operators.registry import operator, operators
from neuralns.problem.formats.text import read_text
from neuralns.problem.formats.vroom import read_vroom
from neuralns.problem.formats.vroom_output import vroom_answer_text
from neuralns.routes.edits import close_empty_routes, undo
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint
from neuralns.routes.layout import JOURNALLED
from neuralns.routes.transfer import new_state, routes_of
from neuralns.selection.names import selector_from, selector_named
from neuralns.selection.policy_file import policy_bytes, read_policy
from policies import constant_policy, wheel_policy


@dataclass(frozen=True)
class Driver:
    """How inputs of a kind are made and checked; a check may use a file of its own, and the folder of it.

    What a check returns is counted, and is no finding: that an instance was refused, or not solved to the optimum.
    ``batch`` is how many inputs are tried in a row, ``quick`` how many by the ordinary tests, and ``share`` how much
    time it gets, compared with others.
    """

    make: Callable[[np.random.Generator], bytes]
    check: Callable[[bytes, Path], str | None]
    batch: int = 20
    quick: int = 40
    share: float = 1.0


MOST_MEMORY = 400 << 20
"""Bytes of memory that one input may take beyond what was needed before."""
SHEET = "\n# the next table\n"
SHEETS = {
    "plain": (forms.PLAIN_STOPS,),
    "minutes": (forms.PLAIN_STOPS, "", forms.MINUTES),
    "shipments": (forms.SHIPPED_STOPS, "vehicles,capacity\n2,10\n"),
    "fleet": (forms.STOPS, forms.VEHICLES),
}
"""Tables of stops, vehicles and minutes that go together; those that are empty are left out."""

# --- Instances and solutions. -----------------------------------------------------------------------------------------


def _check_instance(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        instance = read(file)
    except InputError as error:
        _check_sentence(error)
        return
    assert np.isfinite(instance.points).all()
    if not (instance.timed or instance.max_distance is not None or instance.may_leave_out):
        assert not complaints(instance, savings(instance).routes)
    _check_taken(instance)


def _check_taken(instance: Instance) -> None:
    """Have an instance that was taken from a damaged file be judged and solved as any other."""
    plan = Solution(instance, [[customer] for customer in range(1, instance.customers + 1)])
    assert plan.cost >= 0
    assert all(isinstance(fault, str) for fault in plan.faults())
    try:
        best = solve(instance, MaxIterations(5)).best
    except InputError as error:
        _check_sentence(error)
    else:
        assert best.broken_rules() == []


def _check_sheets(content: bytes, file: Path) -> None:
    """Read a table of stops, and those of vehicles and minutes behind a line that says so, where there are any."""
    parts = content.split(SHEET.encode())
    folder = file.with_name("sheets")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, part in zip(("stops", "vehicles", "minutes"), parts, strict=False):
        if part:
            (folder / f"{name}.csv").write_bytes(part)
    if not (folder / "stops.csv").exists():
        return
    try:
        instance = forms.spread(folder)
    except InputError as error:
        _check_sentence(error)
        return
    _check_taken(instance)


def _make_sheets(rng: np.random.Generator, parts: Sequence[str]) -> bytes:
    """One of some tables damaged, the others as they are."""
    damaged = int(rng.choice([place for place, part in enumerate(parts) if part]))
    return SHEET.encode().join(
        damaged_text(rng, part) if place == damaged else part.encode() for place, part in enumerate(parts)
    )


def _check_vroom(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        problem = read_vroom(read_text(file), source=file)
    except InputError as error:
        _check_sentence(error)
        return
    instance = problem.instance
    try:
        best = solve(instance, MaxIterations(5)).best
    except InputError as error:
        _check_sentence(error)
        return
    assert best.broken_rules() == []
    answer = json.loads(vroom_answer_text(problem, best))
    tasks = {step["id"] for route in answer["routes"] for step in route["steps"] if "id" in step}
    assert not tasks & {task["id"] for task in answer["unassigned"]} or instance.shipments


def _check_vroom_answer(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        solution = read_solution(forms.VROOM_PROBLEM.instance, file)
    except InputError as error:
        _check_sentence(error)
        return
    assert all(isinstance(fault, str) for fault in solution.faults())


def _check_solution(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        solution = read_solution(texts.TINY, file)
    except InputError as error:
        _check_sentence(error)
        return
    assert bool(solution.faults()) == bool(complaints(texts.TINY, solution.routes))


def _check_driven(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        solution = read_solution(texts.GENERAL, file)
    except InputError as error:
        _check_sentence(error)
        return
    assert len(solution.vehicles) == len(solution.routes)
    assert all(isinstance(fault, str) for fault in solution.faults())


def _check_sentence(error: InputError) -> None:
    assert str(error).endswith((".", "?")), str(error)


# --- Operators. -------------------------------------------------------------------------------------------------------

PARAMETERS = (-1.0, 0.0, 1e-3, 0.5, 1.0, 2.0, 10.0, 1e6)


def _make_seed(rng: np.random.Generator) -> bytes:
    return json.dumps({"seed": int(rng.integers(2**63))}).encode()


def random_instance(rng: np.random.Generator) -> Instance:
    """An instance of any kind: points or a matrix, whole or fractional demands, tight or loose capacity."""
    nodes = int(rng.choice([2, 3, 6, 12, 40])) + int(rng.integers(3))
    points = rng.integers(0, rng.choice([1, 5, 1000]) + 1, (nodes, 2)).astype(float)
    demands = rng.integers(0, 11, nodes) * rng.choice([1.0, 0.1, 1 / 3])
    demands[0] = 0.0
    capacity = max(float(demands.max()), 1e-3) * rng.choice([1.0, 1.5, 4.0, 100.0])
    matrix = rng.integers(0, 50, (nodes, nodes)).astype(float) if rng.random() < 0.3 else None
    rounding = str(rng.choice(["none", "round", "trunc", "dimacs"]))
    return Instance("drawn", demands, capacity, points, matrix, rounding, float(rng.choice([0, 100])))  # type: ignore[arg-type]


def _random_operator(rng: np.random.Generator, phase: str) -> Operator:
    names = [entry.name for entry in operators() if entry.phase == phase and entry.kind != "own"]
    chosen = operator(names[rng.integers(len(names))])
    if chosen.parameters and rng.random() < 0.5:
        name, _ = chosen.parameters[rng.integers(len(chosen.parameters))]
        return chosen.with_parameters(f"{name}={PARAMETERS[rng.integers(len(PARAMETERS))]}")
    return chosen


def _check_operators(content: bytes, file: Path) -> None:
    rng = np.random.default_rng(json.loads(content)["seed"])
    instance = random_instance(rng)
    state = new_state(instance, int(rng.integers(1000)), history=True, solution=random_tours(instance, 1))
    for _ in range(12):
        before = {field.name: np.copy(getattr(state, field.name)) for field in JOURNALLED}
        routes = routes_of(state)
        checkpoint(state)
        destroy, repair = _random_operator(rng, "destroy"), _random_operator(rng, "repair")
        quota = int(rng.integers(1, instance.customers + 1))
        destroy.apply(state, quota)
        what = f"{destroy.name} and {repair.name} with quota {quota}"
        gone = state.removed[: state.n_removed].tolist()
        assert state.fault == 0, what
        assert len(gone) == quota, what
        _check_routes(instance, state, gone, what)
        repair.apply(state)
        assert (state.fault, state.n_removed) == (0, 0), what
        _check_routes(instance, state, [], what)
        remember(state)
        if rng.random() < 0.5:
            undo(state)
            assert routes_of(state) == routes, what
            for name, value in before.items():
                assert np.array_equal(getattr(state, name), value), f"{what}: undo left another {name}"
        else:
            close_empty_routes(state)


def _check_routes(instance: Instance, state: Any, missing: list[int], what: str) -> None:
    routes = [route for route in routes_of(state) if len(route) > 0]
    assert not complaints(instance, routes, missing), what
    expected = cost(instance, routes)
    assert abs(state.cost - expected) <= 1e-9 * max(1.0, abs(expected)), f"{what}: {state.cost} is not {expected}"


# --- Policies. --------------------------------------------------------------------------------------------------------

_OPERATORS = "random-node,zone,greedy"
_POLICIES = (
    policy_bytes(constant_policy(_OPERATORS, [1, 2, 3])),
    policy_bytes(constant_policy(_OPERATORS, [1, 2, 3], "mlp", 5)),
    policy_bytes(wheel_policy(_OPERATORS, [1.0, 2.0, 3.0])),
)


def _make_policy(rng: np.random.Generator) -> bytes:
    content = _POLICIES[rng.integers(len(_POLICIES))]
    (length,) = struct.unpack("<Q", content[:8])
    header, numbers = content[8 : 8 + length], content[8 + length :]
    match rng.integers(4):
        case 0:
            return flipped(rng, content, 8)
        case 1:
            return content[: rng.integers(len(content))]
        case 2:
            header = damaged_text(rng, header.decode())
        case _:
            entries = json.loads(header)
            for _ in range(rng.integers(1, 3)):
                _change(rng, entries)
            header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + numbers


def _change(rng: np.random.Generator, entries: dict[str, Any]) -> None:
    """Change an entry of a tensor or of the card."""
    values: tuple[Any, ...] = (0, -1, 1 << 31, 1 << 62, 10**30, 1.5, True, None, "a", "F16", "I64", [], [0], {}, [[]])
    odd = (*values, *ODD)
    tensors = [key for key in entries if key != "__metadata__"]
    if rng.random() < 0.5 and tensors:
        place: Any = entries[tensors[rng.integers(len(tensors))]]
        if rng.random() < 0.5 and isinstance(place.get("shape"), list) and place["shape"]:
            place["shape"][rng.integers(len(place["shape"]))] = odd[rng.integers(len(values))]
            return
        place[list(place)[rng.integers(len(place))]] = odd[rng.integers(len(odd))]
        return
    card = json.loads(entries["__metadata__"]["neuralns"])
    place = card
    if rng.random() < 0.3 and isinstance(card.get("operators"), dict):
        place = card["operators"]
    names = [*place, "sizes", "instances", "scale", "setting", "graph", "nodes"]
    place[names[rng.integers(len(names))]] = odd[rng.integers(len(odd))]
    entries["__metadata__"]["neuralns"] = json.dumps(card)


def _check_policy(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    instance = Instance("five", [0, 1, 1, 1, 1, 1], 3, [[0, 0], [0, 1], [1, 0], [2, 2], [3, 1], [4, 4]])
    try:
        policy = read_policy(file)
        selector = selector_from(policy, "fuzz.policy")
        portfolio = make_portfolio("own", [*policy.destroys, *policy.repairs])
        memory = selector.start(portfolio, instance.customers)
        doubts = selector.doubts(instance, (1, 2))
    except InputError as error:
        _check_sentence(error)
        return
    assert all(isinstance(doubt, str) for doubt in doubts)
    choose, _ = selector.functions()
    state = new_state(instance, 1, history=True, solution=random_tours(instance, 1))
    for phase, known in enumerate((policy.destroys, policy.repairs)):
        assert 0 <= choose(memory, state, phase) < len(known)


# --- Settings and journals. -------------------------------------------------------------------------------------------


def _check_setting(content: bytes, file: Path) -> None:
    file = file.with_suffix(".setting")
    file.write_bytes(content)
    try:
        selector = selector_named(str(file))
    except InputError as error:
        _check_sentence(error)
        return
    try:
        best = solve(texts.TINY, MaxIterations(5), selector=selector).best
    except InputError as error:
        _check_sentence(error)
        return
    assert best.feasible


def _check_store(content: bytes, file: Path, store: Callable[[Path], Store[Any]], row: Any) -> None:
    """Have a journal be refused and left as it is, or read; a row that is added is there beside all others."""
    file.write_bytes(content)
    try:
        before = list(store(file).rows)
        with store(file) as journal:
            assert _alike(journal.rows, before)
            journal.add(row)
    except InputError as error:
        _check_sentence(error)
        assert file.read_bytes() == content, "a journal that is refused was changed"
        return
    assert _alike(store(file).rows, [*before, row])


def _alike(rows: Sequence[Any], others: Sequence[Any]) -> bool:
    # By what is written, as not a number is not itself.
    return [repr(row) for row in rows] == [repr(row) for row in others]


def _check_table(kind: str, content: bytes, file: Path) -> None:
    form, rows = forms.TABLES[kind]
    _check_store(content, file, lambda path: Store(path, CsvRows(form)), rows[0])


def _check_jobs(content: bytes, file: Path) -> None:
    """As `_check_store`, for the journal of jobs, which knows jobs and calls apart."""
    file.write_bytes(content)
    job, done = Job("new", {"seed": 9}), Done([1.5], 0.25, 0.25)
    try:
        with JobStore(file, forms.JOBS_CONDITIONS) as journal:
            before = dict(journal.results)
            journal.add(job, done)
    except InputError as error:
        _check_sentence(error)
        assert file.read_bytes() == content, "a journal that is refused was changed"
        return
    after = JobStore(file, forms.JOBS_CONDITIONS).results
    assert repr(after) == repr({**before, job.name: [1.5]})


def _check_controller_log(content: bytes, file: Path) -> None:
    _check_store(content, file, forms.controller_log, forms.controller_row())


# --- Commands. --------------------------------------------------------------------------------------------------------


def _make_command(rng: np.random.Generator) -> bytes:
    """A command with one damaged file; which one it is stands in its first line."""
    kinds = list(_COMMANDS)
    kind = kinds[rng.integers(len(kinds))]
    return kind.encode() + b"\n" + damaged_text(rng, _COMMANDS[kind][0])


def _check_command(content: bytes, file: Path) -> None:
    """Have a command end well, or with exit code 2 and one sentence, and write no file then."""
    kind, _, damaged = content.partition(b"\n")
    _, suffix, arguments = _COMMANDS[kind.decode()]
    folder = file.with_name("command")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "tiny.vrp").write_text(texts.EUCLIDEAN, encoding="utf-8")
    input_file, output = folder / f"damaged{suffix}", folder / "out.json"
    input_file.write_bytes(damaged)
    names = {"IN": input_file, "OUT": output, "TINY": folder / "tiny.vrp"}
    outcome = invoke(*(names.get(word, word) for word in arguments.split()))
    assert outcome.code in (0, 1, 2), outcome
    assert "Traceback" not in outcome.stderr, outcome.stderr
    if outcome.code == 2:
        # Behind the first fault of routes stands how many more there are.
        assert outcome.refusal().endswith((".", "?", " fault)", " faults)")), outcome.stderr
        assert not output.exists()
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    assert input_file.read_bytes() == damaged


_COMMANDS = {
    **{
        f"{command}-{kind}": (text, suffix, arguments)
        for command, arguments in {
            "check": "check IN",
            "info": "info IN",
            "solve": "solve IN --iterations 5 --output OUT --quiet",
        }.items()
        for kind, text, suffix in (
            ("vrp", texts.FLEET, ".vrp"),
            ("json", texts.INSTANCES["json-fleet"], ".json"),
            ("csv", forms.STOPS, ".csv"),
            ("li-lim", texts.LI_LIM, ".txt"),
            ("vroom", json.dumps(forms.VROOM, indent=1), ".json"),
        )
    },
    "plan-sol": (texts.SOLUTIONS["sol"], ".sol", "check TINY IN"),
    "plan-json": (texts.SOLUTIONS["json"], ".json", "check TINY IN"),
    "plan-csv": (forms.ROUTE_TABLES["table"], ".csv", "check TINY IN"),
    "initial": (texts.SOLUTIONS["sol"], ".sol", "solve TINY --initial IN --iterations 5 --output OUT --quiet"),
    "setting": (forms.SETTING, ".setting", "solve TINY --selector IN --iterations 5 --output OUT --quiet"),
}
"""Commands by what they are given: a text that is damaged, the ending of its file, and the words of the command."""


DRIVERS = {
    **{
        f"instance-{kind}": Driver(partial(damaged_text, text=text), _check_instance)
        for kind, text in (texts.INSTANCES | forms.SOLVED).items()
    },
    **{f"sheets-{kind}": Driver(partial(_make_sheets, parts=parts), _check_sheets) for kind, parts in SHEETS.items()},
    **{
        f"vroom-{kind}": Driver(partial(damaged_text, text=json.dumps(content, indent=1)), _check_vroom)
        for kind, content in {"matrix": forms.VROOM, "places": forms.PLACED_VROOM}.items()
    },
    "vroom-answer": Driver(partial(damaged_text, text=forms.VROOM_ANSWER), _check_vroom_answer),
    **{
        f"solution-{kind}": Driver(partial(damaged_text, text=text), _check_solution)
        for kind, text in (texts.SOLUTIONS | {"csv": forms.ROUTE_TABLES["table"]}).items()
    },
    **{
        f"solution-fleet-{kind}": Driver(partial(damaged_text, text=text), _check_driven)
        for kind, text in (texts.FLEET_SOLUTIONS | {"csv": forms.ROUTE_TABLES["fleet-table"]}).items()
    },
    "operators": Driver(_make_seed, _check_operators),
    "policy": Driver(_make_policy, _check_policy),
    "setting": Driver(partial(damaged_text, text=forms.SETTING), _check_setting),
    **{
        f"results{'' if kind == 'solver' else '-' + kind}": Driver(
            partial(damaged_text, text=forms.table_text(kind)), partial(_check_table, kind)
        )
        for kind in forms.TABLES
    },
    "journal-jobs": Driver(partial(damaged_text, text=forms.jobs_text()), _check_jobs),
    "journal-controller": Driver(partial(damaged_text, text=forms.CONTROLLER_TEXT), _check_controller_log),
    "command": Driver(_make_command, _check_command),
    "rich": Driver(solving.make_rich, solving.check_rich, share=4.0),
    "changed": Driver(solving.make_changed, solving.check_changed, share=4.0),
    "vroom": Driver(solving.make_vroom, solving.check_vroom, share=2.0),
    "tiny": Driver(solving.make_tiny, solving.check_tiny, share=4.0),
    "disk": Driver(accidents.make_disk, accidents.check_disk, 5, 15),
    "service": Driver(service.make_request, service.check_request, 5, 8),
    "kill-service": Driver(service.make_kill, service.check_kill, 1, 2),
    "kill-workers": Driver(accidents.make_workers, accidents.check_workers, 1, 1),
    "kill-batch": Driver(accidents.make_batch, accidents.check_batch, 1, 1),
}


def run(name: str, seed: int, file: Path) -> bytes:
    """Make the input of a seed and check it; return it."""
    content = DRIVERS[name].make(np.random.default_rng(seed))
    check(name, content, file)
    return content


def check(name: str, content: bytes, file: Path) -> str | None:
    """Check one input; return what is to be counted of it."""
    before = _memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = DRIVERS[name].check(content, file)
    grown = _memory() - before
    assert grown < MOST_MEMORY, f"it took {grown >> 20} MB of memory"
    return said


def _memory() -> int:
    """The most bytes of memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def close() -> None:
    """End what drivers have started."""
    service.close()
