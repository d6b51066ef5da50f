"""Pictures: what they show, and the files they are written to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import texts
from neuralns import InputError, Instance, MaxIterations, Result, Solution, plot, solve
from neuralns.experiments.comparison import Point
from neuralns.problem.fleet import Depot, Group, Shipment, VehicleType

Draw = Callable[[Result], Figure]
EVERY_PICTURE = [plot.routes, plot.convergence, plot.operator_shares]


@pytest.fixture(scope="module")
def result() -> Result:
    return solve("A-n32-k5", MaxIterations(500), seed=1, selector="roulette")


def test_routes_are_drawn_and_titled_with_their_cost() -> None:
    figure = plot.routes(texts.SERVED)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "tiny: cost 36, 2 routes, -10.00 % above the best known"
    drawn = [np.column_stack(line.get_data()).tolist() for line in axes.lines]
    for route in texts.SERVED.routes:
        for part in (list(route), [0, route[0]], [route[-1], 0]):
            assert texts.TINY.points[part].tolist() in drawn


def test_routes_of_a_result_are_those_of_its_best_solution(result: Result) -> None:
    assert plot.routes(result).axes[0].get_title(loc="left") == plot.routes(result.best).axes[0].get_title(loc="left")


def test_more_routes_than_colours_are_told_apart_by_dashes() -> None:
    customers = len(plot.COLOURS) + 1
    instance = Instance("fan", [0] + [1] * customers, 1, [[i, i * i] for i in range(customers + 1)])
    lines = plot.routes(Solution(instance, [[customer] for customer in range(1, customers + 1)])).axes[0].lines
    looks = {(line.get_color(), line.get_linestyle()) for line in lines if line.get_linewidth() > 1}
    assert len(looks) == customers


def test_customers_on_no_route_are_hollow() -> None:
    axes = plot.routes(Solution(texts.TINY, [[1, 2]])).axes[0]
    assert axes.get_title(loc="left").startswith("tiny: cost 22.50, 1 route, 1 not served")
    served, left_out, depot = (np.asarray(marks.get_offsets()).tolist() for marks in axes.collections)
    assert (served, left_out) == (texts.TINY.points[[1, 2]].tolist(), texts.TINY.points[[3]].tolist())
    assert to_hex(axes.collections[1].get_facecolor()[0]) == "#ffffff"  # type: ignore[arg-type]
    assert depot == texts.TINY.points[[0]].tolist()


# --- Timetables. ------------------------------------------------------------------------------------------------------

DAY = Instance(
    "day",
    [0, 1, 1, 1],
    3,
    [[0, 0], [0, 10], [0, 20], [0, 30]],
    windows=[[480, 600], [500, 505], [520, 540], [480, 490]],
    service=[0, 5, 5, 5],
    clock="00:00",
)


def drawn_bars(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Begins and ends of what is drawn, by name."""
    return {
        str(bars.get_label()): [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
        for bars in axes.containers
    }


def test_a_timetable_shows_driving_waiting_service_and_windows() -> None:
    (axes,) = plot.timetable(Solution(DAY, [[1, 2], [3]])).axes
    assert axes.get_title(loc="left") == "day: cost 100, 2 routes"
    bars = drawn_bars(axes)
    assert bars["service"] == [(505, 510), (520, 525)]
    assert bars["driving"] == [(495, 505), (510, 520), (525, 545), (480, 510), (515, 545)]
    assert bars["late"] == [(510, 515)]
    (windows,) = axes.collections
    assert [segment[:, 0].tolist() for segment in windows.get_segments()][:2] == [[500, 505], [520, 540]]  # type: ignore[attr-defined]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        "08:00",
        "08:10",
        "08:20",
        "08:30",
        "08:40",
        "08:50",
        "09:00",
    ][:7]
    legend = axes.get_legend()
    assert legend is not None
    named = {text.get_text() for text in legend.get_texts()}
    assert named == {"driving", "service", "late", "load", "window, begin of service"}


def test_a_timetable_shows_waiting_and_a_late_return() -> None:
    late = Instance("late", [0, 1, 1], 2, [[0, 0], [0, 10], [0, 5]], windows=[[0, 24], [0, 10], [20, 30]])
    bars = drawn_bars(plot.timetable(Solution(late, [[1, 2]])).axes[0])
    assert (bars["waiting"], bars["_back late"]) == ([(15, 20)], [(20, 25)])


