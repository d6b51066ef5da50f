"""Small jobs for tests, which processes of their own can import, and an executor without any."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from neuralns.experiments.jobs import Job


def chore(folder: Path, number: int, kind: str = "square", **more: Any) -> Job:
    """Return a job that leaves notes in a folder; its kind says how it goes.

    ``square`` goes well; ``fail`` always fails, ``moody`` the first time; ``slow`` takes ``seconds`` the first time;
    ``exit`` and ``kill`` end their process as soon as the job ``beside`` is under way.
    """
    return Job(kind, {"folder": str(folder), "number": number, **more})


def work(kind: str, settings: Mapping[str, Any]) -> Any:
    """Do a job."""
    folder, number = Path(settings["folder"]), settings["number"]
    with open(folder / f"begun-{number}", "a") as file:
        file.write(".")
    first = begun(folder, number) == 1
    if kind == "slow" and first:
        time.sleep(settings["seconds"])
    if kind == "fail" or (kind == "moody" and first):
        raise ValueError(f"no luck\nwith {number}")
    if kind in ("exit", "kill"):
        while begun(folder, settings["beside"]) == 0:
            time.sleep(0.02)
        if kind == "exit":
            os._exit(3)
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": number**2}


def begun(folder: Path, number: int) -> int:
    """Return how often a job was begun."""
    path = folder / f"begun-{number}"
    return len(path.read_text()) if path.exists() else 0


def nap(kind: str, settings: Mapping[str, Any]) -> str:
    """Do nothing for some seconds."""
    time.sleep(settings["seconds"])
    return kind


SIZES = {"gat": ["sizes"], "sizes": ["sizes"], "graph": ["sizes", "large"], "large": ["large"]}
SIZES["large-oracle"] = SIZES["large"]


def made_up(kind: str, settings: Mapping[str, Any]) -> Any:
    """Results such as a job of the paper's experiments gives, drawn from its name."""
    draw = random.Random(Job(kind, settings).name)

    def values(count: int) -> list[float]:
        return [round(draw.uniform(100, 200), 4) for _ in range(count)]

    def of_seeds(agents: Sequence[str]) -> dict[str, list[float]]:
        return {agent: values(len(settings["seeds"])) for agent in agents}

    if kind == "tune-dqn":
        return values(3 * len(settings["destroys"]))
    if kind == "tune-wheels":
        return {"LRW": values(len(settings["learned"])), "CRW": values(len(settings["classic"]))}
    statistics = ("avg", "min")
    if kind == "dqn":
        return {
            "mdp": of_seeds(["DQN"]),
            "search": {"DQN": of_seeds(statistics)},
            "temperature": {f"{value:g}": of_seeds(statistics) for value in settings["temperatures"]},
        }
    if kind == "baselines":
        return {
            "mdp": of_seeds(["RAN", "LRW", "FIXED"]),
            "search": {agent: of_seeds(statistics) for agent in ("RAN", "LRW", "CRW", "FIXED")},
            "pair": [f"{settings['instance']}-{settings['destroys']}", settings["setting"]],
        }
    if kind == "oracle":
        return {"mdp": of_seeds(["ORACLE"])}
    if kind == "ahead":
        times = {"microseconds": draw.uniform(5, 20), "simulates": settings["destroys"] > 5}
        return {"mdp": of_seeds(["AHEAD"]), "search": {"AHEAD": of_seeds(statistics)}, **times}
    others = ["RAN", "LRW", "FIXED"]
    agents = {"gat": ["DQN"], "graph": ["GNN+"], "large-oracle": ["ORACLE"]}.get(kind, others)
    return {part: {str(size): of_seeds(agents) for size in settings[part]} for part in SIZES[kind]}


class Here(Executor):
    """Does jobs at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def solve_or_die(kind: str, given: Mapping[str, Any]) -> Any:
    """Solve an instance of a batch; the process that is given E-n22-k4 is killed."""
    from neuralns.experiments import batch

    if given["instance"].name == "E-n22-k4":
        os.kill(os.getpid(), signal.SIGKILL)
    return batch.work(kind, given)


def solve_and_tell(kind: str, given: Mapping[str, Any]) -> Any:
    """Solve an instance of a batch; a file of its name has a line with the process, each time that it is begun."""
    from neuralns.experiments import batch

    with open(f"{given['instance'].name}.begun", "a") as file:
        file.write(f"{os.getpid()}\n")
    return batch.work(kind, given)
