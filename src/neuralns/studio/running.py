"""Running the server: where it listens, who may call it, and until when."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from neuralns.errors import InputError, how_to_install
from neuralns.studio.limits import Limits

LOCAL = ("localhost", "127.0.0.1", "::1")
MOST_CONNECTIONS = 1000
SHORTEST_TOKEN = 16


def run_server(
    host: str,
    port: int,
    limits: Limits,
    *,
    token_file: Path | None = None,
    folder: Path | None = None,
    origins: tuple[str, ...] = (),
    tiles: str | None = None,
    started: Callable[[str], object] = lambda address: None,
) -> None:
    """Serve until a signal comes; ``started`` is called with the address once it listens.

    Anybody on the network can reach a server on another host than this machine's own, so it needs a token.
    """
    try:
        import uvicorn

        from neuralns.studio.guard import Access
        from neuralns.studio.server import make_app
    except ImportError as error:
        raise InputError(f"the server needs {error.name}: {how_to_install('studio')}.") from None
    token = None if token_file is None else read_token(token_file)
    if host not in LOCAL and token is None:
        raise InputError(f"host {host}: whoever reaches it may use it, so give a token (--token-file FILE).")
    if folder is not None:
        _check_folder(folder)
    listening = _listen(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    app = make_app(limits, Access(token, LOCAL if host in LOCAL else None, origins, tiles), folder)
    config = uvicorn.Config(
        app,
        log_level="warning",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        server_header=False,
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # Those who listen to events would keep it waiting.
            app.app.state.jobs.closing = True
            super().handle_exit(sig, frame)

    # Clients come and go; that one hung up is nothing to warn of.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    started(address)
    Server(config).run(sockets=[listening])


def read_token(path: Path) -> str:
    """Return the token in a file: its first line."""
    try:
        token = path.read_text(encoding="utf-8").strip().partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{path}: a token must be at least {SHORTEST_TOKEN} letters and digits on one line.")
    return token


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"{folder}: cannot be written to.")


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"port {port} must be from 0 to 65535.")
    family: Any = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        # Whoever calls from now on is answered when the server has begun.
        found.listen(128)
    except OSError as error:
        found.close()
        raise InputError(f"{host}, port {port}: cannot listen there ({error.strerror or error}).") from None
    return found