@pytest.mark.parametrize("clock", [None, "00:00", "2026-03-02T00:00"])
@pytest.mark.parametrize("routes", [1, 3, 70])
def test_a_timetable_of_any_size_is_drawn(clock: str | None, routes: int) -> None:
    instance = Instance("many", [0] + [1] * routes, 1, [[0, 0]] + [[i, i] for i in range(routes)], clock=clock)
    figure = plot.timetable(Solution(instance, [[customer] for customer in range(1, routes + 1)]))
    assert plot.to_array(figure).shape[1] == 1000
    assert figure.get_size_inches()[1] < 22


def test_dates_are_shown_where_a_day_begins() -> None:
    instance = Instance("two days", [0, 1], 1, [[0, 0], [0, 1000]], clock="2026-03-02T00:00")
    texts_shown = [tick.get_text() for tick in plot.timetable(Solution(instance, [[1]])).axes[0].get_xticklabels()]
    assert texts_shown[0] == "00:00\n2026-03-02"
    assert [text for text in texts_shown if "2026-03-03" in text] == ["00:00\n2026-03-03"]


def test_a_timetable_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"there is no route to draw\."):
        plot.timetable(Solution(DAY, []))


# --- Fleets, depots, pickups and optional customers. ------------------------------------------------------------------

MIXED = Instance(
    "mixed",
    coordinates=[[0, 0], [1, 0], [2, 0], [3, 0], [4, 1], [5, 1], [6, 0], [7, 0], [9, 0], [9, 9]],
    deliveries=[0, 4, 1, 0, 0, 0, 3, 2, 0, 0],
    pickups=[0, 0, 2, 3, 0, 0, 0, 0, 0, 0],
    shipments=[Shipment(4, 5, 6)],
    windows=[[0, 50], *[[0, 60]] * 9],
    openings={2: [(3, 5), (8, 11)]},
    prizes=[*[np.inf] * 7, 5, np.inf, np.inf],
    fleet=[VehicleType(10, shift=(0, 12), name="truck"), VehicleType(12, start=8, end=None, name="van")],
    depots=[Depot(), Depot(), Depot()],
    names=["North", *"abcdefg", "South", "West"],
    clock="00:00",
)
PLAN = Solution(MIXED, [[1, 2, 3], [4, 5]], [0, 1])


def marked(axes: Axes) -> dict[str, list[list[float]]]:
    """Where marks are, by what they mean."""
    return {str(marks.get_label()): np.asarray(marks.get_offsets()).tolist() for marks in axes.collections}


def test_marks_tell_pickups_deliveries_depots_and_who_is_left_out() -> None:
    (axes,) = plot.routes(PLAN).axes
    places = {name: [MIXED.points[node].tolist() for node in nodes] for name, nodes in {
        "delivery": [1], "pickup": [3, 4], "delivery and pickup": [2], "delivery of a shipment": [5],
        "skipped": [7], "not served": [6], "depot": [0, 8], "depot, not used": [9],
    }.items()}  # fmt: skip
    assert marked(axes) == places
    shapes = {np.asarray(path.get_paths()[0].vertices).tobytes() for path in axes.collections[:4]}
    assert len(shapes) == 4
    edges = {str(marks.get_label()): to_hex(np.asarray(marks.get_edgecolor())[0]) for marks in axes.collections}
    assert len({edges[name] for name in ("skipped", "not served", "depot")}) == 3
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(places)
    assert [text.get_text() for text in axes.texts] == ["North", "South", "West"]
    assert axes.get_title(loc="left").endswith(", 2 routes, 1 not served, 1 skipped")


def test_routes_are_drawn_from_and_to_their_own_depots() -> None:
    drawn = drawn_paths(plot.routes(PLAN).axes[0])
    legs = [[0, 1], [3, 0], [8, 4]]
    assert sorted(drawn) == sorted(MIXED.points[part].tolist() for part in ([1, 2, 3], [4, 5], *legs))
    tours = drawn_paths(plot.tours(PLAN, "").axes[0])
    assert tours == [MIXED.points[[0, 1, 2, 3, 0]].tolist(), MIXED.points[[8, 4, 5]].tolist()]


