"""Running the server: where it listens, who may call it, and until when."""

from __future__ import annotations

import logging
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from neuralns.errors import InputError, how_to_install
from neuralns.studio.limits import Limits

LOCAL = ("localhost", "127.0.0.1", "::1")
SHORTEST_TOKEN = 16
SPARE_FILES = 500
"""How many files may be open beside connections."""


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

        from neuralns.studio.access import Access
        from neuralns.studio.connections import uvicorn_options
        from neuralns.studio.server import make_app
    except ImportError as error:
        raise InputError(f"the server needs {error.name}: {how_to_install('studio')}.") from None
    token = None if token_file is None else read_token(token_file)
    if host not in LOCAL and token is None:
        raise InputError(f"host {host}: whoever reaches it may use it, so give a token (--token-file FILE).")
    if folder is not None:
        _check_folder(folder)
    if host not in LOCAL and limits.client_jobs is None:
        # Nobody is to take all places from the others.
        limits = replace(limits, client_jobs=-(-(limits.jobs + limits.waiting) // 2))
    listening = _listen(host, port)
    _allow_files(limits.connections + SPARE_FILES)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    app = make_app(limits, Access(token, LOCAL if host in LOCAL else None, origins, tiles), folder)
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=3,
        server_header=False,
        **uvicorn_options(limits),
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
    """Return the token in a file that nobody else may read: its first line."""
    try:
        others = stat.S_IMODE(path.stat().st_mode) & 0o077
        token = path.read_text(encoding="utf-8").strip().partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if others:
        raise InputError(f"{path}: others may read or change this token; chmod 600 {path}.")
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{path}: a token must be at least {SHORTEST_TOKEN} letters and digits on one line.")
    return token


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be read and written to.")


def _allow_files(count: int) -> None:
    """Have so many files and connections be open at a time, if this machine allows that."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        if soft != resource.RLIM_INFINITY and soft < count:
            most = count if hard == resource.RLIM_INFINITY else min(count, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"port {port} must be from 0 to 65535.")
    family: Any = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        # Whoever calls from now on is answered when the server has begun.
        found.listen(1024)
    except OSError as error:
        found.close()
        raise InputError(f"{host}, port {port}: cannot listen there ({error.strerror or error}).") from None
    return found
