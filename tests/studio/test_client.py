"""A client that openapi-python-client makes of the description solves a problem.

That tool wants an older typer than the one here, so it has an environment of its own (``make client``); where it is not
on the path, there is nothing to try. ``test_schema`` holds all answers against the description in any case.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from neuralns.studio.access import Access
from neuralns.studio.server import make_app
from servers import Served, serving

TOOL = shutil.which("openapi-python-client")
TOKEN = "0123456789abcdef"
PROBLEM: dict[str, Any] = {
    "vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "capacity": [3]}],
    "jobs": [{"id": 7, "location_index": 1, "delivery": [1]}],
    "shipments": [
        {"amount": [1], "pickup": {"id": 8, "location_index": 1}, "delivery": {"id": 8, "location_index": 2}}
    ],
    "matrices": {"car": {"durations": [[0, 9, 7], [9, 0, 5], [7, 5, 0]]}},
    "options": {"l": 0.1},
}

pytestmark = pytest.mark.skipif(TOOL is None, reason="openapi-python-client is not on the path.")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the package of a client, which can be imported."""
    folder = tmp_path_factory.mktemp("client")
    described = folder / "openapi.json"
    described.write_text(json.dumps(make_app().app.openapi()))
    package = folder / "made_client"
    assert TOOL is not None
    options = ["--path", str(described), "--output-path", str(package), "--meta", "none"]
    done = subprocess.run([TOOL, "generate", *options], capture_output=True, text=True, check=True, cwd=folder)
    assert "Unable" not in done.stdout
    assert {path.stem for path in (package / "api" / "default").glob("*.py")} >= {"solve", "submit", "state", "events"}
    sys.path.insert(0, str(folder))
    return package.name


def part(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.{name}" if name else package)


def test_a_client_that_is_made_of_the_description_solves(made: str, server: Served) -> None:
    models, solve = part(made, "models"), part(made, "api.default.solve")
    with part(made, "").Client(base_url=server.address) as client:
        answer = solve.sync(client=client, body=models.VroomProblem.from_dict(PROBLEM))
        assert isinstance(answer, models.VroomAnswer)
        assert (answer.summary.cost, answer.summary.unassigned, answer.summary.notes) == (21, 0, [])
        assert [step.id for step in answer.routes[0].steps[1:-1]] in ([7, 8, 8], [8, 7, 8])
        nobody = models.VroomProblem.from_dict(PROBLEM | {"vehicles": []})
        refusal = solve.sync(client=client, body=nobody)
        assert isinstance(refusal, models.VroomError)
        assert (refusal.code, refusal.error) == (2, "the request: at least one vehicle is needed.")


def test_it_begins_a_job_and_takes_the_routes(made: str, server: Served) -> None:
    models, calls = part(made, "models"), f"{made}.api.default"
    submit, state, download = (importlib.import_module(f"{calls}.{name}") for name in ("submit", "state", "download"))
    asked = {"instance": {"name": "E-n22-k4"}, "options": {"iterations": 200}}
    with part(made, "").Client(base_url=server.address) as client:
        begun = submit.sync(client=client, body=models.JobRequest.from_dict(asked))
        server.wait(begun.id)
        found = state.sync(begun.id, client=client)
        assert found.result.iterations == 200
        assert found.best.cost == found.result.cost
        assert download.sync(begun.id, models.DownloadForm.SOL, client=client).startswith("Route #1")
        missing = state.sync("none", client=client)
        assert isinstance(missing, models.Error)


def test_it_sends_the_token(made: str) -> None:
    about, models = part(made, "api.default.about"), part(made, "models")
    with serving(access=Access(TOKEN)) as server:
        with part(made, "").Client(base_url=server.address) as client:
            assert isinstance(about.sync(client=client), models.Error)
        with part(made, "").AuthenticatedClient(base_url=server.address, token=TOKEN) as client:
            assert isinstance(about.sync(client=client), models.About)
