"""Rules without a temperature: hill climbing, and accepting everything."""

from __future__ import annotations

from dataclasses import dataclass

from neuralns.search.acceptance.rule import Acceptance


@dataclass(frozen=True)
class HillClimbing(Acceptance):
    """Accept a candidate that is not worse than the current solution."""

    @staticmethod
    def accepts(state, candidate):
        return candidate <= state.status.current


@dataclass(frozen=True)
class Always(Acceptance):
    """Accept every candidate."""

    @staticmethod
    def accepts(state, candidate):
        return True
