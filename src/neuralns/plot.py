"""Pictures of solutions and searches; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, how_to_install
from neuralns.files import check_writable, write_bytes
from neuralns.problem.instance import Instance
from neuralns.problem.limits import lateness_allowed
from neuralns.problem.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from neuralns.experiments.comparison import Point
    from neuralns.search.result import Result

FORMATS = ("png", "pdf", "svg")

# Okabe and Ito's colours, told apart with all kinds of colour vision; dashes set apart what is left.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#333333", "#B8A800")
DARK, PALE = "#222222", "#8C8C8C"
WINDOW = "#7DBBE3"
LOAD, ROOM, SHIFT = "#7CC4A8", "#E6F3EE", "#F3F3F3"
LATE = "#D55E00"
"""What is late or left out."""
NAMED_DEPOTS = 12
"""Most depots whose names a map shows."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
MARKERS = "osD^vPX"

Lines = Mapping[str, Sequence[tuple[float, float, float]]]
"""Names of lines, and their points: abscissa, height and half of an interval (NaN for none)."""


def routes(solution: Solution | Result, axes: Axes | None = None) -> Figure:
    """Draw the routes of a solution, the legs from and to depots lightly; customers on no route are hollow.

    Pickups and deliveries have marks of their own where there are both, and so have optional customers who are skipped
    and depots that no route uses. Returns the figure; ``save`` writes it to a file.
    """
    solution = _solution(solution)
    figure, axes = _axes(axes, (7.2, 7.2))
    instance, points = solution.instance, solution.instance.points
    for number, route in enumerate(solution.routes):
        colour = COLOURS[number % len(COLOURS)]
        dashes = DASHES[number // len(COLOURS) % len(DASHES)]
        path = points[list(route)]
        axes.plot(*path.T, color=colour, linestyle=dashes, linewidth=1.6, solid_capstyle="round", zorder=2)
        start, end = _ends(solution, number)
        for leg in ((*start, route[0]), (route[-1], *end)):
            if len(leg) > 1:
                axes.plot(*points[list(leg)].T, color=colour, linewidth=0.6, alpha=0.35, zorder=1)
    marks = _customer_marks(solution) | _depot_marks(solution)
    for name, (nodes, look) in marks.items():
        axes.scatter(*points[nodes].T, label=name, **look)
    if 1 < len(instance.depot_nodes) <= NAMED_DEPOTS and instance.names is not None:
        for node in instance.depot_nodes:
            _depot_name(axes, points[node], instance.label(node))
    # One kind of customers and of depots need no legend; who is not served is in the title.
    if not marks.keys() <= {"customer", "not served", "depot"}:
        columns = min(4, _columns_that_fit(axes, list(marks)))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns, frameon=False, fontsize=9)
    gap = "" if solution.gap is None else f", {solution.gap:.2f} % above the best known"
    _title(axes, f"{instance.name}: cost {format_cost(solution.cost)}, {_count(solution)}{_left_out(solution)}{gap}")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def _ends(solution: Solution, number: int) -> tuple[list[int], list[int]]:
    """Return the depots where a route begins and ends; none of an open one."""
    vehicle_type = solution.instance.types[solution.vehicles[number]]
    return ([] if vehicle_type.start is None else [vehicle_type.start]), (
        [] if vehicle_type.end is None else [vehicle_type.end]
    )


