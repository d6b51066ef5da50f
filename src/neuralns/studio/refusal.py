"""The error of requests that the server refuses."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that cannot be met: its status and sentence."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers
