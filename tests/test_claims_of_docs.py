"""What README and docs claim is what the results in the repository say."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from commands import invoke
from neuralns.experiments.solver_runs import SolverRun, mean_gaps
from neuralns.experiments.store import read_rows
from neuralns.problem.bundled import bundled_names
from neuralns.reproduction.contrasts import compare_agents
from neuralns.reproduction.folder import open_folder
from neuralns.reproduction.plan import ALL_DESTROYS, EXPERIMENTS, FULL, INSTANCES
from neuralns.reproduction.published import published_estimates
from neuralns.reproduction.tables import Cell, Tables, make_tables
from neuralns.search import fewest, penalties

ROOT = Path(__file__).parents[1]


def rows_in(path: str) -> list[dict[str, str]]:
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def text_of(page: str) -> str:
    """A page on one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def row_of(page: str, *begin: str) -> list[str]:
    """The cells after those with which a row of a table begins; the only such row."""
    found = []
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and tuple(cell.strip("| ") for cell in cells[: len(begin)]) == begin:
            found.append([cell.strip("| ") for cell in cells[len(begin) :]])
    (row,) = found
    return row


@cache
def results() -> Tables:
    return make_tables(EXPERIMENTS, FULL, open_folder(ROOT / "results", FULL, False).results)


def mean_of(experiment: str, setting: str, agent: str, statistic: str = "", least: int = 2) -> float:
    estimates = results().estimates.items()
    wanted = (experiment, setting, agent, statistic)
    return float(np.mean([
        estimate.mean for cell, estimate in estimates
        if (cell.experiment, cell.setting, cell.agent, cell.statistic) == wanted and cell.number >= least
    ]))  # fmt: skip


# --- The paper. -------------------------------------------------------------------------------------------------------


def test_readings_are_called_fitted_and_their_agreement_no_test() -> None:
    assert "our readings were fitted to the published columns of random selection and of the learned" in text_of(
        "README.md"
    )
    assert (
        "fitted to the published columns](#what-the-text-leaves-open-and-how-we-read-it) of RAN and LRW, so that "
        in (text_of("docs/paper.md"))
    )


def test_where_the_dqn_is_above_the_published_one_and_where_it_is_a_tie() -> None:
    better = {"table1": 0, "avg": 0, "min": 0}
    published = published_estimates()
    for cell, estimate in results().estimates.items():
        if cell.agent == "DQN" and cell in published and cell.number >= 5:
            difference = estimate.mean - published[cell].mean
            better[cell.statistic or cell.experiment] += (
                difference > 0 if cell.experiment == "table1" else difference < 0
            )
    assert f"above the published one in {better['table1']} of Table 1" in text_of("docs/paper.md")
    assert (
        f"Table 2 is a tie: F is lower than published in {better['avg']} of the 24 cells on average over a run, and in "
        f"{better['min']} by the best of a run." in text_of("docs/paper.md")
    )
    last = Cell("table1", "paper", "R", ALL_DESTROYS, "DQN")
    below = f"{results().estimates[last].mean:.1f} against {published[last].mean:.1f}"
    for page in ("README.md", "docs/paper.md"):
        assert below in text_of(page)
    assert f"inside ALNS it is a tie (F {mean_of('table2', 'paper', 'DQN', 'avg', 5):.1f} against" in text_of(
        "README.md"
    )


@pytest.mark.parametrize("setting", ["paper", "distance"])
def test_means_of_all_agents(setting: str) -> None:
    assert row_of("docs/paper.md", f"setting `{setting}`") == [
        f"{mean_of('table1', setting, agent):.1f}" for agent in ("RAN", "LRW", "FIXED", "DQN", "AHEAD", "ORACLE")
    ]


@pytest.mark.parametrize(
    ("name", "experiment", "setting", "statistic"),
    [
        ("Table 1, setting `paper`", "table1", "paper", ""),
        ("Table 1, setting `distance`", "table1", "distance", ""),
        ("Table 2, setting `paper`", "table2", "paper", "avg"),
        ("Table 2, setting `distance`", "table2", "distance", "avg"),
        ("larger instances (GNN), setting `paper`", "scaling", "paper", ""),
    ],
)
def test_in_how_many_cells_the_dqn_differs_from_the_best_fixed_pair(
    name: str, experiment: str, setting: str, statistic: str
) -> None:
    found = compare_agents(results().estimates, experiment, setting, "DQN", "FIXED", statistic).values()
    sign = -1 if statistic else 1
    sure = [sign * each.difference > 0 for each in found if each.significant]
    assert row_of("docs/paper.md", name) == [str(len(found)), str(sum(sure)), str(len(sure) - sum(sure))]


