"""The server: a page, jobs with their events, and VROOM's convention."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles

from neuralns import __version__
from neuralns.operators.portfolio import portfolio_names
from neuralns.problem.bundled import bundled_names
from neuralns.problem.instance import OBJECTIVES
from neuralns.selection.policy_file import bundled_policies
from neuralns.studio.jobs import Job, Jobs, RefusedError
from neuralns.studio.limits import Limits
from neuralns.studio.request import offered_selectors

STATIC = Path(__file__).parent / "static"
KEEP_ALIVE = 15.0


def make_app(limits: Limits | None = None) -> FastAPI:
    """Return the application."""
    jobs = Jobs(limits or Limits())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.nurse.start()
        yield
        jobs.close()

    app = FastAPI(title="neuralns", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        return JSONResponse({"error": error.sentence}, error.status, error.headers)

    @app.get("/health")
    async def health() -> dict[str, Any]:
        return {}

    @app.get("/")
    async def page() -> Response:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/about")
    async def about() -> dict[str, Any]:
        return {
            "version": __version__,
            "limits": jobs.limits.told(),
            "selectors": list(offered_selectors()),
            "objectives": list(OBJECTIVES),
            "portfolios": list(portfolio_names()),
            "instances": [{"name": name} for name in bundled_names()],
            "policies": list(bundled_policies()),
        }

    @app.post("/jobs", status_code=201)
    async def submit(request: Request) -> dict[str, Any]:
        job = await jobs.submit(await request.body())
        return {"id": job.id, "state": job.state, "place": jobs.place_of(job)}

    @app.get("/jobs")
    async def listed() -> list[dict[str, Any]]:
        return [{"id": job.id, "name": job.name, "state": job.state} for job in jobs]

    @app.get("/jobs/{name}")
    async def state(name: str) -> dict[str, Any]:
        return _told(jobs, jobs.get(name))

    @app.delete("/jobs/{name}")
    async def delete(name: str) -> dict[str, Any]:
        job = jobs.get(name)
        jobs.stop(job)
        await job.ended.wait()
        jobs.forget(job)
        return _told(jobs, job)

    @app.post("/jobs/{name}/stop")
    async def stop(name: str) -> dict[str, Any]:
        jobs.stop(jobs.get(name))
        return _told(jobs, jobs.get(name))

    @app.get("/jobs/{name}/instance")
    async def instance(name: str) -> dict[str, Any]:
        return jobs.get(name).instance

    @app.get("/jobs/{name}/events")
    async def events(name: str, request: Request) -> Response:
        job = jobs.get(name)
        last = request.headers.get("last-event-id", request.query_params.get("after", "0"))
        return StreamingResponse(
            _stream(job, int(last) if last.isdecimal() else 0),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC))
    return app


async def _stream(job: Job, number: int) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    while True:
        for event in job.events.after(number):
            number = event.number
            yield event.written()
        if job.events.closed and not job.events.after(number):
            return
        await job.events.wait(number, KEEP_ALIVE)
        yield ": still here\n\n"


def _told(jobs: Jobs, job: Job) -> dict[str, Any]:
    found = {
        "id": job.id,
        "state": job.state,
        "place": jobs.place_of(job),
        "name": job.name,
        "options": job.options,
        "notes": job.notes,
        "progress": job.progress,
        "best": job.best,
    }
    return found | ({"error": job.error} if job.error else {}) | ({"result": job.result} if job.result else {})