def _customer_marks(solution: Solution) -> dict[str, tuple[list[int], dict[str, Any]]]:
    """Return customers by what they are, and how each kind is marked."""
    instance = solution.instance
    size = float(np.clip(1400 / instance.customers, 3, 26))
    deliveries, pickups = (amounts.max(axis=1) > 0 for amounts in instance.amounts)
    sent = {each.pickup: "pickup" for each in instance.shipments or ()}
    sent |= {each.delivery: "delivery of a shipment" for each in instance.shipments or ()}
    served: dict[str, list[int]] = {}
    for node in (customer for route in solution.routes for customer in route):
        name = (
            "delivery and pickup" if deliveries[node] and pickups[node] else "pickup" if pickups[node] else "delivery"
        )
        served.setdefault(sent.get(node, name), []).append(node)
    if not pickups.any() and not sent:
        served = {"customer": served["delivery"]} if served else {}
    shapes = {
        "customer": "o",
        "delivery": "o",
        "pickup": "^",
        "delivery and pickup": "D",
        "delivery of a shipment": "v",
    }
    marks: dict[str, tuple[list[int], dict[str, Any]]] = {}
    for name in (name for name in shapes if name in served):
        # A circle looks larger than others of its size.
        grown = size if shapes[name] == "o" else max(1.4 * size, 9)
        look = {"s": grown, "marker": shapes[name], "color": DARK, "zorder": 3, "linewidths": 0}
        marks[name] = served[name], look
    hollow = {"s": 1.6 * size + 6, "color": "white", "zorder": 3}
    missed = list(solution.unserved)
    passed = sorted({*solution.skipped} - {*missed})
    if passed:
        marks["skipped"] = passed, {**hollow, "edgecolors": PALE, "linewidths": 1.0, "s": size + 6}
    if missed:
        marks["not served"] = missed, {**hollow, "edgecolors": LATE, "linewidths": 1.4}
    return marks


def _depot_marks(solution: Solution) -> dict[str, tuple[list[int], dict[str, Any]]]:
    """Return depots that routes use and others, and how they are marked."""
    every = list(solution.instance.depot_nodes)
    used = {node for number in range(len(solution.routes)) for ends in _ends(solution, number) for node in ends}
    look = {"s": 110, "marker": "s", "color": "white", "linewidths": 1.6, "zorder": 4}
    marks = {
        "depot": ([node for node in every if node in used or len(every) == 1], {**look, "edgecolors": DARK}),
        "depot, not used": (
            [node for node in every[1:] + every[:1] if node not in used and len(every) > 1],
            {**look, "edgecolors": "#B0B0B0"},
        ),
    }
    return {name: mark for name, mark in marks.items() if mark[0]}


