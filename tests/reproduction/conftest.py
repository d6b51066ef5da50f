"""What the tests of several modules share: the results of real jobs, which take a while."""

from __future__ import annotations

import pytest

from neuralns.reproduction.folder import open_folder
from neuralns.reproduction.reproduce import Reproduced, run_experiments
from plans import REAL, SMALLEST


@pytest.fixture(scope="session")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    folder = tmp_path_factory.mktemp("processes")
    with open_folder(folder, SMALLEST, True) as store:
        return run_experiments(REAL, SMALLEST, store, workers=2)