def test_a_plain_solution_has_no_legend() -> None:
    assert plot.routes(texts.SERVED).axes[0].get_legend() is None
    assert plot.routes(Solution(texts.TINY, [[1, 2]])).axes[0].get_legend() is None


def test_others_of_a_group_are_no_loss() -> None:
    group = Instance("group", [0, 1, 1, 1], 3, [[0, 0], [1, 1], [2, 2], [3, 3]], groups=[Group([1, 2])])
    (axes,) = plot.routes(Solution(group, [[1, 3]])).axes
    assert axes.get_title(loc="left") == "group: cost 8.49, 1 route"
    assert marked(axes)["skipped"] == [[2, 2]]


def test_a_timetable_shows_loads_shifts_and_all_windows() -> None:
    (axes,) = plot.timetable(PLAN).axes
    heights = {
        str(bars.get_label()): [(bar.get_x(), round(bar.get_height() / 0.2, 9)) for bar in bars]
        for bars in axes.containers
    }
    truck, van = PLAN.schedules
    leaving = [stop.departure for stop in truck.stops]
    assert heights["load"] == [
        (truck.departure, 0.5),
        (leaving[0], 0.1),
        (leaving[1], 0.2),
        (leaving[2], 0.5),
        (van.stops[0].departure, 0.5),
    ]
    shifts = drawn_bars(axes)["shift"]
    assert shifts[0] == (0, 12)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1  truck", "2  van"]
    (windows,) = axes.collections
    segments = [segment[:, 0].tolist() for segment in windows.get_segments()]  # type: ignore[attr-defined]
    assert segments == [[3, 5], [8, 11]]
    # No depot, no way to it.
    assert len([bar for bar in axes.containers[-2] if bar.get_y() > 1.5]) == 2


def test_windows_wider_than_the_picture_are_not_drawn() -> None:
    wide = replace(DAY, windows=np.array([[0, 900], [0, 900], [520, 540], [0, 900]], dtype=float))
    windows = plot.timetable(Solution(wide, [[1, 2], [3]])).axes[0].collections[0]
    spans = [segment[:, 0].tolist() for segment in windows.get_segments()]  # type: ignore[attr-defined]
    assert spans == [[520, 540]]
    axes = plot.timetable(Solution(wide, [[1], [3]])).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["load", "driving", "service"]


def test_a_return_after_the_shift_is_late() -> None:
    short = replace(MIXED, fleet=(VehicleType(10, shift=(0, 5)), MIXED.types[1]))
    bars = drawn_bars(plot.timetable(Solution(short, [[1, 2, 3]], [0])).axes[0])
    assert len(bars["_back late"]) == 1


def test_loads_of_several_dimensions_are_those_of_the_fullest() -> None:
    two = Instance("two", None, None, [[0, 0], [0, 4]], deliveries=[[0, 0], [1, 3]], fleet=[VehicleType([10, 4])])
    (bar,) = next(
        bars for bars in plot.timetable(Solution(two, [[1]])).axes[0].containers if bars.get_label() == "load"
    )
    assert bar.get_height() == pytest.approx(0.2 * 0.75)


@pytest.mark.parametrize("size", [(3.0, 2.0), (5.0, 3.0), (20.0, 4.0)])
def test_pictures_of_any_size_hold_their_legends(size: tuple[float, float]) -> None:
    for draw in (plot.routes, plot.timetable):
        figure = Figure(figsize=size)
        draw(PLAN, figure.subplots())
        assert plot.to_array(figure).any()


def test_convergence_shows_the_best_current_and_best_known_cost(result: Result) -> None:
    (axes,) = plot.convergence(result).axes
    labels = {line.get_label(): line for line in axes.lines}
    assert set(labels) == {"current", "best", "best known"}
    assert np.asarray(labels["best"].get_ydata()).tolist() == result.trace.best
    assert np.asarray(labels["best known"].get_ydata()).tolist() == [784, 784]


def test_convergence_of_several_results_has_a_line_for_each(result: Result) -> None:
    other = solve("A-n32-k5", MaxIterations(50), seed=2, selector="random")
    labels = [line.get_label() for line in plot.convergence([result, other]).axes[0].lines]
    assert labels == ["A-n32-k5, roulette, seed 1", "A-n32-k5, random, seed 2", "best known"]


