"""Look for inputs that the package neither takes nor refuses as it should: ``make fuzz``.

Every seed that is tried is printed, every input that fails is kept; moved to ``tests/fuzz/data`` it becomes a test.
"""

from __future__ import annotations

import argparse
import faulthandler
import secrets
import sys
import tempfile
import time
import traceback
from itertools import cycle
from pathlib import Path

import numpy as np

from fuzz.drivers import DRIVERS, check

STUCK_SECONDS = 120.0
BATCH = 20


def main() -> int:
    """Run the drivers in turn until the time is over; return the number of failures, at most 1."""
    parser = argparse.ArgumentParser(description="Try the package with damaged files and random operators.")
    parser.add_argument("--seconds", type=float, default=180.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**40), help="the first seed")
    parser.add_argument("--only", choices=sorted(DRIVERS), help="one driver alone")
    parser.add_argument("--folder", type=Path, default=Path("out/fuzz"), help="where failing inputs go")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [options.only] if options.only else list(DRIVERS)
    print(f"seeds from {options.seed} on; failing inputs go to {options.folder}/", flush=True)
    begin = told = time.monotonic()
    tried, failed, seed = 0, 0, options.seed
    with tempfile.TemporaryDirectory() as scratch:
        for name in cycle(names):
            for _ in range(BATCH):
                failed += _try(name, seed, options.folder, Path(scratch, "input"))
                tried, seed = tried + 1, seed + 1
            now = time.monotonic()
            if now - told > 5:
                told = now
                print(f"{now - begin:.0f} s  {tried} inputs  {failed} failed  (seed {seed}, {name})", flush=True)
            if now - begin > options.seconds:
                break
    print(f"{tried} inputs, seeds {options.seed} to {seed - 1}: {failed} failed")
    return int(failed > 0)


def _try(name: str, seed: int, folder: Path, file: Path) -> int:
    # Kept before it is tried: a crash or an endless loop of compiled code leaves no time for it.
    kept = folder / f"{name}-{seed}"
    content = DRIVERS[name].make(np.random.default_rng(seed))
    kept.write_bytes(content)
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
    try:
        check(name, content, file)
    except Exception:
        print(f"FAILED {name} with seed {seed}, kept as {kept}", flush=True)
        traceback.print_exc(limit=-3)
        return 1
    finally:
        faulthandler.cancel_dump_traceback_later()
    kept.unlink()
    return 0


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