def test_what_looking_ahead_wins() -> None:
    page = text_of("docs/paper.md")
    for setting, names in (("paper", ("`paper`, C", "R", "RC")), ("distance", ("`distance`, C", "R", "RC"))):
        for instance, name in zip(INSTANCES, names, strict=True):
            cells = [
                Cell("table1", setting, instance, ALL_DESTROYS, agent) for agent in ("FIXED", "DQN", "AHEAD", "ORACLE")
            ]
            figures = [f"{results().estimates[cell].mean:.1f}" for cell in cells]
            figures.append(f"{results().microseconds[cells[2]][0]:.1f}")
            assert f"| {name} | {' | '.join(figures)} |" in page
        fixed, ahead, oracle = (mean_of("table1", setting, agent) for agent in ("FIXED", "AHEAD", "ORACLE"))
        assert f"{100 * (ahead - fixed) / (oracle - fixed):.0f} % of the way" in page
    sure = [
        cell.number < 10
        for cell, each in compare_agents(results().estimates, "table1", "paper", "AHEAD", "FIXED").items()
        if each.significant and each.difference > 0
    ]
    assert f"significantly in {sum(sure)} of 24" in page


def test_where_the_oracle_is_below_the_best_fixed_pair() -> None:
    estimates = results().estimates
    below = {
        setting: sum(
            each.difference < 0 for each in compare_agents(estimates, "table1", setting, "ORACLE", "FIXED").values()
        )
        for setting in ("paper", "distance")
    }
    assert below["paper"] == 0
    page = text_of("docs/paper.md")
    assert "The oracle is no upper bound: it simulates, with noise, one pair ahead of FIXED." in page
    assert f"its mean is below that of FIXED in {below['distance']} of 33 cells, in setting `paper` in none." in page


AGENTS = {
    "random": "RAN",
    "classic roulette": "CRW",
    "learned roulette": "LRW",
    "DQN": "DQN",
    "best fixed pair": "FIXED",
}


@pytest.mark.parametrize("name", AGENTS)
def test_the_pages_have_one_value_for_each_cell_of_table_2(name: str) -> None:
    known = published_estimates()
    for cell, instance in zip(row_of_selectors(name), INSTANCES, strict=True):
        wanted = [
            Cell("table2", "paper", instance, ALL_DESTROYS, AGENTS[name], statistic) for statistic in ("avg", "min")
        ]
        expected = [results().estimates[each].mean for each in wanted] + [
            known[each].mean for each in wanted if each in known
        ]
        assert [float(number) for number in re.findall(r"[\d.]+", cell)] == pytest.approx(expected, abs=0.0501)


def test_the_pages_have_one_value_for_each_cell_of_the_larger_instances() -> None:
    page = (ROOT / "docs/train.md").read_text(encoding="utf-8")
    table = page[page.index("| instance | agent | 20 |") :].partition("\n\n")[0].splitlines()[2:]
    names = [(instance, agent) for instance in INSTANCES for agent in ("DQN", "LRW", "FIXED", "RAN")]
    for line, (instance, agent) in zip(table, names, strict=True):
        for cell, size in zip(line.strip("| ").split(" | ")[-5:], FULL.sizes, strict=True):
            figure = results().estimates[Cell("scaling", "paper", instance, size, agent)]
            expected = (figure.mean, figure.ci)
            numbers = [float(number) for number in re.findall(r"[\d.]+", cell)]
            assert numbers == pytest.approx(expected[: len(numbers)], abs=0.0501)


@pytest.mark.parametrize(
    ("experiment", "sizes", "names"),
    [
        (
            "scaling",
            FULL.sizes,
            {"GNN+": "GNN+", "the paper's GNN": "DQN", "LRW": "LRW", "RAN": "RAN", "FIXED": "FIXED"},
        ),
        ("large", FULL.large, {name: name for name in ("GNN+", "LRW", "RAN", "FIXED", "ORACLE")}),
    ],
)
def test_what_carries_over(experiment: str, sizes: tuple[int, ...], names: dict[str, str]) -> None:
    page = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
    table = page[page.index(f"| instance | agent | {' | '.join(map(str, sizes))} |") :].partition("\n\n")[0]
    lines = iter(table.splitlines()[2:])
    for instance in INSTANCES:
        for name, agent in names.items():
            found = [results().estimates[Cell(experiment, "paper", instance, size, agent)] for size in sizes]
            figures = [
                f"{estimate.mean:.1f}" + ("" if agent == "FIXED" else f" ± {estimate.ci:.1f}") for estimate in found
            ]
            begin = f"| {instance} |" if agent == "GNN+" else "| |"
            assert next(lines) == f"{begin} {name} | {' | '.join(figures)} |"