def _depot_name(axes: Axes, point: npt.NDArray[np.float64], name: str) -> None:
    """Write a depot's name beside its mark."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        name if len(name) <= 24 else f"{name[:23]}\u2026", (point[0], point[1]), (8, 6), textcoords="offset points",
        fontsize=9, zorder=5, color=DARK, parse_math=False,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def timetable(solution: Solution | Result, axes: Axes | None = None) -> Figure:
    """Draw when each route is where, one line a route: driving, waiting and service, with the windows behind.

    The windows of a route are stacked above its line in the order of its stops, with a dot where service begins. The
    area behind the line is what is on board, full height being the capacity of its vehicle. A service that begins after
    its window, and a return after the depot has closed or the shift is over, are drawn as late.
    """
    solution = _solution(solution)
    if not solution.routes:
        raise InputError("there is no route to draw.")
    instance, number = solution.instance, len(solution.routes)
    height = float(np.clip(20 / number, 0.15, 0.5))
    figure, axes = _axes(axes, (10.0, 1.3 + height * number))
    begin = min(plan.departure for plan in solution.schedules)
    end = max(plan.arrival for plan in solution.schedules)
    shifts = _shifts(solution)
    if len(shifts):
        # Shifts are shown as far as they do not push what is done aside.
        span = end - begin
        begin = max(begin - span, min(begin, *shifts[:, 1]))
        end = min(end + span, max(end, *shifts[:, 2]))
    # A window's ends may lie beyond the picture.
    margin = 0.01 * (end - begin) or 1.0
    edges = begin - margin, end + margin
    windows = _window_lines(solution, edges, margin)
    loads = _load_bars(solution)
    middle = 0.08 if len(windows) else -0.1 if len(loads) else 0.0
    fine = 1.0 if number <= 40 else 0.45
    if len(shifts):
        starts, ends = np.clip(shifts[:, 1:], *edges).T
        axes.barh(shifts[:, 0], ends - starts, left=starts, height=0.94, color=SHIFT, label="shift", zorder=0.2)
    if len(loads):
        rows, starts, ends, shares = loads.T
        low = middle + 0.38
        plans = solution.schedules
        away = np.array([(row, plan.departure, plan.duration) for row, plan in enumerate(plans, 1)])
        axes.barh(away[:, 0] + low - 0.1, away[:, 2], left=away[:, 1], height=0.2, color=ROOM, zorder=1)
        axes.barh(
            rows + low - 0.1 * shares,
            ends - starts,
            left=starts,
            height=0.2 * shares,
            color=LOAD,
            label="load",
            zorder=1,
        )
    # Lines of many stops are thin, so as not to become an area.
    thin = min(fine, 18.0 * height / max(map(len, solution.routes)))
    axes.hlines(*windows[np.isfinite(windows[:, 1]), :3].T, color=WINDOW, linewidth=thin, zorder=1)
    axes.plot(windows[:, 3], windows[:, 0], ".", color=DARK, markersize=2.2 * fine, zorder=2)
    looks = {
        "driving": (0.08, "#7F7F7F", ""),
        "waiting": (0.2, "#F3D08A", "////"),
        "service": (0.3, COLOURS[0], ""),
        "late": (0.3, LATE, ""),
        "_back late": (0.12, LATE, ""),
    }
    for name, bars in _bars(solution).items():
        rows, starts, ends = np.array(bars, dtype=float).reshape(-1, 3).T
        thick, colour, hatch = looks[name]
        if name in ("service", "late"):
            # A service that takes no time is seen all the same.
            ends = np.maximum(ends, starts + 0.2 * margin)
        if len(rows):
            axes.barh(
                rows + middle, ends - starts, left=starts, height=thick, color=colour, label=name, zorder=3,
                hatch=hatch, edgecolor="white", linewidth=0.0 if hatch else 0.4,
            )  # fmt: skip
    if len(windows):
        dot = {"marker": ".", "markerfacecolor": DARK, "markeredgewidth": 0}
        axes.plot([], [], color=WINDOW, label="window, begin of service", **dot)  # type: ignore[arg-type]
    title = f"{instance.name}: cost {format_cost(solution.cost)}, {_count(solution)}{_left_out(solution)}"
    entries = axes.get_legend_handles_labels()[1]
    columns = _columns_that_fit(axes, entries)
    lines = -(-len(entries) // columns)
    # The legend stands beside the title if both fit, else below it.
    beside = lines == 1 and 0.09 * len(title) + _width_of(entries) < _width_of_axes(axes)
    _title(axes, title, 6.0 if beside else 6.0 + 16.0 * lines)
    axes.set_xlim(*edges)
    axes.set_ylim(number + 0.6, 0.4)
    _route_axis(axes, solution)
    _time_axis(axes, instance, end - begin)
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    look: dict[str, Any] = {"ncols": columns, "frameon": False, "fontsize": 9, "borderaxespad": 0.2}
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), **look)
    _clean(axes)
    return figure


def _route_axis(axes: Axes, solution: Solution) -> None:
    """Let ticks stand at routes, with the types of their vehicles where there are several."""
    instance, number = solution.instance, len(solution.routes)
    shown = list(range(1, number + 1) if number <= 60 else [1, *range(5, number + 1, 5)])
    texts = [str(row) for row in shown]
    if len(instance.types) > 1 and number <= 60:
        names = [instance.type_name(vehicle_type) for vehicle_type in solution.vehicles]
        texts = [f"{row}  {name if len(name) <= 20 else name[:19] + chr(0x2026)}" for row, name in enumerate(names, 1)]
    axes.set_yticks(shown, texts, parse_math=False)
    axes.tick_params(axis="y", length=0, labelsize=9 if number <= 40 else 8)
    axes.set_ylabel("route")


def _shifts(solution: Solution) -> npt.NDArray[np.float64]:
    """Return when shifts begin and end, each with the number of its route; none where there is but the depot's."""
    types = solution.instance.types
    if not any(np.isfinite(types[vehicle_type].shift).any() for vehicle_type in solution.vehicles):
        return np.empty((0, 3))
    plans = zip(solution.vehicles, solution.schedules, strict=True)
    found = [
        (
            row,
            types[vehicle_type].shift[0] if np.isfinite(types[vehicle_type].shift[0]) else plan.departure,
            types[vehicle_type].shift[1] if np.isfinite(types[vehicle_type].shift[1]) else plan.arrival,
        )
        for row, (vehicle_type, plan) in enumerate(plans, 1)
    ]
    return np.array(found, dtype=float)


