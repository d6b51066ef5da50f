"""Where a server may listen, and its token."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from neuralns.errors import InputError
from neuralns.studio.limits import Limits
from neuralns.studio.running import read_token, run_server


def test_another_host_needs_a_token() -> None:
    with pytest.raises(InputError, match=r"host 0\.0\.0\.0: whoever reaches it may use it, so give a token"):
        run_server("0.0.0.0", 0, Limits())


@pytest.mark.parametrize("text", ["", "short", "sixteen letters with spaces", "größer-als-sechzehn-buchstaben"])
def test_a_token_is_long_and_plain(tmp_path: Path, text: str) -> None:
    write_token(tmp_path, text)
    with pytest.raises(InputError, match="a token must be at least 16 letters"):
        read_token(tmp_path / "token")


def test_the_first_line_of_a_file_is_the_token(tmp_path: Path) -> None:
    write_token(tmp_path, "0123456789abcdef\nand more\n")
    assert read_token(tmp_path / "token") == "0123456789abcdef"
    with pytest.raises(InputError, match="cannot be read"):
        read_token(tmp_path / "none")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602])
def test_a_token_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    token = write_token(tmp_path, "0123456789abcdef")
    token.chmod(mode)
    with pytest.raises(InputError, match=rf"^{token}: others may read or change this token; chmod 600 {token}\.$"):
        read_token(token)


def write_token(folder: Path, text: str) -> Path:
    token = folder / "token"
    token.touch(0o600)
    token.write_text(text)
    return token


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"127\.0\.0\.1, port {port}: cannot listen there"):
            run_server("127.0.0.1", port, Limits())
    with pytest.raises(InputError, match="port 70000 must be from 0 to 65535"):
        run_server("127.0.0.1", 70000, Limits())


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        run_server("127.0.0.1", 0, Limits(), folder=tmp_path / "file")


def test_what_has_to_be_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(InputError, match=r"the server needs uvicorn: pip install '\.\[studio\]'"):
        run_server("127.0.0.1", 0, Limits())