def test_convergence_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"there is no result to draw\."):
        plot.convergence([])


def test_operator_shares_name_every_operator_of_each_phase(result: Result) -> None:
    panels = plot.operator_shares(result).axes
    for axes, phase in zip(panels, ("destroy", "repair"), strict=True):
        legend = axes.get_legend()
        assert legend is not None
        named = {text.get_text() for text in legend.get_texts()}
        assert named == {use.name for use in result.operators if use.phase == phase}
        assert axes.get_ylabel() == f"{phase} operators, %"


def test_operator_shares_add_up_to_100_per_cent(result: Result) -> None:
    for axes in plot.operator_shares(result).axes:
        assert axes.dataLim.ymax == pytest.approx(100)


def test_operator_shares_of_a_search_that_never_began_are_refused() -> None:
    with pytest.raises(InputError, match="there is nothing to draw"):
        plot.operator_shares(solve("A-n32-k5", MaxIterations(0)))


def test_a_picture_can_join_axes_of_ones_own(result: Result) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot.routes(result, left) is figure
    assert plot.convergence(result, right) is figure
    assert left.lines
    assert right.lines
    with pytest.raises(InputError, match="operator shares need two panels"):
        plot.operator_shares(result, left)


def drawn_paths(axes: Axes) -> list[list[list[float]]]:
    return [np.column_stack(line.get_data()).tolist() for line in axes.lines]


def spots(axes: Axes) -> dict[tuple[float, float], str]:
    """Where circles are drawn, and the colour that each is filled with."""
    found = {}
    for collection in axes.collections:
        (point,) = np.asarray(collection.get_offsets()).tolist()
        found[tuple(point)] = to_hex(np.asarray(collection.get_facecolor())[0])
    return found


def test_tours_are_drawn_whole_and_removed_customers_hollow() -> None:
    partial = Solution(texts.TINY, [texts.SERVED.routes[0]])
    figure = plot.tours(partial, "zone")
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "zone"
    points = texts.TINY.points
    (route,) = partial.routes
    assert drawn_paths(axes) == [points[[0, *route, 0]].tolist()]
    filled = spots(axes)
    for customer in range(1, texts.TINY.customers + 1):
        assert (filled[tuple(points[customer].tolist())] == "#222222") == (customer in route)
    assert filled[tuple(points[0].tolist())] == "#ffffff"


def test_complete_tours_have_no_hollow_customer() -> None:
    (axes,) = plot.tours(texts.SERVED, "").axes
    assert len(axes.lines) == len(texts.SERVED.routes)
    assert list(spots(axes).values()).count("#ffffff") == 1