def test_in_how_many_cells_our_graph_network_differs_from_the_best_fixed_pair() -> None:
    estimates = results().estimates
    beaten = [compare_agents(estimates, "scaling", "paper", "GNN+", other) for other in ("LRW", "RAN")]
    assert all(each.significant and each.difference > 0 for found in beaten for each in found.values())
    assert [len(found) for found in beaten] == [15, 15]
    for name, experiment in (("larger instances", "scaling"), ("large generated instances", "large")):
        found = compare_agents(estimates, experiment, "paper", "GNN+", "FIXED").values()
        sure = [each.difference > 0 for each in found if each.significant]
        assert row_of("docs/paper.md", name) == [str(len(found)), str(sum(sure)), str(len(sure) - sum(sure))]


def test_the_bundled_policy_on_files_of_200_and_400_customers() -> None:
    rows = rows_in("benchmarks/results/learning/gehring-homberger.csv")
    kinds = ("gat-20-paper", "fixed", "oracle", "random")
    for name in {row["instance"] for row in rows}:
        of_kind = {row["agent"].partition(":")[0]: float(row["reward"]) for row in rows if row["instance"] == name}
        assert row_of("docs/paper.md", name)[-4:] == [f"{of_kind[kind]:.1f}" for kind in kinds]


def test_what_attention_reaches() -> None:
    page = text_of("docs/paper.md")
    rewards = {
        (row["instance"], row["destroy_operators"], row["agent"]): float(row["mean_reward"])
        for row in rows_in("results/table1.csv")
        if row["setting"] == "paper"
    }
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows_in("benchmarks/results/learning/attention.csv"):
        if (row["destroys"], row["width"]) != ("12", "128"):
            found.setdefault((row["instance"], row["destroys"]), []).append(float(row["test"]))
    means = {"attention": [float(np.mean(each)) for each in found.values()]}
    for agent in ("FIXED", "DQN", "AHEAD", "ORACLE"):
        means[agent] = [rewards[*cell, agent] for cell in found]
    agents = ("FIXED", "DQN", "AHEAD", "attention", "ORACLE")
    sizes = np.array([int(destroys) for _, destroys in found])

    def shares(cells: npt.NDArray[np.bool_]) -> dict[str, float]:
        mean = {agent: float(np.mean(np.array(means[agent])[cells])) for agent in agents}
        return {agent: 100 * (mean[agent] - mean["FIXED"]) / (mean["ORACLE"] - mean["FIXED"]) for agent in agents}

    for size in sorted(set(sizes.tolist())):
        figures = " | ".join(f"{np.mean(np.array(means[agent])[sizes == size]):.1f}" for agent in agents)
        assert f"| {size} | {figures} | {shares(sizes == size)['attention']:.0f} % |" in page
    whole, few = shares(sizes > 0), shares(sizes < 10)
    assert (
        f"Over all {len(found)} cells ([runs](../benchmarks/results/learning/attention.csv), which name the states, "
        f"epochs and layers of each) attention goes {whole['attention']:.0f} % of the way from FIXED to ORACLE, AHEAD "
        f"{whole['AHEAD']:.0f} %, the DQN {whole['DQN']:.0f} %"
    ) in page
    ahead = np.array(means["attention"]) > np.array(means["AHEAD"])
    assert int((~ahead[sizes >= 10]).sum()) == 8
    assert (
        f"It is ahead of AHEAD in {int(ahead[sizes < 10].sum())} of the {int((sizes < 10).sum())} cells where no pair "
        f"is without chance ({few['attention']:.0f} against {few['AHEAD']:.0f} %), and behind in eight of the nine "
        "where AHEAD simulates."
    ) in page


def test_what_a_dqn_on_the_features_of_looking_ahead_reaches() -> None:
    rows = rows_in("benchmarks/results/learning/ahead-dqn.csv")
    means = [np.mean([float(row["test"]) for row in rows if row["instance"] == instance]) for instance in INSTANCES]
    found = row_of(
        "docs/paper.md", "DQN on the features of AHEAD ([runs](../benchmarks/results/learning/ahead-dqn.csv))"
    )
    assert [float(figure) for figure in found] == pytest.approx(means, abs=0.0501)


