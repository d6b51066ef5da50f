"""The report of the paper's experiments done again: verdicts on its claims, our numbers beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from neuralns import plot
from neuralns.errors import InputError
from neuralns.experiments.jobs import JobStore
from neuralns.files import write_bytes
from neuralns.reproduction.claims import CLAIMS, VERDICT_RULE, Claim
from neuralns.reproduction.contrasts import compare_agents
from neuralns.reproduction.document import FIGURES, Block, Bullets, Code, Document, Heading, Paragraph, Table
from neuralns.reproduction.layout import LAYOUTS, NONE, wanted_cells
from neuralns.reproduction.plan import DQN_GRID, INSTANCES, Plan, settings_of
from neuralns.reproduction.published import published_estimates
from neuralns.reproduction.report_figures import pictures
from neuralns.reproduction.report_tables import number_blocks, significance_blocks
from neuralns.reproduction.rounds import ORACLE_SEEDS
from neuralns.reproduction.tables import Cell, Estimates, Tables

ABOUT_AGENTS = (
    "DQN: the learned policy. A multi-layer perceptron, or the graph attention network (GNN) where instances grow.",
    "GNN+: a graph attention network of ours where instances grow, trained at 20 customers like the paper's. Its "
    "features mean the same at every size, and of its parameters those are kept that do best at 20 customers and at "
    "sizes that are in no test.",
    "AHEAD: ours. A network that chooses pairs, learned from states labelled by what each pair and then FIXED lead to "
    "(one round of policy improvement on FIXED); where FIXED leaves something to chance, a network that has learned "
    "from simulations tells what follows the pair. Where some pairs always give the same from the same routes, which "
    "is at |D| ≥ 10, it also simulates FIXED to the end of the budget before each decision, after each of those pairs "
    "too, and sees what comes of it; the paper's agents look at the state only. The seeds of a cell share its labelled "
    "states, and each learns from a half of them.",
    "LRW: the roulette wheel learned beforehand on the training tours; RAN: uniform random selection; CRW: the classic "
    "roulette wheel, which adapts during ALNS.",
    "FIXED: the best single pair of a destroy and a repair operator, found on the training tours and always used.",
    "ORACLE: tries pairs by simulation at every step and takes the best. No policy that could be used in a search, and "
    "no upper bound: its simulations are noisy and go on with FIXED, so that it can end below FIXED.",
)


READINGS = (
    "The paper's text leaves details open. Read from its published numbers are: the objective of setting paper, the "
    "order in which destroy operators join the portfolio, 20 iterations of ALNS in Table 2 with F averaged over a run "
    "(avg) and the best F of a run (min), and how the scores of LRW add up. They were fitted to the published columns "
    "of RAN and LRW, so that agreement there is no test of them. DQN, FIXED and ORACLE were fitted to nothing "
    "published, but depend on the same readings. LRW learns from 15 000 actions, as many as the DQN has steps; the "
    "DQN acts in several lanes at each step and so sees more. An LRW that sees as much comes close to FIXED."
)


def write_report(tables: Tables, plan: Plan, store: JobStore, quick: bool, folder: Path) -> list[Path]:
    """Write ``report.html``, and ``report.md`` with its figures, to a folder; return the files."""
    done = store.done.values()
    report = make_report(
        tables, plan, store.calls, quick=quick,
        job_seconds=sum(job.seconds for job in done), processor_seconds=sum(job.processor for job in done),
    )  # fmt: skip
    written = [folder / "report.html", folder / "report.md"]
    for path, text in zip(written, (report.html(), report.markdown()), strict=True):
        write_bytes(path, text.encode())
    try:
        (folder / FIGURES).mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder / FIGURES}: cannot be made a folder ({error.strerror or error}).") from None
    for name, figure in report.figures.items():
        written.append(folder / FIGURES / f"{name}.png")
        plot.save(figure, written[-1])
    return written


def make_report(
    tables: Tables, plan: Plan, calls: Sequence[Mapping[str, Any]], *, quick: bool, job_seconds: float,
    processor_seconds: float,
) -> Document:  # fmt: skip
    """Write the report; whatever has no results is left out or shown as a dash, and named.

    Parameters
    ----------
    tables, plan
        The results, and how large the experiments were meant to be.
    calls
        Who did the jobs: for each call its ``command``, ``date``, ``seconds``, ``jobs``, ``workers``, ``cluster``,
        ``device`` and ``machine``, and ``trainings`` and ``training_seconds`` if it had a GPU.
    quick
        Whether nothing follows from the results, so that no claim is judged.
    job_seconds, processor_seconds
        Taken by all jobs together, on the clock and of a processor.
    """
    estimates, published = tables.estimates, published_estimates()
    blocks: list[Block] = [
        *_beginning(plan, quick),
        *_verdicts(estimates, plan, quick),
        *_what_was_run(estimates, plan, calls, job_seconds, processor_seconds),
        *_claims(estimates, plan, published, quick),
        *_beyond(tables, estimates, plan),
        Heading(2, "All numbers, beside the published ones"),
        *number_blocks(estimates, plan, published),
        Heading(2, "Significance"),
        *significance_blocks(estimates, plan),
        *_tuning(tables),
        Heading(2, "Make it again"),
        Code(f"neuralns reproduce all{' --quick' if quick else ''}"),
    ]
    return Document("The paper's experiments, done again", tuple(blocks))


# --- The beginning. ---------------------------------------------------------------------------------------------------


def _beginning(plan: Plan, quick: bool) -> Iterable[Block]:
    if quick:
        yield Paragraph(
            "This was a quick run: agents were hardly trained and few tours used, to see that everything works. It "
            "shows nothing about the paper; no number below is a result.",
            strong=True,
        )
    seeds = _count(len(plan.seed_numbers), "seed")
    plays = "" if plan.plays == 1 else f", each played {plan.plays} times by DQN, AHEAD and FIXED where |D| or d grows"
    yield Paragraph(
        "The experiments of “Graph Reinforcement Learning for Operator Selection in the ALNS Metaheuristic” (Johnn, "
        f"Darvariu, Handl & Kalcsics) with neuralns: {seeds}, {plan.tours} test tours{plays}, 20 customers unless said "
        "otherwise. ± is half of the 95 % interval of a mean over seeds. Setting paper has an objective fitted to the "
        "published numbers (100 × tours + length, coordinates scaled to 1), setting distance the length of the tours, "
        "as the paper's text reads."
    )
    yield Bullets(ABOUT_AGENTS)
    yield Paragraph(READINGS)


def _verdicts(estimates: Estimates, plan: Plan, quick: bool) -> Iterable[Block]:
    yield Heading(2, "The paper's claims in short")
    rows = []
    for claim in CLAIMS:
        other = "distance" in settings_of(claim.experiment)
        found = [_judge(claim, estimates, plan, setting, quick)[0] for setting in ("paper", "distance")]
        rows.append((claim.title, claim.text, found[0], found[1] if other else NONE))
        if claim.ours:
            ours, _ = _judge_ours(claim, estimates, plan, quick)
            rows.append((claim.title, f"No claim of the paper: the same of our {claim.ours}.", ours, NONE))
    yield Table(("claim", "in words", "setting paper", "setting distance"), tuple(rows), 4)
    yield Paragraph(f"{VERDICT_RULE} The verdict is that of setting paper; distance is further evidence.")


def _what_was_run(
    estimates: Estimates, plan: Plan, calls: Sequence[Mapping[str, Any]], job_seconds: float, processor_seconds: float
) -> Iterable[Block]:
    yield Heading(2, "What was run")
    rows = []
    for call in calls:
        machine = call.get("machine") or {}
        parts = [str(machine[name]) for name in ("processor", "system") if machine.get(name)]
        if machine.get("cores"):
            parts.append(_count(machine["cores"], "core"))
        packages = [name for name in ("neuralns", "python", "numpy", "numba", "torch") if machine.get(name)]
        versions = [f"{name} {machine[name]}" for name in packages]
        workers = _count(call["workers"], "worker") if call.get("workers") else ""
        by = [workers, "a Dask cluster" if call.get("cluster") else "", str(call.get("device") or "")]
        if call.get("trainings"):
            by.append(f"{call['trainings']} networks stacked, trained in {duration(call['training_seconds'])}")
        rows.append((
            str(call.get("date", NONE)), str(call.get("command", NONE)), str(call.get("jobs", NONE)),
            duration(call["seconds"]) if "seconds" in call else NONE,
            ", ".join(part for part in by if part) or NONE, ", ".join(parts) or NONE, ", ".join(versions) or NONE,
        ))  # fmt: skip
    if rows:
        yield Table(("date", "command", "jobs", "time", "by", "machine", "versions"), tuple(rows), 7)
    yield Paragraph(
        f"All jobs together took {duration(job_seconds)} on the clock and {duration(processor_seconds)} of processors, "
        f"which is {duration(processor_seconds / 2)} for two cores that do nothing else."
    )
    absent, gaps = [], []
    for experiment in LAYOUTS:
        wanted = wanted_cells(experiment, plan)
        missing = sum(cell not in estimates for cell in wanted)
        if missing == len(wanted):
            absent.append(experiment)
        elif missing:
            gaps.append(f"{missing} of {len(wanted)} numbers of {experiment}")
    if absent:
        yield Paragraph(f"Not run, or not finished: {', '.join(absent)}.")
    if gaps:
        yield Paragraph(f"Missing, shown as {NONE}: {', '.join(gaps)}.")


# --- Claims and what goes beyond them. --------------------------------------------------------------------------------


def _judge(claim: Claim, estimates: Estimates, plan: Plan, setting: str, quick: bool) -> tuple[str, tuple[str, ...]]:
    found, evidence = claim.judge(estimates, plan, setting)
    return "not tested" if quick else found, evidence


def _judge_ours(claim: Claim, estimates: Estimates, plan: Plan, quick: bool) -> tuple[str, tuple[str, ...]]:
    found, evidence = claim.judge_ours(estimates, plan, "paper")
    return "not tested" if quick else found, evidence


def _claims(estimates: Estimates, plan: Plan, published: Estimates, quick: bool) -> Iterable[Block]:
    yield Heading(2, "The claims one by one")
    for claim in CLAIMS:
        found, evidence = _judge(claim, estimates, plan, "paper", quick)
        yield Heading(3, f"{claim.title}: {found}")
        yield Paragraph(f"The paper: {claim.text}")
        yield Paragraph(f"Our rule: {claim.rule}")
        yield Bullets(evidence)
        if claim.ours:
            found, evidence = _judge_ours(claim, estimates, plan, quick)
            yield Paragraph(f"Our {claim.ours}, by the same rule: {found}. {' '.join(evidence)}")
        if any((cell.experiment, cell.setting) == (claim.experiment, "distance") for cell in estimates):
            found, evidence = _judge(claim, estimates, plan, "distance", quick)
            yield Paragraph(f"Setting distance, by the same rule: {found}. {' '.join(evidence)}")
        yield from pictures(estimates, plan, published, claim.experiment)


def _beyond(tables: Tables, estimates: Estimates, plan: Plan) -> Iterable[Block]:
    yield Heading(2, "What the paper does not report: the best fixed pair, the oracle, and looking ahead")
    rows: list[tuple[str, ...]] = []
    notes = []
    for setting in settings_of("table1"):
        fixed_cells = [
            Cell("table1", setting, instance, number, "FIXED") for instance, number in product(INSTANCES, plan.destroys)
        ]
        cells = [cell for cell in fixed_cells if all(cell.of(agent) in estimates for agent in ("FIXED", "ORACLE"))]
        for agent in ("DQN", "AHEAD"):
            shared = [cell for cell in cells if cell.of(agent) in estimates]
            if not shared:
                continue
            fixed, learned, oracle = (
                float(np.mean([estimates[cell.of(name)].mean for cell in shared]))
                for name in ("FIXED", agent, "ORACLE")
            )
            way = NONE if oracle <= fixed else f"{round(100 * (learned - fixed) / (oracle - fixed))} %"
            rows.append((
                setting, agent, str(len(shared)), f"{fixed:.1f}", f"{learned:.1f}", f"{oracle:.1f}",
                way.replace("-", "−"),
            ))  # fmt: skip
        if cells:
            below = sum(estimates[cell.of("ORACLE")].mean < estimates[cell.of("FIXED")].mean for cell in cells)
            notes.append(
                f"{LAYOUTS['table1'].title}, setting {setting}: the oracle's mean is below that of the best fixed pair "
                f"in {below} of {len(cells)} cells."
            )
        notes += [
            _against_fixed(estimates, agent, experiment, setting, statistic)
            for experiment, statistic, agents in (
                ("table1", "", ("DQN", "AHEAD")), ("table2", "avg", ("DQN", "AHEAD")), ("scaling", "", ("DQN", "GNN+")),
                ("large", "", ("GNN+",)),
            )
            for agent in agents
        ]  # fmt: skip
        notes += [_times(tables, setting, simulates) for simulates in (True, False)]
    if rows:
        yield Paragraph(
            "Mean rewards over the cells of Table 1, and which share of the way from the best fixed pair to the oracle "
            "an agent goes on these means."
        )
        yield Table(
            ("setting", "agent", "cells", "FIXED", "agent's mean", "ORACLE", "share of the way"), tuple(rows), 2
        )
    else:
        yield Paragraph("There are no results for it.")
    if any(notes):
        yield Bullets(tuple(note for note in notes if note))
    if any(cell.experiment == "large" for cell in estimates):
        yield Paragraph(
            f"{LAYOUTS['large'].title}: Solomon's instances end at 100 customers, so that these are generated, "
            "clustered (C), random (R) and mixed (RC), with a fifth of the customers removed at a time. "
            f"{plan.large_tours} test tours; the oracle has {_count(plan.large_rollouts, 'rollout')} for each pair "
            f"instead of {plan.rollouts}, and {ORACLE_SEEDS} seeds at most."
        )
    for setting in settings_of("table1"):
        numbers = sorted({int(cell.number) for cell in tables.pairs if cell.setting == setting})
        if numbers:
            yield Paragraph(f"The best fixed pairs, setting {setting}:")
            yield Table(
                ("|D|", *INSTANCES),
                tuple(
                    (str(number), *(_pair(tables, setting, name, number) for name in INSTANCES)) for number in numbers
                ),
                4,
            )


def _pair(tables: Tables, setting: str, instance: str, number: int) -> str:
    return ", ".join(tables.pairs.get(Cell("table1", setting, instance, number, "FIXED"), (NONE,)))


def _times(tables: Tables, setting: str, simulates: bool) -> str:
    """Say how long a decision of the agent that looks ahead takes, where it simulates and where it does not."""
    found = [
        value
        for cell, (value, simulated) in tables.microseconds.items()
        if (cell.setting, simulated) == (setting, simulates)
    ]
    if not found:
        return ""
    how = "simulates" if simulates else "does not simulate"
    return (
        f"Setting {setting}: where it {how} ({_count(len(found), 'cell')}), a decision of AHEAD on a pair takes "
        f"{min(found):.1f} to {max(found):.1f} µs, {np.mean(found):.1f} on average."
    )


def _against_fixed(estimates: Estimates, agent: str, experiment: str, setting: str, statistic: str) -> str:
    """Say in which cells an agent is better than the best fixed pair; nothing if that could not be tested."""
    layout = LAYOUTS[experiment]
    found = {
        cell: each
        for cell, each in compare_agents(estimates, experiment, setting, agent, "FIXED", statistic).items()
        if not math.isnan(each.p)
    }
    sure = {cell: each for cell, each in found.items() if each.significant}
    better = [cell for cell, each in sure.items() if (each.difference < 0) == (layout.value == "F")]
    names = "; ".join(
        f"{name} at {layout.label} = {', '.join(str(cell.number) for cell in better if cell.instance == name)}"
        for name in INSTANCES
        if any(cell.instance == name for cell in better)
    )
    if not found:
        return ""
    return (
        f"{layout.title}, setting {setting}: {_the(agent)} is significantly better than the best fixed pair in "
        f"{len(better)} of {len(found)} cells{f' ({names})' if names else ''}, significantly worse in "
        f"{len(sure) - len(better)}."
    )


def _the(agent: str) -> str:
    return {"DQN": "the DQN", "GNN+": "our GNN+"}.get(agent, agent)


def _tuning(tables: Tables) -> Iterable[Block]:
    yield Heading(2, "Tuning")
    if not tables.tuning:
        yield Paragraph("There are no results for it.")
        return
    yield Paragraph(
        "Choices and what they gave on the validation tours, mean of all trials; for DQN and LRW rewards, where the "
        "highest was chosen, for CRW F on average over a run, where the lowest was. What the choices of the DQN are:"
    )
    yield Bullets(
        tuple(
            f"{name}: " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in choice.items())
            for name, choice in DQN_GRID.items()
        )
    )
    yield Table(
        ("agent", "setting", "choice", "", "validation"),
        tuple(
            (row.agent, row.setting, row.choice, "chosen" if row.chosen else "", f"{row.validation:.1f}")
            for row in tables.tuning
        ),
        4,
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(42), duration(754), duration(12345)
    ('42 s', '13 min', '3 h 26 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