def test_more_tours_than_colours_are_told_apart_by_dashes() -> None:
    customers = len(plot.COLOURS) + 1
    instance = Instance("fan", [0] + [1] * customers, 1, [[i, i * i] for i in range(customers + 1)])
    lines = plot.tours(Solution(instance, [[customer] for customer in range(1, customers + 1)]), "").axes[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == customers


def test_an_episode_is_a_strip_of_states() -> None:
    destroyed = Solution(texts.TINY, [texts.SERVED.routes[0]])
    waiting = texts.TINY.customers - len(texts.SERVED.routes[0])
    frames = [(texts.SERVED, "start"), (destroyed, "zone"), (texts.SERVED, "greedy"), (destroyed, "pair")]
    frames.append((Solution(texts.TINY, [sorted(c for route in texts.SERVED.routes for c in route)]), "regret-2"))
    figure = plot.episode(frames, "an episode", columns=3)
    assert figure.get_suptitle() == "an episode"
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(figure.axes) == 6
    assert [axes.get_title(loc="left") for axes in shown] == [
        f"S{number}  {action}" for number, (_, action) in enumerate(frames)
    ]
    complete = f"F = {plot.format_cost(texts.SERVED.cost)}, 2 routes"
    assert [axes.get_xlabel() for axes in shown[:4]] == [complete, f"{waiting} removed", complete, f"{waiting} removed"]
    assert shown[4].get_xlabel().endswith(", 1 route")
    assert [len(axes.lines) for axes in shown] == [2, 1, 2, 1, 1]


def test_a_short_episode_takes_no_more_columns_than_states() -> None:
    assert len(plot.episode([(texts.SERVED, "start")], "").axes) == 1
    with pytest.raises(InputError, match=r"^there is no state to draw\.$"):
        plot.episode([], "")


def test_names_with_dollar_signs_in_tours_and_episodes_are_no_formula() -> None:
    title = r"$\frac$ and $x$"
    assert plot.to_array(plot.tours(texts.SERVED, title)).any()
    assert plot.to_array(plot.episode([(texts.SERVED, title)], title)).any()


def test_a_figure_becomes_an_image_of_red_green_and_blue() -> None:
    figure = Figure(figsize=(3, 2), dpi=50, facecolor="#102030")
    image = plot.to_array(figure)
    assert (image.shape, image.dtype.name) == ((100, 150, 3), "uint8")
    assert (image == [0x10, 0x20, 0x30]).all()
    image[:] = 0
    assert plot.to_array(figure).any()


def test_images_of_different_tours_differ() -> None:
    one, other = (
        plot.to_array(plot.tours(Solution(texts.TINY, routes), "")) for routes in ([[1, 2, 3]], [[1], [2, 3]])
    )
    assert one.shape == other.shape
    assert (one != other).any()
    assert np.array_equal(one, plot.to_array(plot.tours(Solution(texts.TINY, [[1, 2, 3]]), "")))


def curve(selector: str, *steps: tuple[int, float], instance: str = "a", seed: int = 1) -> list[Point]:
    """The course of a run: iterations, of 0.5 s each, and the best cost."""
    return [Point(instance, selector, "9it", seed, iteration / 2, iteration, cost) for iteration, cost in steps]


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """What is drawn for each selector: places and heights."""
    found = {}
    for line in axes.lines:
        places, heights = (np.asarray(values, dtype=float).tolist() for values in line.get_data())
        found[str(line.get_label())] = (places, heights)
    return found


def height(found: dict[str, tuple[list[float], list[float]]], selector: str, place: float) -> float:
    """The height of a curve at the first place drawn from ``place`` on."""
    places, heights = found[selector]
    return heights[int(np.searchsorted(places, place))]


def test_anytime_curves_show_the_excess_by_iteration_and_by_second() -> None:
    points = [*curve("x", (0, 120.0), (4, 110.0), (8, 100.0)), *curve("y", (0, 120.0), (2, 105.0), (8, 102.0))]
    figure = plot.anytime(points, "two selectors")
    by_iteration, by_second = figure.axes
    assert by_iteration.get_title(loc="left") == "two selectors"
    assert (by_iteration.get_xlabel(), by_second.get_xlabel()) == ("iterations", "seconds")
    assert by_iteration.get_xscale() == by_iteration.get_yscale() == by_second.get_xscale() == "log"
    legend = by_iteration.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["x", "y"]
    for axes, unit in ((by_iteration, 1.0), (by_second, 0.5)):
        found = lines(axes)
        assert set(found) == {"x", "y"}
        # The best cost is 100. A curve keeps its height until the next point.
        for place, x, y in ((0.1, 20, 20), (1.8, 20, 20), (2.0, 20, 5), (3.7, 20, 5), (4.0, 10, 5), (7.3, 10, 5)):
            assert height(found, "x", place * unit) == pytest.approx(x)
            assert height(found, "y", place * unit) == pytest.approx(y)
        assert found["x"][0][-1] == found["y"][0][-1] == 8 * unit
        # None at all cannot be drawn on a logarithmic scale.
        assert found["x"][1][-1] == pytest.approx(1e-3)
        assert found["y"][1][-1] == pytest.approx(2)


def test_anytime_curves_are_means_over_instances_and_seeds() -> None:
    points = [
        *curve("x", (0, 110.0), (8, 100.0), instance="a"),
        *curve("x", (0, 120.0), (8, 104.0), instance="a", seed=2),
        *curve("x", (0, 1300.0), (8, 1000.0), instance="b"),
    ]
    found = lines(plot.anytime(points, "").axes[0])
    assert height(found, "x", 1) == pytest.approx((10 + 20 + 30) / 3)
    assert found["x"][1][-1] == pytest.approx((0 + 4 + 0) / 3)


def test_anytime_curves_of_many_selectors_are_told_apart() -> None:
    many = [point for number in range(12) for point in curve(f"s{number}", (0, 120.0), (8, 100.0))]
    drawn = plot.anytime(many, "").axes[0].lines
    assert len({(line.get_color(), str(line._dash_pattern)) for line in drawn}) == 12  # type: ignore[attr-defined]


def test_an_anytime_curve_of_a_search_that_never_began_is_drawn() -> None:
    assert plot.to_array(plot.anytime(curve("x", (0, 120.0)), "")).any()


def test_names_with_dollar_signs_in_anytime_curves_are_no_formula(tmp_path: Path) -> None:
    plot.save(plot.anytime(curve(r"$\frac$", (0, 120.0), (8, 100.0)), r"$\frac$"), tmp_path / "a.png")


def test_anytime_curves_that_cannot_be_drawn_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"^there is no run to draw\.$"):
        plot.anytime([], "")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[plot\]' in the project's folder"):
        plot.anytime(curve("x", (0, 1.0)), "")


