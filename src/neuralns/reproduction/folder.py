"""The folder of a reproduction: results of jobs, and what is made from them."""

from __future__ import annotations

import os
from pathlib import Path

from neuralns.errors import InputError
from neuralns.experiments.jobs import JobStore
from neuralns.experiments.store import rows_text
from neuralns.files import write_bytes
from neuralns.reproduction.plan import EXPERIMENTS, Plan
from neuralns.reproduction.tables import Tables

JOBS = "jobs.jsonl"
TABLES = tuple(f"{name}.csv" for name in (*EXPERIMENTS, "tuning"))
REPORTS = ("report.html", "report.md")


def open_folder(folder: Path, plan: Plan, quick: bool) -> JobStore:
    """Return the results in a folder, which is made if it is not there; those of other conditions are refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder ({error.strerror or error}).") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written to.")
    store = JobStore(folder / JOBS, {"quick": quick, **plan.conditions})
    if not store.done:
        for name in (*TABLES, *REPORTS):
            if (folder / name).exists():
                raise InputError(
                    f"{folder / name}: is there, but not the results in {JOBS} that it would be made from; choose "
                    "another folder with --out."
                )
    return store


def write_tables(tables: Tables, folder: Path) -> list[Path]:
    """Write each table that has rows; return the files."""
    written = []
    for name in TABLES:
        rows = getattr(tables, name.removesuffix(".csv"))
        if rows:
            write_bytes(folder / name, rows_text(rows).encode())
            written.append(folder / name)
    return written
