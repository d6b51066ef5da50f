"""Lists of best known solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuralns import InputError
from neuralns.experiments.best_known import BestKnown, best_known_beside, read_best_known


def test_a_list_beside_an_instance_is_found_by_the_name_of_its_file(tmp_path: Path) -> None:
    assert best_known_beside(tmp_path / "lc101.txt") is None
    (tmp_path / "best_known.csv").write_text("instance, vehicles,cost\nlc101,10,828.94\n\nlr101, 19,1650.8\n")
    assert best_known_beside(tmp_path / "lr101.txt") == BestKnown(19, 1650.8)
    assert best_known_beside(tmp_path / "other.txt") is None
    (tmp_path / "best_known.csv").write_text("instance,best_known\nlr101,1650.8\n")
    assert best_known_beside(tmp_path / "lr101.txt") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "its first line must be instance,vehicles,cost"),
        ("name,cost\nlc101,10\n", "its first line must be instance,vehicles,cost"),
        ("instance,vehicles,cost\nlc101,ten,828\n", "line 2: 'lc101,ten,828' is not a name, a number of vehicles"),
        ("instance,vehicles,cost\nlc101,10,nan\n", "line 2: 'lc101,10,nan' is not"),
        ("instance,vehicles,cost\nlc101,10,9\nlc102,0,9\n", "line 3: 'lc102,0,9' is not"),
        ("instance,vehicles,cost\nlc101,10\n", "line 2: 'lc101,10' is not"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "best_known.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_best_known(path)
    assert sentence in str(refusal.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "best_known.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"best_known\.csv: cannot be read"):
        read_best_known(path)