AGENTS: dict[str, plot.Lines] = {
    "C": {"DQN": [(2, 10.0, 1.0), (12, 30.0, 2.0), (5, 20.0, 0.5)], "LRW": [(2, 11.0, np.nan)], "FIXED": []},
    "R": {"DQN": [(2, 12.0, np.nan), (5, 14.0, np.nan)], "RAN": [(2, 9.0, 1.0), (5, 8.0, 1.0)]},
}


def shades(axes: Axes) -> list[list[float]]:
    """The lowest and the highest place of each shaded interval."""
    corners = [np.asarray(path.vertices) for shade in axes.collections for path in shade.get_paths()]
    return [[float(part[:, 1].min()), float(part[:, 1].max())] for part in corners if len(part)]


def test_panels_show_each_line_with_its_interval() -> None:
    figure = plot.panels(AGENTS, "rewards", "destroy operators |D|", "reward")
    assert figure.get_suptitle() == "rewards"
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("C", "R")
    assert (first.get_xlabel(), first.get_ylabel()) == ("destroy operators |D|", "reward")
    assert [np.asarray(line.get_xdata()).tolist() for line in first.lines] == [[2, 5, 12], [2]]
    assert [np.asarray(line.get_ydata()).tolist() for line in first.lines] == [[10, 20, 30], [11]]
    assert shades(first) == [[9, 32]]
    assert shades(second) == [[7, 10]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DQN", "LRW", "RAN"]
    assert first.get_ylim() == second.get_ylim()


def test_a_line_looks_the_same_in_all_panels_and_unlike_the_others() -> None:
    names = [f"agent {number}" for number in range(6)]
    every: dict[str, plot.Lines] = {name: {each: [(1, 1.0, 0.1), (2, 2.0, 0.1)] for each in names} for name in "ab"}
    looks = [
        [(line.get_color(), line.get_marker(), str(line._dash_pattern)) for line in axes.lines]  # type: ignore[attr-defined]
        for axes in plot.panels(every, "", "", "").axes
    ]
    assert looks[0] == looks[1]
    for distinct in (0, 1):
        assert len({look[distinct] for look in looks[0]}) == 6
    assert len({look[2] for look in looks[0]}) > 2
    # A line without points keeps its place, so that the next ones look as they do elsewhere.
    (axes,) = plot.panels({"a": {**every["a"], "agent 1": []}}, "", "", "").axes
    assert [(line.get_color(), line.get_marker()) for line in axes.lines] == [
        look[:2] for number, look in enumerate(looks[0]) if number != 1
    ]


def test_published_lines_are_grey_and_hollow_behind_those_of_their_names() -> None:
    published: dict[str, plot.Lines] = {"C": {"LRW": [(2, 13.0, 1.5), (5, 14.0, np.nan)], "DQN": []}}
    figure = plot.panels(AGENTS, "", "", "", behind=published)
    first, second = figure.axes
    behind, _, ours = first.lines
    assert np.asarray(behind.get_ydata()).tolist() == [13, 14]
    assert (behind.get_color(), behind.get_markerfacecolor()) == ("#999999", "white")
    assert np.asarray(ours.get_ydata()).tolist() == [11]
    assert behind.get_marker() == ours.get_marker()
    assert behind.get_zorder() < ours.get_zorder()
    assert [11.5, 14.5] in shades(first)
    assert len(second.lines) == 2
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == ["DQN", "LRW", "RAN", " ", "LRW, published"]


def test_panels_may_have_logarithmic_places_and_scales_of_their_own() -> None:
    heat: dict[str, plot.Lines] = {
        "low": {"mean": [(0.01, 1.0, 0.1), (1.0, 2.0, 0.1), (100.0, 3.0, 0.1)]},
        "high": {"mean": [(0.01, 500.0, 0.1)]},
    }
    low, high = plot.panels(heat, "", "τ", "F", log=True, one_scale=False).axes
    assert low.get_xscale() == "log"
    assert [text.get_text() for text in low.get_xticklabels()] == ["0.01", "1", "100"]
    assert low.get_ylim()[1] < 10 < high.get_ylim()[0]


def test_places_are_labelled_as_long_as_there_is_room() -> None:
    def labels(count: int) -> list[str]:
        line = [(20.0 * place, 1.0, 0.1) for place in range(1, count + 1)]
        (axes,) = plot.panels({"": {"DQN": line}}, "", "", "").axes
        return [text.get_text() for text in axes.get_xticklabels()]

    assert labels(5) == ["20", "40", "60", "80", "100"]
    assert labels(11) == ["20", "60", "100", "140", "180", "220"]


def test_names_with_dollar_signs_in_panels_are_no_formula() -> None:
    name = r"$\frac$"
    line: dict[str, plot.Lines] = {name: {name: [(1, 1.0, 0.1)]}}
    assert plot.to_array(plot.panels(line, name, name, name, behind=line)).any()


def test_panels_that_cannot_be_drawn_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: list[dict[str, plot.Lines]] = [{}, {"C": {}}, {"C": {"DQN": []}}]
    for lines in nothing:
        with pytest.raises(InputError, match=r"^there is no line to draw\.$"):
            plot.panels(lines, "", "", "")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[plot\]' in the project's folder"):
        plot.panels(AGENTS, "", "", "")


def test_a_figure_becomes_the_same_svg_each_time() -> None:
    one, other = (plot.to_svg(plot.panels(AGENTS, "rewards", "", "")) for _ in range(2))
    assert one == other
    assert "<svg" in one
    assert one.rstrip().endswith("</svg>")
    assert one != plot.to_svg(plot.panels(AGENTS, "others", "", ""))


@pytest.mark.parametrize(
    ("name", "beginning"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")]
)
def test_a_picture_is_saved_in_the_format_of_its_name(tmp_path: Path, name: str, beginning: bytes) -> None:
    plot.save(plot.routes(texts.SERVED), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(beginning)


@pytest.mark.parametrize("draw", EVERY_PICTURE)
def test_every_picture_can_be_saved(tmp_path: Path, result: Result, draw: Draw) -> None:
    plot.save(draw(result), tmp_path / "a.svg")
    assert "A-n32-k5" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("draw", EVERY_PICTURE)
def test_a_name_with_dollar_signs_is_no_formula(tmp_path: Path, draw: Draw) -> None:
    found = solve(Instance(r"$\frac$", [0, 1, 1], 1, [[0, 0], [1, 1], [2, 2]]), MaxIterations(50))
    plot.save(draw(found), tmp_path / "a.png")
    plot.save(plot.convergence([found, found]), tmp_path / "b.png")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.gif", r"a\.gif: a picture's name must end with \.png, \.pdf, \.svg\."),
        ("a", r"a: a picture's name must end with"),
        ("missing/a.png", "missing does not exist"),
    ],
)
def test_a_path_that_cannot_hold_a_picture_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        plot.save(Figure(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("draw", EVERY_PICTURE)
def test_without_matplotlib_the_refusal_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, result: Result, draw: Draw
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[plot\]' in the project's folder"):
        draw(result)


def test_without_matplotlib_tours_and_episodes_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[plot\]' in the project's folder"):
        plot.tours(texts.SERVED, "")
    with pytest.raises(InputError, match=r"pip install '\.\[plot\]' in the project's folder"):
        plot.episode([(texts.SERVED, "start")], "")