def test_what_features_and_labels_bring() -> None:
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows_in("benchmarks/results/learning/labels.csv"):
        cells = found.setdefault((row["features"], row["labels"]), {})
        cells.setdefault(row["cell"], []).append(float(row["validation"]))
    for (features, labels), cells in found.items():
        means = [float(np.mean(cells[cell])) for cell in ("RC:3", "C:4", "C:5", "R:8", "RC:9", "C:11")]
        name = "foretold (AHEAD)" if (features, labels) == ("routes", "foretold") else labels
        shown = row_of("docs/paper.md", f"`{features}`", name)
        assert [float(figure) for figure in shown] == pytest.approx([*means, float(np.mean(means))], abs=0.0501)


STEERED = "vrptw,pdptw,hfvrp,mdvrptw,pcvrptw"
WITHOUT = "without-temperature,without-signs,without-traits,without-weights"


@pytest.mark.parametrize(
    ("heading", "options"),
    [
        ("the learned controller against | shorter by, %", "runs.csv"),
        ("the learned controller against | 100 to 166 customers", "runs.csv --by size"),
        ("both controllers against", f"fresh.csv --variants {STEERED} --arms constant,gain,uniform"),
        ("by size (`--by size`)", f"fresh.csv --variants {STEERED} --by size"),
        ("both controllers with all, against", f"fresh.csv --variants {STEERED} --arms {WITHOUT}"),
        ("`controller` against", f"runs.csv --time 60 --against controller --arms constant,gain --variants {STEERED}"),
    ],
)
def test_what_choosing_between_segments_brings(heading: str, options: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/choice.py"), "tell", *options.split()]
    told = subprocess.run(
        command, cwd=ROOT / "benchmarks/results/choice", capture_output=True, text=True, check=True
    ).stdout.splitlines()
    page = (ROOT / "docs/selectors.md").read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {re.escape(heading)}.*\n\|[-:|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    arms = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[3:-2]] for line in told[1:]}
    for line in table.splitlines():
        name, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        (arm,) = re.findall(r"^`([\w-]+)`", name)
        mean, p, corrected, *columns, pace = arms[arm]
        parts = [f"{float(cell.split()[0]):.2f}" if cell else "" for cell in columns]
        shown = [cell.replace("−", "-") for cell in cells]
        if "size" in options:
            assert shown == [*parts, pace]
            continue
        average, _, half = mean.partition(" ± ")
        assert shown[0] == f"{float(average):.2f} ± {float(half):.2f}"
        chances = [float(cell) for cell in shown[1 : len(shown) - len(parts)]]
        for given, found in zip(chances, (p, corrected), strict=False):
            assert given == pytest.approx(float(found), rel=0.2, abs=0.005 if given >= 0.1 else 0.0006)
        assert shown[len(shown) - len(parts) :] == parts


def row_of_selectors(name: str) -> list[str]:
    """The row of Table 2; other tables of the page have rows of the same names."""
    page = (ROOT / "docs/selectors.md").read_text(encoding="utf-8")
    table = page[page.index("| agent | C | R | RC |") :]
    (row,) = re.findall(rf"^\| {name} \| (.*) \|$", table.partition("\n\n")[0], re.MULTILINE)
    return [str(cell) for cell in row.split(" | ")]


def test_the_command_beside_the_classic_roulette_gives_its_row() -> None:
    (command,) = re.findall(r"^neuralns (evaluate --agent roulette.*)$", (ROOT / "docs/selectors.md").read_text(), re.M)
    found = invoke(*command.split(), "--json").json
    assert row_of_selectors("classic roulette")[0].startswith(f"{found['average']:.1f}, {found['minimum']:.1f} ")


# --- Other solvers. ---------------------------------------------------------------------------------------------------

SOLVERS = ("neuralns", "PyVRP", "HGS-CVRP", "OR-Tools", "VROOM")


def gaps_of(seconds: int) -> dict[str, dict[str, float]]:
    return mean_gaps(read_rows(ROOT / "benchmarks" / "results" / f"peers-{seconds}s.csv", SolverRun))


