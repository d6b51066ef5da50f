"""Look for inputs that the package neither takes nor refuses as it should: ``make fuzz``.

Every input that fails is kept and told with its driver and seed, so that it can be tried again by ``--driver`` and
``--seed``; moved to ``tests/fuzz/data`` it becomes a test.
"""

from __future__ import annotations

import argparse
import faulthandler
import secrets
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from fuzz.drivers import DRIVERS, check, close

STUCK_SECONDS = 120.0
TELL_SECONDS = 5.0


def main() -> int:
    """Run the drivers in turn until the time is over; return the number of failures, at most 1."""
    parser = argparse.ArgumentParser(description="Try the package with all that may come, and with all that may not.")
    parser.add_argument("--seconds", type=float, default=180.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=None, help="the first seed; with --driver, that one alone")
    parser.add_argument("--driver", action="append", choices=sorted(DRIVERS), help="some drivers alone")
    parser.add_argument("--without", action="append", choices=sorted(DRIVERS), default=[], help="all but some drivers")
    parser.add_argument("--inputs", type=int, default=None, help="how many inputs at most; 1 with --driver and --seed")
    parser.add_argument("--folder", type=Path, default=Path("out/fuzz"), help="where failing inputs go")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in options.driver or DRIVERS if name not in options.without]
    most = options.inputs or (1 if options.driver and options.seed is not None else None)
    first = secrets.randbelow(2**40) if options.seed is None else options.seed
    print(f"seeds from {first} on; failing inputs go to {options.folder}/", flush=True)
    try:
        return _run(names, first, options.seconds, most, options.folder)
    finally:
        close()


def _run(names: list[str], seed: int, seconds: float, most: int | None, folder: Path) -> int:
    begin = told = time.monotonic()
    tried: Counter[str] = Counter()
    spent = dict.fromkeys(names, 0.0)
    said: Counter[tuple[str, str]] = Counter()
    failed: list[tuple[str, int]] = []
    with tempfile.TemporaryDirectory() as scratch:
        while True:
            # The one that has had the least time of its share.
            name = min(names, key=lambda each: spent[each] / DRIVERS[each].share)
            started = time.monotonic()
            for _ in range(DRIVERS[name].batch):
                found = _try(name, seed, folder, Path(scratch, "input"))
                tried[name] += 1
                if found is FAILED:
                    failed.append((name, seed))
                elif isinstance(found, str):
                    said[name, found] += 1
                    if most == 1:
                        print(f"{name} with seed {seed}: {found}")
                seed += 1
                if most is not None and tried.total() >= most:
                    break
            now = time.monotonic()
            spent[name] += now - started
            if now - told > TELL_SECONDS:
                told = now
                print(f"{now - begin:.0f} s  {tried.total()} inputs  {len(failed)} failed  ({name})", flush=True)
            if now - begin > seconds or (most is not None and tried.total() >= most):
                break
    for name in names:
        also = ", ".join(f"{count} {what}" for (driver, what), count in said.items() if driver == name)
        print(f"{name:24} {tried[name]:8} inputs{f' ({also})' if also else ''}")
    for name, number in failed:
        print(f"FAILED --driver {name} --seed {number}")
    print(f"{tried.total()} inputs in {time.monotonic() - begin:.0f} s: {len(failed)} failed")
    return int(bool(failed))


FAILED = object()


def _try(name: str, seed: int, folder: Path, file: Path) -> object:
    # Kept before it is tried: a crash or an endless loop of compiled code leaves no time for it.
    kept = folder / f"{name}-{seed}"
    content = DRIVERS[name].make(np.random.default_rng(seed))
    kept.write_bytes(content)
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
    try:
        said = check(name, content, file)
    except Exception:
        print(f"FAILED {name} with seed {seed}, kept as {kept}", flush=True)
        traceback.print_exc(limit=-3)
        return FAILED
    finally:
        faulthandler.cancel_dump_traceback_later()
    kept.unlink()
    return said


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