def _load_bars(solution: Solution) -> npt.NDArray[np.float64]:
    """Return how full vehicles are, in the fullest dimension: the route, from when to when, and the share."""
    bars = []
    for row, (plan, vehicle_type) in enumerate(zip(solution.schedules, solution.vehicles, strict=True), 1):
        capacity = np.maximum(solution.instance.types[vehicle_type].capacity, 1e-12)
        times = [plan.departure, *(stop.departure for stop in plan.stops), plan.arrival]
        loads = [plan.loads, *(stop.loads for stop in plan.stops)]
        for since, until, load in zip(times, times[1:], loads, strict=False):
            share = float(np.clip(np.max(np.array(load) / capacity), 0.0, 1.1))
            if share > 0 and until > since:
                bars.append((row, since, until, share))
    return np.array(bars, dtype=float).reshape(-1, 4)


def _bars(solution: Solution) -> dict[str, list[tuple[float, float, float]]]:
    """Return what is done when, each as the number of its route, its begin and its end."""
    instance, allowed = solution.instance, lateness_allowed(solution.instance)
    activities = ("driving", "waiting", "service", "late", "_back late")
    bars: dict[str, list[tuple[float, float, float]]] = {name: [] for name in activities}
    for row, (plan, vehicle_type) in enumerate(zip(solution.schedules, solution.vehicles, strict=True), 1):
        now = plan.departure
        for position, stop in enumerate(plan.stops):
            late = stop.start > instance.latest[stop.node] + allowed
            if position or plan.start is not None:
                bars["driving"].append((row, now, stop.arrival))
            if stop.waiting > 0:
                bars["waiting"].append((row, stop.arrival, stop.start))
            bars["late" if late else "service"].append((row, stop.start, stop.departure))
            now = stop.departure
        if plan.end is not None:
            closes = min(float(instance.latest[plan.end]), instance.types[vehicle_type].shift[1])
            bars["_back late" if plan.arrival > closes + allowed else "driving"].append((row, now, plan.arrival))
    return bars


def _window_lines(solution: Solution, edges: tuple[float, float], margin: float) -> npt.NDArray[np.float64]:
    """Return heights, begins and ends of windows, and when service begins; those of a route are stacked above it.

    A window as wide as the picture has no ends to see: they are NaN.
    """
    instance = solution.instance
    if instance.windows is None:
        return np.empty((0, 4))
    lines = [
        (row - 0.46 + 0.36 * (position + 0.5) / len(plan.stops), *np.clip(window, *edges), stop.start)
        for row, plan in enumerate(solution.schedules, 1)
        for position, stop in enumerate(plan.stops)
        for window in instance.windows_of(stop.node)
    ]
    found = np.array(lines, dtype=float)
    wide = (found[:, 1] <= edges[0] + margin) & (found[:, 2] >= edges[1] - margin)
    found[wide, 1:3] = np.nan
    return np.empty((0, 4)) if wide.all() else found


