"""neuralns: adaptive large neighbourhood search for vehicle routing with learned operator selection.

>>> import neuralns
>>> instance = neuralns.read("E-n22-k4")
>>> result = neuralns.solve(instance, neuralns.MaxIterations(2000), seed=1)
>>> result.best.routes == tuple(map(tuple, result.routes))
True
"""

import importlib.util
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuralns import plot as plot
    from neuralns.errors import InputError as InputError
    from neuralns.errors import InputWarning as InputWarning
    from neuralns.errors import NeuralnsError as NeuralnsError
    from neuralns.errors import OperatorError as OperatorError
    from neuralns.experiments.comparison import compare as compare
    from neuralns.learning.train import train as train
    from neuralns.mdp.environment import OperatorSelection as OperatorSelection
    from neuralns.mdp.evaluate import evaluate as evaluate
    from neuralns.mdp.lanes import Lanes as Lanes
    from neuralns.mdp.mdp import MDP as MDP
    from neuralns.mdp.mdp import make_mdp as make_mdp
    from neuralns.operators.portfolio import Portfolio as Portfolio
    from neuralns.operators.portfolio import make_portfolio as make_portfolio
    from neuralns.operators.portfolio import portfolio_named as portfolio_named
    from neuralns.operators.registry import Operator as Operator
    from neuralns.operators.registry import destroy as destroy
    from neuralns.operators.registry import improve as improve
    from neuralns.operators.registry import load_operators as load_operators
    from neuralns.operators.registry import repair as repair
    from neuralns.problem.bundled import read as read
    from neuralns.problem.fleet import Depot as Depot
    from neuralns.problem.fleet import Group as Group
    from neuralns.problem.fleet import Profile as Profile
    from neuralns.problem.fleet import Shipment as Shipment
    from neuralns.problem.fleet import VehicleType as VehicleType
    from neuralns.problem.formats.detect import read_solution as read_solution
    from neuralns.problem.formats.detect import write_instance as write_instance
    from neuralns.problem.formats.detect import write_solution as write_solution
    from neuralns.problem.formats.spreadsheet import read_spreadsheet as read_spreadsheet
    from neuralns.problem.generate.days import generate_days as generate_days
    from neuralns.problem.generate.depots import generate_depots as generate_depots
    from neuralns.problem.generate.fleet import generate_fleet as generate_fleet
    from neuralns.problem.generate.prizes import generate_prizes as generate_prizes
    from neuralns.problem.generate.shipments import generate_shipments as generate_shipments
    from neuralns.problem.generate.solomon import generate_solomon as generate_solomon
    from neuralns.problem.generate.variants import generate_of as generate_of
    from neuralns.problem.generate.windows import generate_windows as generate_windows
    from neuralns.problem.generate.x import generate_x as generate_x
    from neuralns.problem.initial import nearest_insertion as nearest_insertion
    from neuralns.problem.initial import random_tours as random_tours
    from neuralns.problem.initial import savings as savings
    from neuralns.problem.instance import Instance as Instance
    from neuralns.problem.route_cost import RouteCost as RouteCost
    from neuralns.problem.route_cost import RouteTotals as RouteTotals
    from neuralns.problem.route_cost import balance_durations as balance_durations
    from neuralns.problem.route_cost import balance_stops as balance_stops
    from neuralns.problem.route_cost import overtime as overtime
    from neuralns.problem.route_cost import route_cost as route_cost
    from neuralns.problem.route_cost import tolls as tolls
    from neuralns.problem.solution import Solution as Solution
    from neuralns.reproduction.reproduce import reproduce as reproduce
    from neuralns.search.acceptance.annealing import SimulatedAnnealing as SimulatedAnnealing
    from neuralns.search.acceptance.constant import Always as Always
    from neuralns.search.acceptance.constant import HillClimbing as HillClimbing
    from neuralns.search.acceptance.record import RecordToRecord as RecordToRecord
    from neuralns.search.acceptance.rule import Acceptance as Acceptance
    from neuralns.search.model import Model as Model
    from neuralns.search.progress import Progress as Progress
    from neuralns.search.result import NamedRoute as NamedRoute
    from neuralns.search.result import Result as Result
    from neuralns.search.solve import solve as solve
    from neuralns.search.stopping import MaxIterations as MaxIterations
    from neuralns.search.stopping import MaxTime as MaxTime
    from neuralns.search.stopping import NoImprovement as NoImprovement
    from neuralns.search.stopping import Stop as Stop
    from neuralns.search.stopping import StopWhen as StopWhen
    from neuralns.search.stopping import TargetCost as TargetCost
    from neuralns.selection.bandit import AlphaUCB as AlphaUCB
    from neuralns.selection.bandit import Thompson as Thompson
    from neuralns.selection.controller import Controller as Controller
    from neuralns.selection.controller import Setting as Setting
    from neuralns.selection.controller import View as View
    from neuralns.selection.fixed import Fixed as Fixed
    from neuralns.selection.in_python import Outcome as Outcome
    from neuralns.selection.in_python import PythonSelector as PythonSelector
    from neuralns.selection.in_python import Situation as Situation
    from neuralns.selection.learned_roulette import LearnedRoulette as LearnedRoulette
    from neuralns.selection.policy import PolicySelector as PolicySelector
    from neuralns.selection.policy_file import read_policy as read_policy
    from neuralns.selection.policy_file import write_policy as write_policy
    from neuralns.selection.roulette import Roulette as Roulette
    from neuralns.selection.selector import Selector as Selector
    from neuralns.selection.uniform import Uniform as Uniform

