"""Connections: how many, how slow, and who has to leave."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import httpx
import pytest

from neuralns.studio import request_body
from neuralns.studio.connections import client_of
from neuralns.studio.limits import Limits
from servers import NAMED, Served, serving

UNFINISHED = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = UNFINISHED + b"\r\n"


@contextmanager
def connected(server: Served, *texts: bytes) -> Iterator[list[socket.socket]]:
    """Hold connections that have sent so much."""
    parts = urlsplit(server.address)
    with ExitStack() as held:
        found = []
        for text in texts:
            found.append(held.enter_context(socket.create_connection((parts.hostname, parts.port), timeout=20)))
            found[-1].sendall(text)
        yield found


def heard(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes a connection."""
    found = b""
    while part := connection.recv(1 << 16):
        found += part
    return found


def heard_until(connection: socket.socket, words: bytes) -> bytes:
    """Return all that comes until there are some words in it."""
    found = b""
    while words not in found:
        part = connection.recv(1 << 16)
        assert part, found
        found += part
    return found


def answered(server: Served, seconds: float = 10) -> int:
    return httpx.get(f"{server.address}/health", timeout=seconds).status_code


def test_who_asks_for_nothing_makes_room_for_others() -> None:
    limits = Limits(jobs=1, connections=30, client_connections=100, head_seconds=60)
    with serving(limits) as server, connected(server, b"", *[UNFINISHED] * 59) as held:
        assert answered(server) == 200
        first = heard(held[0])
        assert first.startswith(b"HTTP/1.1 503 ")
        assert json.loads(first.partition(b"\r\n\r\n")[2]) == {"error": "others need this connection."}
        assert answered(server) == 200


def test_one_address_has_so_many_connections() -> None:
    with serving(Limits(jobs=1, client_connections=10)) as server:
        with connected(server, *[UNFINISHED] * 10) as held:
            with connected(server, b"") as (one_more,):
                refusal = heard(one_more)
            assert refusal.startswith(b"HTTP/1.1 429 ")
            assert b"too many connections from this address." in refusal
            held[0].sendall(b"\r\n")
            assert heard_until(held[0], b"{}").startswith(b"HTTP/1.1 200 ")
        server.until(lambda: answered(server) == 200, 10)


def test_headers_have_to_come_in_time() -> None:
    with serving(Limits(jobs=1, head_seconds=0.5)) as server:
        with connected(server, UNFINISHED, b"", WHOLE) as (begun, silent, second):
            heard_until(second, b"{}")
            second.sendall(UNFINISHED)
            begin = time.monotonic()
            for connection in (begun, silent):
                assert b"no request came in 0.5 s." in heard(connection)
            # After an answer there is nothing more to say.
            assert heard(second) == b""
            assert time.monotonic() - begin < 5
        with connected(server, WHOLE) as (kept,):
            heard_until(kept, b"{}")
            time.sleep(1)
            kept.sendall(WHOLE)
            heard_until(kept, b"{}")


def test_who_was_refused_may_not_go_on_sending() -> None:
    text = b"POST /jobs HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9999\r\n\r\n"
    with serving(Limits(jobs=1, head_seconds=0.5)) as server, connected(server, text) as (refused,):
        heard_until(refused, b"is not a name of this server.")

        def trickle() -> None:
            for _ in range(100):
                refused.sendall(b"x")
                time.sleep(0.05)

        with pytest.raises(OSError, match=r"reset|pipe"):
            trickle()


def test_requests_on_their_way_have_so_many_bytes(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "DRAIN_SECONDS", 0.5)
    text = b"POST /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 399999\r\n\r\n" + b" " * 390_000
    with server.limited(bytes=400_000, uploads=1, body_seconds=20), connected(server, text, text):
        time.sleep(0.5)
        with connected(server, text) as (third,):
            heard_until(third, b"too many large requests are on their way")
        # Small ones are taken all the same.
        assert server.solved(NAMED, iterations=5)["state"] == "done"


def test_a_request_does_not_come_in_crumbs(server: Served) -> None:
    head = b"POST /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(server, head) as (one,):
        with suppress(OSError):
            one.sendall(b"1\r\n \r\n" * 20_000)
        with suppress(OSError):
            assert b"201 Created" not in heard(one)
    with connected(server, head + b"1\r\n \r\n" * 600) as (one,):
        heard_until(one, b"the request comes in too many small parts.")
    body = json.dumps({"instance": NAMED, "options": {"iterations": 5}}).encode()
    parts = [body[place : place + 1] for place in range(len(body))] + [b" " * 10_000] * 100
    assert httpx.post(f"{server.address}/jobs", content=iter(parts)).status_code == 201


def test_a_request_does_not_stand_still(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "STALL_SECONDS", 0.3)
    text = b"POST /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    with connected(server, text) as (one,):
        found = heard_until(one, b"the request stood still for 0.3 s.")
    assert found.startswith(b"HTTP/1.1 408 ")


def test_addresses_of_one_client() -> None:
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1")
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff") != client_of("2001:db8:0:1::1")
    assert client_of("fe80::1%eth0") == client_of("fe80::2")
    assert (client_of(None), client_of("testclient")) == ("", "testclient")
