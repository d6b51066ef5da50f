"""How the service bears many requests: 200 in a row and then 50 at once, with 4 searches at a time.

Told are what was answered, how long that took, and the memory of the server and of its fork server before and after.
Run: python benchmarks/service_load.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

IN_A_ROW, AT_ONCE, ROUNDS = 200, 50, 4
SERVE = [sys.executable, "-c", "from neuralns.cli import main; main()", "serve", "--port", "0", "--max-jobs", "4"]
PROBLEM = {
    "vehicles": [{"id": 1, "start": [2.35, 48.86], "end": [2.35, 48.86]}],
    "jobs": [{"id": 1, "location": [2.37, 48.85]}, {"id": 2, "location": [2.29, 48.86]}],
    "options": {"l": 0.1},
}
JOB = {"instance": {"name": "X-n110-k13"}, "options": {"time": 0.1}}


def main() -> None:
    server = subprocess.Popen(SERVE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = server.stderr.readline().split()[2]
        until_there(address)
        # The first ones load and compile.
        for path, content in (("/", PROBLEM), ("/jobs", JOB)):
            ask(address + path, content)
        until_idle(address)
        print("memory before:", memory_of(server.pid))
        row = [ask(address + "/", PROBLEM) for _ in range(IN_A_ROW)]
        tell(f"{IN_A_ROW} POST / in a row", row)
        print("memory after:", memory_of(server.pid))
        for number in range(ROUNDS):
            for path, content in (("/jobs", JOB), ("/", PROBLEM)):
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    found = list(pool.map(ask, [address + path] * AT_ONCE, [content] * AT_ONCE))
                tell(f"{AT_ONCE} POST {path} at once, round {number + 1}", found)
                until_idle(address)
        print("memory after:", memory_of(server.pid))
        states = Counter(job["state"] for job in get(address + "/jobs"))
        print("jobs:", dict(states))
    finally:
        server.terminate()
        server.wait()


def ask(address: str, content: Any) -> tuple[int, float]:
    """Send a request; return the status of the answer and the seconds that it took."""
    begin = time.perf_counter()
    try:
        with urlopen(Request(address, json.dumps(content).encode()), timeout=600) as answer:
            status = int(answer.status)
            answer.read()
    except HTTPError as error:
        status = error.code
    return status, time.perf_counter() - begin


def get(address: str) -> Any:
    with urlopen(address, timeout=60) as answer:
        return json.load(answer)


def until_there(address: str) -> None:
    while True:
        try:
            get(address + "/health")
            return
        except OSError:
            time.sleep(0.1)


def until_idle(address: str) -> None:
    while any(job["state"] in ("waiting", "running") for job in get(address + "/jobs")):
        time.sleep(0.2)


def tell(what: str, found: list[tuple[int, float]]) -> None:
    statuses = dict(Counter(status for status, _ in found))
    seconds = sorted(seconds for status, seconds in found if status < 300)
    middle, longest = seconds[len(seconds) // 2], seconds[-1]
    print(f"{what}: {statuses}, answered in {middle:.2f} s (median), {longest:.2f} s (longest)")


def memory_of(process: int) -> str:
    """Return the memory of the server and of its fork server, in MB that they do not share with others."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [process, *(child for child, parent in pairs if parent == process)]
    return ", ".join(f"{own_megabytes(each)} MB" for each in found)


def own_megabytes(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private")) // 1024


if __name__ == "__main__":
    main()
