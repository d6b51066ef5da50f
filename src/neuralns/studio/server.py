"""The server: a page, jobs with their events, and VROOM's convention."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi import Path as Format
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from neuralns import __version__
from neuralns.operators.portfolio import portfolio_names
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.instance import OBJECTIVES
from neuralns.problem.variant import in_words
from neuralns.studio import page, schema
from neuralns.studio.access import Access, AccessMiddleware
from neuralns.studio.downloads import FORMATS
from neuralns.studio.episodes import episode_policies
from neuralns.studio.job import WAITING, Job, JsonObject
from neuralns.studio.jobs import Jobs
from neuralns.studio.limits import Limits
from neuralns.studio.refusal import RefusedError
from neuralns.studio.request import offered_selectors
from neuralns.studio.request_body import Uploads, client_of_request, read_body
from neuralns.studio.vroom import code_of, notes_header

ALIVE_SECONDS = 15.0
"""Time after which listeners are told that there is nothing to tell."""
LOOK_SECONDS = 1.0
"""Time between two looks whether the server is to end."""
DISCONNECT_SECONDS = 0.5
"""Time between two looks whether a client still waits for its answer."""
SLOWEST_PACE = 10.0

Reader = Callable[..., Awaitable[bytes]]


def make_app(limits: Limits | None = None, access: Access | None = None, folder: Path | None = None) -> Any:
    """Return the application.

    Parameters
    ----------
    limits
        What it allows.
    access
        Who may call it.
    folder
        Where jobs that have ended are kept.
    """
    limits, access = limits or Limits(), access or Access()
    jobs = Jobs(limits, folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.start()
        yield
        jobs.close()

    app = FastAPI(
        title="neuralns",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.jobs = jobs
    _answer_errors(app)
    page.add_to(app)
    uploads = Uploads()

    async def read(request: Request, most: int | None = None) -> bytes:
        return await read_body(request, jobs.limits, uploads, most)

    _add_vroom(app, jobs, read)
    _add_jobs(app, jobs, access, read)
    _add_findings(app, jobs)
    schema.describe(app, access.token is not None)
    return AccessMiddleware(app, access)


def _answer_errors(app: FastAPI) -> None:
    """Have every refusal be one sentence of JSON."""

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        return JSONResponse({"error": error.sentence}, error.status, error.headers)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        sentence = f"{request.method} {request.url.path[:100]}: {str(error.detail).lower()}."
        return JSONResponse({"error": sentence}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        sentence = f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg'][:1].lower()}{first['msg'][1:]}."
        return JSONResponse({"error": sentence}, 422)


def _add_vroom(app: FastAPI, jobs: Jobs, read: Reader) -> None:
    @app.get("/health", summary="Whether the server is there", response_model=None)
    async def health() -> JsonObject:
        return {}

    @app.post(
        "/",
        summary="Solve a problem in VROOM's JSON and wait for the answer",
        openapi_extra=schema.VROOM,
        responses=schema.SOLVED,
    )
    async def solve(request: Request) -> Response:
        try:
            job = await jobs.submit(await read(request), "vroom", client=client_of_request(request))
            await _while_connected(request, jobs, job)
            if not job.answer:
                raise RefusedError(500 if job.error else 503, job.error or "the search was stopped.")
        except RefusedError as error:
            # VROOM answers any fault of the input by this status.
            status = 400 if error.status == 422 else error.status
            return JSONResponse({"code": code_of(status), "error": error.sentence}, status, error.headers)
        return await _unpacked(job.answer, "application/json", notes_header(job.notes))


async def _while_connected(request: Request, jobs: Jobs, job: Job) -> None:
    """Wait for the end of a job; if its client leaves, it is ended."""
    try:
        while not job.is_over:
            try:
                await asyncio.wait_for(job.ended.wait(), DISCONNECT_SECONDS)
            except TimeoutError:
                if jobs.closing or await request.is_disconnected():
                    return
    finally:
        jobs.stop(job)


def _add_jobs(app: FastAPI, jobs: Jobs, access: Access, read: Reader) -> None:
    """Add what begins, steers and ends jobs."""

    @app.get(
        "/api/about",
        summary="What this server is, allows and offers",
        response_model=None,
        responses=schema.gives("About"),
    )
    async def about() -> JsonObject:
        return {
            "version": __version__,
            "limits": jobs.limits.public(),
            "selectors": list(offered_selectors()),
            "objectives": list(OBJECTIVES),
            "portfolios": list(portfolio_names()),
            "instances": await asyncio.to_thread(_instances),
            "policies": list(episode_policies()),
            "formats": [*FORMATS, "trace"],
            "tiles": access.tiles,
        }

    @app.post(
        "/jobs",
        status_code=201,
        summary="Begin a search",
        openapi_extra=schema.JOB,
        response_model=None,
        responses=schema.gives("JobBegun", 400, 408, 413, 422, 429, status=201),
    )
    async def submit(request: Request) -> JsonObject:
        job = await jobs.submit(await read(request), client=client_of_request(request))
        return _begun(jobs, job)

    listing = schema.gives("JobBrief", listed=True)

    @app.get("/jobs", summary="All searches, the newest first", response_model=None, responses=listing)
    async def listed() -> list[JsonObject]:
        return jobs.summaries()

    told, steered = schema.gives("JobState", 404), schema.gives("JobState", 404, 409)

    @app.get("/jobs/{name}", summary="Where a search stands, and its best routes so far", responses=told)
    async def state(name: str) -> Response:
        job = await jobs.get(name)
        job.be_seen()
        return _json(jobs.description(job))

    @app.delete("/jobs/{name}", summary="End a search, return its best, and forget it", responses=told)
    async def delete(name: str) -> Response:
        job = await jobs.get(name)
        await jobs.forget(job)
        return _json(jobs.description(job))

    @app.post("/jobs/{name}/pause", summary="Let a search stand still; that time does not count", responses=steered)
    async def pause(name: str) -> Response:
        job = await jobs.get(name)
        jobs.command(job, "pause")
        return _json(jobs.description(job))

    @app.post("/jobs/{name}/resume", summary="Let it go on", responses=steered)
    async def resume(name: str) -> Response:
        job = await jobs.get(name)
        # A command to pause may be on its way, so whoever searches is told as well.
        if job.state != WAITING:
            jobs.command(job, "resume")
        return _json(jobs.description(job))

    @app.post(
        "/jobs/{name}/slow",
        summary="Tell of every iteration, one after the other",
        openapi_extra=schema.SLOW,
        responses=schema.gives("JobState", 400, 404, 408, 409, 413, 422),
    )
    async def slow(name: str, request: Request) -> Response:
        pace = (await _object(request, read)).get("pace", 0.5)
        if isinstance(pace, bool) or not isinstance(pace, int | float) or not 0 <= pace <= SLOWEST_PACE:
            raise RefusedError(422, f"pace {pace!r:.40} must be a number of seconds from 0 to {SLOWEST_PACE:g}.")
        job = await jobs.get(name)
        jobs.command(job, "slow", pace=pace)
        return _json(jobs.description(job))

    @app.post("/jobs/{name}/fast", summary="Search at full speed again", responses=steered)
    async def fast(name: str) -> Response:
        job = await jobs.get(name)
        jobs.command(job, "fast")
        return _json(jobs.description(job))

    @app.post("/jobs/{name}/stop", summary="End a search; its best is kept", responses=told)
    async def stop(name: str) -> Response:
        job = await jobs.get(name)
        jobs.stop(job)
        return _json(jobs.description(job))

    @app.post(
        "/jobs/{name}/continue",
        status_code=201,
        summary="Begin a search from the best of another one",
        openapi_extra=schema.CONTINUE,
        response_model=None,
        responses=schema.gives("JobBegun", 400, 404, 408, 409, 413, 422, 429, status=201),
    )
    async def follow(name: str, request: Request) -> JsonObject:
        changes = await _object(request, read)
        return _begun(jobs, await jobs.continue_from(await jobs.get(name), changes, client_of_request(request)))


def _add_findings(app: FastAPI, jobs: Jobs) -> None:
    """Add what tells of a job and of what it has found."""

    @app.get(
        "/jobs/{name}/instance",
        summary="The instance: places, demands, windows",
        responses=schema.gives("Instance", 404),
    )
    async def instance(name: str) -> Response:
        return await _unpacked((await jobs.get(name)).instance, "application/json")

    @app.get(
        "/jobs/{name}/events",
        summary="What a search tells as it goes on (server-sent events)",
        response_class=StreamingResponse,
        openapi_extra=schema.LAST_EVENT,
        responses=schema.STREAMED,
    )
    async def events(name: str, request: Request) -> Response:
        job = await jobs.get(name)
        last = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        number = int(last) if last.isdecimal() and len(last) < 16 else 0
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(jobs, job, number), media_type="text/event-stream", headers=headers)

    @app.get(
        "/jobs/{name}/improvements",
        summary="When better routes were found",
        response_model=None,
        responses=schema.gives("Improvement", 404, listed=True),
    )
    async def improvements(name: str) -> list[JsonObject]:
        return [each.brief for each in (await jobs.get(name)).improvements.values()]

    @app.get(
        "/jobs/{name}/improvements/{index}",
        summary="The best routes at that time",
        responses=schema.gives("ImprovementRoutes", 404, 422),
    )
    async def improvement(name: str, index: int) -> Response:
        found = (await jobs.get(name)).improvements.get(index)
        if found is None:
            raise RefusedError(404, f"improvement {index} is not kept.")
        return _json(found.content)

    @app.get(
        "/jobs/{name}/timetable",
        summary="When each route is where, with what on board",
        responses=schema.gives("Timetable", 404, 409, 422, 429),
    )
    async def timetable(name: str) -> Response:
        made = await jobs.download(await jobs.get(name), "timetable")
        return Response(made["content"], media_type="application/json")

    @app.get(
        "/jobs/{name}/download/{form}",
        summary="The best routes, or the trace, as a file",
        response_class=Response,
        responses=schema.FILES,
    )
    async def download(
        name: str, form: Annotated[str, Format(json_schema_extra={"enum": [*FORMATS, "trace"]})]
    ) -> Response:
        job = await jobs.get(name)
        if form == "trace":
            if not job.trace:
                raise RefusedError(409, "the trace is written when a search has ended.")
            return _attached(job, "trace.csv", await asyncio.to_thread(zlib.decompress, job.trace), "text/csv")
        made = await jobs.download(job, form)
        content = made["content"].encode() if form != "png" else base64.b64decode(made["content"])
        return _attached(job, "vroom.json" if form == "vroom" else form, content, made["type"])

    @app.get(
        "/episodes",
        summary="An episode of the paper's MDP, step by step",
        responses=schema.gives("Episode", 422, 429),
    )
    async def episode(
        policy: str,
        instance: str,
        seed: Annotated[int, Query(ge=0, lt=2**31)] = 0,
        customers: Annotated[int, Query(ge=1, le=100)] = 20,
        budget: Annotated[int, Query(ge=1, le=50)] = 10,
    ) -> Response:
        asked = {"policy": policy, "instance": instance, "seed": seed, "customers": customers, "budget": budget}
        made = await jobs.episode(asked)
        return Response(made["content"], media_type="application/json")


def _json(content: JsonObject) -> Response:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Response(text.encode(), media_type="application/json")


def _begun(jobs: Jobs, job: Job) -> JsonObject:
    return {"id": job.id, "state": job.state, "place": jobs.queue_position(job), "name": job.name, "notes": job.notes}


async def _unpacked(content: bytes, media_type: str, headers: dict[str, str] | None = None) -> Response:
    """Return what was compressed; a thread unpacks it, so that others are answered meanwhile."""
    return Response(await asyncio.to_thread(zlib.decompress, content), media_type=media_type, headers=headers)


async def _object(request: Request, read: Reader) -> JsonObject:
    """Return the small object in the body of a request; none is an empty one."""
    body = await read(request, 10_000)
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RefusedError(400, "the request must be a JSON object.")
    return content


async def _stream(jobs: Jobs, job: Job, number: int) -> AsyncIterator[str]:
    """Yield the events of a job after the one of a number, and go on as they come."""
    job.join()
    heard, silent = 0, 0.0
    try:
        yield "retry: 1000\n\n"
        while True:
            for event in job.events.after(number):
                number = event.number
                yield event.to_sse(heard)
                heard = number if event.brief is not None else heard
            if job.events.closed and not job.events.after(number):
                return
            if jobs.closing:
                return
            silent = 0.0 if await job.events.wait(number, LOOK_SECONDS) else silent + LOOK_SECONDS
            if silent >= ALIVE_SECONDS:
                silent = 0.0
                yield ": still here\n\n"
    finally:
        job.leave()


def _attached(job: Job, ending: str, content: bytes, media_type: str) -> Response:
    """Return a file to be saved, under a name that is safe anywhere."""
    name = "".join(letter if (letter.isalnum() and letter.isascii()) or letter in "-_" else "_" for letter in job.name)
    headers = {"Content-Disposition": f'attachment; filename="{name[:80] or "routes"}.{ending}"'}
    return Response(content, media_type=media_type, headers=headers)


@cache
def _instances() -> list[JsonObject]:
    found = ((name, bundled(name)) for name in bundled_names())
    return [{"name": name, "customers": each.customers, "variant": in_words(each)} for name, each in found]