def test_the_gaps_of_all_solvers_after_10_and_60_seconds() -> None:
    short, long = gaps_of(10), gaps_of(60)
    lines = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8").replace("**", "").splitlines()
    for instance in short:
        first, second = ([float(cell) for cell in line.split("|")[2:-1]] for line in lines if f"| {instance} |" in line)
        assert first == [pytest.approx(short[instance][solver], abs=0.0051) for solver in SOLVERS]
        assert second == [
            pytest.approx(gaps[instance][solver], abs=0.0051) for gaps in (short, long) for solver in SOLVERS[:3]
        ]


@pytest.mark.parametrize(("seconds", "solvers"), [(10, SOLVERS), (60, SOLVERS[:3])])
def test_on_how_many_instances_each_solver_is_ahead(seconds: int, solvers: tuple[str, ...]) -> None:
    alone = dict.fromkeys(solvers, 0)
    for gaps in gaps_of(seconds).values():
        first, second, *_ = sorted(solvers, key=lambda solver: gaps[solver])
        alone[first] += not math.isclose(gaps[first], gaps[second], abs_tol=1e-9)
    sentence = f"neuralns alone is ahead on {alone['neuralns']} of the twelve, HGS-CVRP on {alone['HGS-CVRP']}"
    assert sentence in text_of("docs/benchmarks.md")


def test_what_is_said_of_small_and_large_instances_and_of_limits_that_were_not_kept() -> None:
    page, long = text_of("docs/benchmarks.md"), gaps_of(60)
    for sentence, (low, high), order in (
        ("HGS-CVRP is ahead (mean gap {:.2f} against {:.2f} %)", (0, 260), ("HGS-CVRP", "neuralns")),
        ("on the seven from 300 on neuralns is ({:.2f} against {:.2f} %)", (300, 1000), ("neuralns", "HGS-CVRP")),
    ):
        some = [gaps for name, gaps in long.items() if low <= int(name[3:6]) <= high]
        assert sentence.format(*(float(np.mean([gaps[solver] for gaps in some])) for solver in order)) in page
    runs = read_rows(ROOT / "benchmarks" / "results" / "peers-60s.csv", SolverRun)
    longest = max(runs, key=lambda run: run.wall)
    assert f"{longest.solver} took {longest.wall:.0f} s instead of 60 on {longest.instance}" in page
    assert "measured apart from this repository, which holds neither its runs nor its command" in page


def test_which_instances_of_the_comparison_are_bundled() -> None:
    bundled = [name for name in gaps_of(10) if name in bundled_names()]
    assert f"{', '.join(bundled[:-1])} and {bundled[-1]} are bundled" in text_of("docs/benchmarks.md")


# --- Rules that are broken for a while. -------------------------------------------------------------------------------


def test_where_rules_are_broken_for_a_while() -> None:
    page = "docs/solve.md"
    assert row_of(page, "size")[0] == f"at most {penalties.MOST_CUSTOMERS} customers"
    assert row_of(page, "time for each customer") == [
        f"{penalties.LEAST_SECONDS} s, or {penalties.LEAST_ITERATIONS} iterations",
        f"{penalties.SCARCE_SECONDS} s, or {penalties.SCARCE_ITERATIONS} iterations",
    ]
    assert row_of(page, "prices change") == [
        f"every {prices.step} iterations" for prices in (penalties.HARD, penalties.SCARCE)
    ]
    assert penalties.HARD.change == penalties.HARD.last_change == 1.02
    assert (penalties.SCARCE.change, penalties.SCARCE.last_change) == (1.5, 1.08)
    assert row_of(page, "levels change") == [
        "then, by 2 %",
        f"every {penalties.SCARCE.cycle} times, by 50 % at the start of the run and 8 % at its end",
    ]
    assert (penalties.SCARCE.swing, penalties.WIDE_SWING) == (3.0, 10.0)
    swings = row_of(page, "between two changes of its level")[1]
    assert f"more than {penalties.LONG_ROUTE} customers for each vehicle" in swings
    left_out = row_of(page, "if the best routes leave out somebody who must be served")[1]
    assert f"with {100 * penalties.SCARCE.hard_from:g} % of the run left" in left_out
    assert f"after {penalties.SCARCE.most_broken} changes of prices" in row_of(page, "if rules stay broken for long")[1]
    assert row_of(page, "an insertion loads a vehicle with at most")[:2] == [
        f"{prices.overload:.0%} more".replace("%", " %") for prices in (penalties.HARD, penalties.SCARCE)
    ]
    assert penalties.SCARCE_SHARE == 4 / 5
    assert penalties.NEAR == 5
    assert fewest.SERVING_SHARE == 1 / 5
