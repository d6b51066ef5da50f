"""Runs: only the missing ones are done, each once, and handed over as they end."""

from __future__ import annotations

import threading

import pytest

from neuralns.experiments.runs import RunKey, do_missing

KEYS = [RunKey("a", "s", "1 s", seed) for seed in range(6)]


@pytest.mark.parametrize("workers", [1, 3])
def test_only_what_is_missing_is_run_and_each_once(workers: int) -> None:
    kept: list[tuple[RunKey, int]] = []
    do_missing([*KEYS, KEYS[1]], KEYS[2:4], lambda key: key, lambda *news: kept.append(news), workers)
    assert sorted(key for key, _ in kept) == [KEYS[0], KEYS[1], KEYS[4], KEYS[5]]
    assert [number for _, number in kept] == [4, 5, 6, 7]


def test_after_an_error_no_run_is_begun_and_those_under_way_are_given_up() -> None:
    begun: list[RunKey] = []
    ended = threading.Event()

    def run(key: RunKey) -> RunKey:
        begun.append(key)
        if key != KEYS[0]:
            assert ended.wait(30)
        return key

    def stop(key: RunKey, number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do_missing(KEYS, (), run, stop, 2, ended.set)
    assert ended.is_set()
    assert len(begun) <= 3