__version__ = "0.1.0"

# Names are loaded when first used: importing the package stays quick, and compiled parts load only if needed.
_HOMES = {
    "errors": (
        "InputError",
        "InputWarning",
        "NeuralnsError",
        "OperatorError",
    ),
    "experiments.comparison": ("compare",),
    "learning.train": ("train",),
    "mdp.environment": ("OperatorSelection",),
    "mdp.evaluate": ("evaluate",),
    "mdp.lanes": ("Lanes",),
    "mdp.mdp": (
        "MDP",
        "make_mdp",
    ),
    "operators.portfolio": (
        "Portfolio",
        "make_portfolio",
        "portfolio_named",
    ),
    "operators.registry": (
        "Operator",
        "destroy",
        "improve",
        "load_operators",
        "repair",
    ),
    "problem.bundled": ("read",),
    "problem.fleet": (
        "Depot",
        "Group",
        "Profile",
        "Shipment",
        "VehicleType",
    ),
    "problem.formats.detect": (
        "read_solution",
        "write_instance",
        "write_solution",
    ),
    "problem.formats.spreadsheet": ("read_spreadsheet",),
    "problem.generate.days": ("generate_days",),
    "problem.generate.depots": ("generate_depots",),
    "problem.generate.fleet": ("generate_fleet",),
    "problem.generate.prizes": ("generate_prizes",),
    "problem.generate.shipments": ("generate_shipments",),
    "problem.generate.solomon": ("generate_solomon",),
    "problem.generate.variants": ("generate_of",),
    "problem.generate.windows": ("generate_windows",),
    "problem.generate.x": ("generate_x",),
    "problem.initial": (
        "nearest_insertion",
        "random_tours",
        "savings",
    ),
    "problem.instance": ("Instance",),
    "problem.route_cost": (
        "RouteCost",
        "RouteTotals",
        "balance_durations",
        "balance_stops",
        "overtime",
        "route_cost",
        "tolls",
    ),
    "problem.solution": ("Solution",),
    "reproduction.reproduce": ("reproduce",),
    "search.acceptance.annealing": ("SimulatedAnnealing",),
    "search.acceptance.constant": (
        "Always",
        "HillClimbing",
    ),
    "search.acceptance.record": ("RecordToRecord",),
    "search.acceptance.rule": ("Acceptance",),
    "search.model": ("Model",),
    "search.result": (
        "NamedRoute",
        "Result",
    ),
    "search.progress": ("Progress",),
    "search.solve": ("solve",),
    "search.stopping": (
        "MaxIterations",
        "MaxTime",
        "NoImprovement",
        "Stop",
        "StopWhen",
        "TargetCost",
    ),
    "selection.bandit": (
        "AlphaUCB",
        "Thompson",
    ),
    "selection.controller": (
        "Controller",
        "Setting",
        "View",
    ),
    "selection.fixed": ("Fixed",),
    "selection.in_python": (
        "Outcome",
        "PythonSelector",
        "Situation",
    ),
    "selection.learned_roulette": ("LearnedRoulette",),
    "selection.policy": ("PolicySelector",),
    "selection.policy_file": (
        "read_policy",
        "write_policy",
    ),
    "selection.roulette": ("Roulette",),
    "selection.selector": ("Selector",),
    "selection.uniform": ("Uniform",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["plot", *sorted(_HOME_OF)]

ENVIRONMENT_ID = "neuralns/OperatorSelection-v0"


def _register() -> None:
    """Make the environment known to Gymnasium."""
    from gymnasium.envs.registration import register

    register(
        id=ENVIRONMENT_ID,
        entry_point="neuralns.mdp.environment:OperatorSelection",
        vector_entry_point="neuralns.mdp.vector_environment:OperatorSelectionLanes",
    )


class _OnLoading(MetaPathFinder):
    """Finds no module itself; lets Gymnasium be followed by the registration."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader = None if spec is None else spec.loader
        if loader is not None:
            load = loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register()

            loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


# The package does not load Gymnasium itself.
if "gymnasium" in sys.modules:
    _register()
else:
    sys.meta_path.insert(0, _OnLoading())


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module("neuralns.plot")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'neuralns' has no attribute {name!r}")
    value = getattr(import_module(f"neuralns.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
