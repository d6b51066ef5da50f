"""Who may call the server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from neuralns.studio.access import Access
from neuralns.studio.limits import Limits
from servers import Served, serving

TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def locked() -> Iterator[Served]:
    with serving(Limits(jobs=1), Access(TOKEN, None, ("https://maps.example",))) as found:
        yield found


@pytest.mark.parametrize("path", ["/jobs", "/api/about", "/jobs/1/events", "/episodes", "/nowhere"])
def test_a_token_is_wanted(locked: Served, path: str) -> None:
    answer = locked.client.get(path)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert locked.client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert locked.client.get(path, params={"token": "wrong"}).status_code == 401
    assert locked.client.post("/", content=b"{}").status_code == 401


def test_whoever_knows_the_token_comes_in(locked: Served) -> None:
    assert locked.client.get("/jobs", headers={"Authorization": f"Bearer {TOKEN}"}).json() == []
    assert locked.client.get("/jobs", params={"token": TOKEN}).json() == []


@pytest.mark.parametrize("path", ["/", "/health", "/docs"])
def test_the_page_itself_is_open(locked: Served, path: str) -> None:
    assert locked.client.get(path).status_code == 200


def test_pages_elsewhere_may_call_only_where_that_was_said(locked: Served, server: Served) -> None:
    told = {"Authorization": f"Bearer {TOKEN}"}
    friend = locked.client.get("/jobs", headers={**told, "Origin": "https://maps.example"})
    assert friend.headers["access-control-allow-origin"] == "https://maps.example"
    first = locked.client.options("/jobs", headers={"Origin": "https://maps.example"})
    assert (first.status_code, first.headers["access-control-allow-methods"]) == (204, "GET, POST, DELETE")
    stranger = locked.client.get("/jobs", headers={**told, "Origin": "https://evil.example"})
    assert stranger.status_code == 403
    assert server.client.post("/jobs", headers={"Origin": "http://evil.example"}).status_code == 403
    assert server.client.get("/jobs", headers={"Origin": server.address}).status_code == 200


def test_a_name_of_somebody_elses_does_not_lead_here(server: Served) -> None:
    answer = httpx.get(f"{server.address}/jobs", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["error"]) == (403, "host 'evil.example' is not a name of this server.")


def test_pictures_on_pages_elsewhere_do_not_call(server: Served, locked: Served) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    refused = server.client.get("/jobs", headers=elsewhere)
    assert (refused.status_code, refused.json()["error"]) == (403, "pages of other sites may not call this server.")
    assert server.client.get("/", headers=elsewhere).status_code == 200
    assert server.client.get("/jobs", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    friend = elsewhere | {"Origin": "https://maps.example", "Authorization": f"Bearer {TOKEN}"}
    assert locked.client.get("/jobs", headers=friend).status_code == 200


@pytest.mark.parametrize(("header", "value"), [("Host", "["), ("Host", "[::1"), ("Origin", "http://[")])
def test_what_is_no_address_is_refused(server: Served, header: str, value: str) -> None:
    answer = httpx.get(f"{server.address}/jobs", headers={header: value})
    assert (answer.status_code, answer.json()["error"]) == (400, "the request's host or origin is not an address.")


def test_tiles_are_the_one_thing_from_elsewhere() -> None:
    policy = Access(tiles="https://{s}.tiles.example/{z}/{x}/{y}.png").policy
    assert "img-src 'self' data: blob: https://*.tiles.example;" in policy