def _time_axis(axes: Axes, instance: Instance, span: float) -> None:
    """Let ticks stand at round times, shown as the instance's clock does; dates only where a day begins."""
    axes.set_xlabel("time")
    if instance.clock is None:
        return
    most = float(np.clip(_width_of_axes(axes) / 0.7, 2, 12))
    days = 1440 * int(np.ceil(span / 1440 / most))
    step = next((step for step in (5, 10, 15, 30, 60, 120, 180, 360, 720) if span / step <= most), days)
    low, high = axes.get_xlim()
    ticks = np.arange(np.ceil(low / step) * step, high, step)
    texts = [instance.at(tick, exact=False) for tick in ticks]
    if len(texts) and "-" in texts[0][1:]:
        # A date with a time: the date where it is new.
        dates = [text[:10] for text in texts]
        new = [index == 0 or dates[index] != dates[index - 1] for index in range(len(dates))]
        texts = [f"{text[11:16]}{chr(10) + text[:10] if first else ''}" for text, first in zip(texts, new, strict=True)]
    axes.set_xticks(ticks, texts)


def tours(solution: Solution, title: str, axes: Axes | None = None) -> Figure:
    """Draw tours that may be incomplete: customers on the removal list are hollow."""
    figure, axes = _axes(axes, (4.2, 4.2))
    points = solution.instance.points
    for number, route in enumerate(solution.routes):
        colour = COLOURS[number % len(COLOURS)]
        dashes = DASHES[number // len(COLOURS) % len(DASHES)]
        start, end = _ends(solution, number)
        axes.plot(*points[[*start, *route, *end]].T, color=colour, linestyle=dashes, linewidth=1.4, zorder=1)
    routed = {customer for route in solution.routes for customer in route}
    size = float(np.clip(700 / solution.instance.customers, 8, 30))
    for customer in range(1, solution.instance.customers + 1):
        on_tour = customer in routed
        axes.scatter(
            points[customer, 0],
            points[customer, 1],
            s=size if on_tour else 1.6 * size,
            color="#222222" if on_tour else "white",
            edgecolors="#222222" if on_tour else "#D55E00",
            linewidths=0 if on_tour else 1.8,
            zorder=3,
        )
    depots = points[list(solution.instance.depot_nodes)]
    axes.scatter(depots[:, 0], depots[:, 1], s=70, marker="s", color="white", edgecolors=DARK, linewidths=1.4, zorder=4)
    _title(axes, title)
    axes.margins(0.08)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color("#DDDDDD")
    return figure


def episode(frames: Sequence[tuple[Solution, str]], title: str, columns: int = 4) -> Figure:
    """Draw a whole episode as a strip of states, each with the operator that led to it and the cost of its tours."""
    if not frames:
        raise InputError("there is no state to draw.")
    _matplotlib()
    from matplotlib.figure import Figure

    columns = min(columns, len(frames))
    rows = -(-len(frames) // columns)
    figure = Figure(figsize=(2.9 * columns, 3.2 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, axes in enumerate(panels):
        if number >= len(frames):
            axes.set_visible(False)
            continue
        solution, action = frames[number]
        # After each pair all customers are on routes, but for those who are left out.
        left_out = len(frames[number - number % 2][0].unserved)
        state = f"F = {format_cost(solution.cost)}, {_count(solution)}"
        if number % 2:
            state = f"{len(solution.unserved) - left_out} removed"
        if left_out:
            state += f", {left_out} unserved"
        tours(solution, f"S{number}  {action}", axes)
        axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=10, parse_math=False)
        axes.set_xlabel(state, fontsize=9)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    return figure


def to_array(figure: Figure) -> npt.NDArray[np.uint8]:
    """Return a figure as an image: height × width × red, green, blue."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba(), dtype=np.uint8)[..., :3].copy()  # type: ignore[no-untyped-call]


def convergence(results: Result | Sequence[Result], axes: Axes | None = None) -> Figure:
    """Draw the best cost over time, one line for each result, with the current cost behind a single one."""
    several = [results] if not isinstance(results, Sequence) else list(results)
    if not several:
        raise InputError("there is no result to draw.")
    figure, axes = _axes(axes, (7.2, 4.2))
    for number, result in enumerate(several):
        trace = result.trace
        label = f"{result.best.instance.name}, {result.selector}, seed {result.seed}"
        if len(several) == 1:
            axes.plot(trace.time, trace.current, color="#BBBBBB", linewidth=0.8, label="current")
            label = "best"
        dashes = DASHES[number // len(COLOURS) % len(DASHES)]
        colour = COLOURS[number % len(COLOURS)]
        axes.step(trace.time, trace.best, where="post", color=colour, linestyle=dashes, label=label, linewidth=1.6)
    known = {result.best.instance.best_known for result in several}
    if len(known) == 1 and (best_known := known.pop()) is not None:
        axes.axhline(best_known, color="#222222", linewidth=0.9, linestyle=(0, (2, 2)), label="best known")
    first = several[0].best
    _title(axes, f"{first.instance.name}: cost {format_cost(first.cost)}")
    axes.set_xlabel("seconds")
    axes.set_ylabel("cost")
    for text in axes.legend(frameon=False, fontsize=9).get_texts():
        text.set_parse_math(False)
    _clean(axes)
    return figure


def operator_shares(result: Result, axes: Axes | None = None) -> Figure:
    """Draw over time which share of the iterations each destroy and each repair operator got."""
    if axes is not None:
        raise InputError("operator shares need two panels; leave out the axes.")
    _matplotlib()
    from matplotlib.figure import Figure

    uses = np.array(result.trace.uses, dtype=float)
    times = np.array(result.trace.time)
    windows = min(60, len(times) - 1)
    if windows < 1:
        raise InputError("the search ended before its first segment; there is nothing to draw.")
    edges = np.unique(np.linspace(0, len(times) - 1, windows + 1).round().astype(int))
    during = np.diff(uses[edges], axis=0)
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for axes, phase in zip(panels, ("destroy", "repair"), strict=True):
        chosen = [index for index, use in enumerate(result.operators) if use.phase == phase]
        part = during[:, chosen]
        shares = part / np.maximum(part.sum(axis=1, keepdims=True), 1.0)
        colours = [COLOURS[rank % len(COLOURS)] for rank in range(len(chosen))]
        hatches = ["", "////", "...."]
        axes.stackplot(
            times[edges[1:]],
            (100 * shares).T,
            labels=[result.operators[index].name for index in chosen],
            colors=colours,
            hatch=[hatches[rank // len(COLOURS) % 3] for rank in range(len(chosen))],
            edgecolor="white",
            linewidth=0.4,
        )
        axes.set_ylim(0, 100)
        axes.set_ylabel(f"{phase} operators, %")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8, reverse=True)
        _clean(axes)
    _title(panels[0], f"{result.best.instance.name}: shares of the operators, selector {result.selector}")
    panels[1].set_xlabel("seconds")
    return figure


def anytime(points: Sequence[Point], title: str) -> Figure:
    """Draw how far each selector is above the best cost found, by iteration and by second, on average over the runs."""
    if not points:
        raise InputError("there is no run to draw.")
    _matplotlib()
    from matplotlib.figure import Figure

    best: dict[str, float] = {}
    for point in points:
        best[point.instance] = min(point.best, best.get(point.instance, np.inf))
    runs: dict[str, dict[tuple[str, int], list[Point]]] = {}
    for point in points:
        runs.setdefault(point.selector, {}).setdefault((point.instance, point.seed), []).append(point)
    figure = Figure(figsize=(7.2, 6.6), layout="constrained")
    panels = figure.subplots(2, 1)
    for axes, what, label in zip(panels, ("iteration", "seconds"), ("iterations", "seconds"), strict=True):
        for number, (selector, traces) in enumerate(runs.items()):
            ends = [max(getattr(point, what) for point in trace) for trace in traces.values()]
            grid = np.geomspace(max(float(np.median(ends)) / 200, 1e-6), max(float(np.median(ends)), 2e-6), 80)
            curves = []
            for (instance, _), trace in traces.items():
                abscissas = np.array([getattr(point, what) for point in trace], dtype=float)
                costs = np.array([point.best for point in trace])
                held = np.clip(np.searchsorted(abscissas, grid, side="right") - 1, 0, None)
                curves.append(100 * (costs[held] / best[instance] - 1))
            axes.plot(
                grid, np.maximum(np.mean(curves, axis=0), 1e-3), label=selector, color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number // 2 % len(DASHES)], linewidth=1.6,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        for side in (axes.yaxis, axes.xaxis):
            side.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" else "")
        axes.set_xlabel(label)
        axes.set_ylabel("above the best found, %")
        _clean(axes)
    for text in panels[0].legend(frameon=False, fontsize=9).get_texts():
        text.set_parse_math(False)
    _title(panels[0], title)
    return figure


def gaps(points: Mapping[str, Sequence[tuple[int, float]]], title: str, axes: Axes | None = None) -> Figure:
    """Draw gaps over the number of customers, one line for each solver, the first one strong.

    Where instances have the same number of customers the line goes through their mean, and each is a faint point.
    """
    figure, axes = _axes(axes, (7.2, 4.6))
    for number, (name, pairs) in enumerate(points.items()):
        shown = sorted((size, gap) for size, gap in pairs if np.isfinite(gap))
        sizes = sorted({size for size, _ in shown})
        look: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "zorder": 3 if number == 0 else 2,
        }
        if len(sizes) < len(shown):
            each = [max(gap, 0.01) for _, gap in shown]
            axes.plot([size for size, _ in shown], each, ls="", ms=3.5, alpha=0.35, **look)
        axes.plot(
            sizes,
            [max(float(np.mean([gap for other, gap in shown if other == size])), 0.01) for size in sizes],
            markersize=5 if number == 0 else 4,
            linewidth=2.4 if number == 0 else 1.0,
            label=name,
            **look,
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("customers")
    axes.set_ylabel("gap, %")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _clean(axes)
    return figure


def panels(
    lines: Mapping[str, Lines], title: str, across: str, up: str, *,
    behind: Mapping[str, Lines] | None = None, log: bool = False, one_scale: bool = True,
) -> Figure:  # fmt: skip
    """Draw lines with their intervals in panels side by side, the first line strong.

    Parameters
    ----------
    lines
        The lines of each panel. A line has the same look in all panels, by its rank among the names; one without
        points keeps its rank but is not drawn.
    across, up
        What the two axes show.
    behind
        Published lines, drawn thin and grey behind those with the same name, whose markers they have, hollow.
    log
        Whether abscissas are spread by their logarithm.
    one_scale
        Whether all panels have the same heights.
    """
    names = list(dict.fromkeys(name for panel in lines.values() for name in panel))
    if not any(points for panel in lines.values() for points in panel.values()):
        raise InputError("there is no line to draw.")
    _matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    every = figure.subplots(1, len(lines), sharey=one_scale, squeeze=False).ravel()
    labels: dict[str, Any] = {}
    for axes, (name, panel) in zip(every, lines.items(), strict=True):
        for line, points in ((behind or {}).get(name, {})).items():
            if points:
                marker = MARKERS[names.index(line) % len(MARKERS)]
                labels[f"{line}, published"] = axes.errorbar(
                    *_columns(points), color="#999999", linewidth=0.8, elinewidth=0.8, marker=marker, markersize=5,
                    markerfacecolor="white", zorder=1,
                )  # fmt: skip
        for number, line in enumerate(names):
            if not panel.get(line):
                continue
            abscissas, heights, half = _columns(panel[line])
            colour = COLOURS[number % len(COLOURS)]
            (labels[line],) = axes.plot(
                abscissas, heights, color=colour, linestyle=DASHES[number % len(DASHES)], markersize=5.5,
                marker=MARKERS[number % len(MARKERS)], linewidth=2.4 if number == 0 else 1.4,
                zorder=4 if number == 0 else 3,
            )  # fmt: skip
            axes.fill_between(
                abscissas, heights - half, heights + half, color=colour, alpha=0.22, linewidth=0, zorder=2
            )
        if log:
            axes.set_xscale("log")
        ticks = sorted({point[0] for line in panel.values() for point in line})
        # Labels of more than six would run into each other.
        ticks = ticks[:: -(-len(ticks) // 6)]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.margins(x=0.07)
        axes.set_title(name, fontsize=13, parse_math=False)
        # Side by side three labels would run into each other; one in the middle stands for all.
        if len(every) < 3 or axes is every[len(every) // 2]:
            axes.set_xlabel(across, fontsize=13, parse_math=False)
        axes.tick_params(labelsize=12)
        axes.grid(axis="y", color="#E5E5E5", linewidth=0.6)
        _clean(axes)
    every[0].set_ylabel(up, fontsize=13, parse_math=False)
    order = [name for name in names if name in labels]
    published = [f"{name}, published" for name in names if f"{name}, published" in labels]
    if published:
        # The third of three columns is theirs.
        order += [" "] * (2 * max(len(published), -(-len(order) // 2)) - len(order))
    handles = [labels.get(name, Line2D([], [], color="none")) for name in (*order, *published)]
    legend = figure.legend(
        handles, [*order, *published], loc="outside lower center", ncols=3, frameon=False, fontsize=12
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, parse_math=False)
    return figure


def to_svg(figure: Figure) -> str:
    """Return a figure as the text of an SVG picture, the same each time."""
    from matplotlib import rc_context

    content = io.StringIO()
    with rc_context({"svg.hashsalt": "neuralns"}):
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a PNG, PDF or SVG file, at once or not at all."""
    check_plot_path(path)
    content = io.BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=150)
    write_bytes(path, content.getvalue())


def check_plot_path(path: str | os.PathLike[str]) -> None:
    """Refuse a picture's path that cannot be written, or whose format is not known, before any work is done."""
    suffix = Path(path).suffix[1:].lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: a picture's name must end with {', '.join('.' + name for name in FORMATS)}.")
    check_writable(path)
    _matplotlib()


def format_cost(cost: float) -> str:
    """Return a cost as people write it: whole if it is, else with two decimals.

    >>> format_cost(27591.0), format_cost(819.5575)
    ('27591', '819.56')
    """
    return f"{cost:.0f}" if cost == round(cost) else f"{cost:.2f}"


def _count(solution: Solution) -> str:
    number = len(solution.routes)
    return f"{number} route" if number == 1 else f"{number} routes"


def _left_out(solution: Solution) -> str:
    instance = solution.instance
    # Of a group that is served the others are no loss.
    passed = sum(
        customer not in instance.group_of or instance.prize(customer) > 0
        for customer in {*solution.skipped} - {*solution.unserved}
    )
    missed = f", {len(solution.unserved)} not served" if solution.unserved else ""
    return missed + (f", {passed} skipped" if passed else "")


def _solution(source: Solution | Result) -> Solution:
    return source if isinstance(source, Solution) else source.best


def _axes(axes: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    if axes is not None:
        figure = axes.get_figure(root=True)
        assert figure is not None
        return figure, axes
    _matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots()


def _columns(points: Sequence[tuple[float, float, float]]) -> tuple[npt.NDArray[np.float64], ...]:
    return tuple(np.array(sorted(points), dtype=float).T)


def _width_of_axes(axes: Axes) -> float:
    """Return how wide axes are, in inches."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return float(axes.get_window_extent().width / figure.dpi)


def _width_of(entries: Sequence[str]) -> float:
    """Return about how wide a legend of one line is, in inches."""
    return sum(0.55 + 0.075 * len(entry) for entry in entries)


def _columns_that_fit(axes: Axes, entries: Sequence[str]) -> int:
    """Return how many columns a legend may have."""
    return max(1, min(len(entries), int(len(entries) * _width_of_axes(axes) / _width_of(entries))))


def _title(axes: Axes, text: str, pad: float | None = None) -> None:
    axes.set_title(text, loc="left", fontsize=11, pad=pad, parse_math=False)


def _clean(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(f"pictures need matplotlib; install it with: {how_to_install('plot')}.") from None
