"""Policy files: what is written comes back, and what is not a policy is refused by name."""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import save

from neuralns import InputError, generate_x, portfolio_named, random_tours
from neuralns.routes.transfer import new_state
from neuralns.selection import policy_file
from neuralns.selection.names import selector_from
from neuralns.selection.policy_file import (
    FORMAT,
    Policy,
    bundled_policies,
    is_policy,
    policy_bytes,
    read_policy,
    write_policy,
)
from neuralns.selection.selector import new_memory_of

CARD = {
    "network": "mlp",
    "operators": {"destroy": ["random-node", "zone"], "repair": ["greedy"]},
    "features": "rich",
    "notes": {"seed": 3, "instance": "R101:20 – é"},
}
POLICY = Policy(
    CARD,
    {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([0.5]), "steps": np.array([7.0])},
)
CONTENT = policy_bytes(POLICY)


def raw_file(header: dict[str, Any], data: bytes = b"") -> bytes:
    """A safetensors file put together by hand."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def with_card(card: object) -> bytes:
    return save({"w": np.zeros(1)}, metadata={"neuralns": json.dumps(card)})


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_policy(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.policy"
    write_policy(POLICY, path)
    found = read_policy(str(path))
    assert found.card == {"format": FORMAT, **CARD}
    assert (found.network, found.destroys, found.repairs) == ("mlp", ("random-node", "zone"), ("greedy",))
    assert set(found.tensors) == set(POLICY.tensors)
    for name, values in POLICY.tensors.items():
        assert found.tensors[name].dtype == values.dtype
        assert found.tensors[name].tolist() == values.tolist()
    write_policy(found, tmp_path / "again.policy")
    assert (tmp_path / "again.policy").read_bytes() == path.read_bytes()


def test_a_view_into_another_array_is_written_by_its_values(tmp_path: Path) -> None:
    table = np.arange(12.0).reshape(3, 4)
    write_policy(Policy(CARD, {"w": table.T[1:]}), tmp_path / "a.policy")
    assert read_policy(tmp_path / "a.policy").tensors["w"].tolist() == table.T[1:].tolist()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a policy file, or is damaged"),
        (b"not a policy\n" * 20, "is not a policy file, or is damaged"),
        (pickle.dumps({"weights": [1.0]}), "is not a policy file, or is damaged"),
        (CONTENT[:-1], "is not a policy file, or is damaged"),
        (CONTENT[:40], "is not a policy file, or is damaged"),
        (CONTENT + b"\0", "is not a policy file, or is damaged"),
        (CONTENT[:8] + b"[" + CONTENT[9:], "is not a policy file, or is damaged"),
        (raw_file({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"\0\0"), "are of type BF16"),
        (save({"w": np.zeros(1)}), "is a safetensors file without a readable card of neuralns."),
        (save({"w": np.zeros(1)}, metadata={"neuralns": "{"}), "without a readable card"),
        (save({"w": np.zeros(1)}, metadata={"other": json.dumps(CARD)}), "without a readable card"),
        (with_card(["mlp"]), "without a readable card"),
        (with_card({"format": 1, "operators": CARD["operators"]}), "without a readable card"),
        (with_card({"format": 1, "network": 3, "operators": CARD["operators"]}), "without a readable card"),
        (with_card({"format": 1, "network": "mlp"}), "without a readable card"),
        (with_card({"format": 1, "network": "mlp", "operators": {"destroy": ["zone"]}}), "without a readable card"),
        (with_card({"network": "mlp", "operators": {"destroy": [1], "repair": []}}), "without a readable card"),
        (with_card({"network": "mlp", "operators": {"destroy": "zone", "repair": ["greedy"]}}), "'operators'"),
        (with_card({"network": "mlp", "operators": {"destroy": ["zone"], "repair": []}}), "'operators'"),
        (with_card({"network": "mlp", "operators": {"destroy": ["zone"] * 2, "repair": ["greedy"]}}), "'operators'"),
        *(
            (
                with_card({**CARD, "format": 1, entry: value}),
                f"without a readable card of neuralns (its entry {entry!r})",
            )
            for entry, value in (
                ("instances", 3),
                ("instances", [1]),
                ("sizes", "20"),
                ("sizes", ["20"]),
                ("sizes", [0]),
                ("scale", True),
                ("scale", 1.5),
                ("nodes", -1),
                ("nodes", "many"),
                ("nodes", 10**30),
                ("setting", ["paper"]),
                ("graph", {}),
                ("for", ["windows"]),
                ("for", {"kinds": "windows", "customers": [80, 400]}),
                ("for", {"kinds": ["windows"], "customers": [80]}),
                ("for", {"kinds": ["windows"], "customers": [80, "many"]}),
            )
        ),
        (save({"w": np.zeros(1)}, metadata={"neuralns": "[" * 10**6}), "without a readable card"),
        (save({"w": np.zeros(1)}, metadata={"neuralns": '{"a":' * 10**5}), "without a readable card"),
        (
            save({"w": np.zeros(1, np.int64)}, metadata={"neuralns": json.dumps(CARD)}),
            "are of type I64, not F32",
        ),
        (save({"w": np.zeros(1, np.float16)}, metadata={"neuralns": json.dumps(CARD)}), "are of type F16"),
        (raw_file({"w": {"dtype": "F32", "shape": [1 << 31, 0], "data_offsets": [0, 0]}}), "'w' are an empty table."),
        (raw_file({"w": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}), "is not a policy file"),
        (with_card({**CARD, "format": 2}), "has policy format 2, but this version reads 1."),
        (with_card(CARD), "has policy format None, but this version reads 1."),
    ],
)
def test_what_is_not_a_policy_is_refused_by_its_name(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "mine.policy"
    path.write_bytes(content)
    assert sentence in refusal(path)


def test_a_file_larger_than_any_policy_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.policy"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)
    assert refusal(path) == "is larger than the 256 MiB that a policy may have."


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    expected = "no such file, and no bundled policy of that name (see 'neuralns policy')."
    assert refusal(tmp_path / "absent.policy") == expected
    assert refusal(tmp_path) == expected


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policies") / "damaged.policy"


@given(st.integers(0, len(CONTENT) - 1))
def test_a_file_cut_anywhere_is_refused(scratch: Path, length: int) -> None:
    scratch.write_bytes(CONTENT[:length])
    assert "is not a policy file, or is damaged" in refusal(scratch)


@given(st.integers(0, len(CONTENT) - 1), st.integers(0, 255))
def test_a_file_with_one_wrong_byte_is_refused_or_read_but_never_fails_otherwise(
    scratch: Path, place: int, value: int
) -> None:
    scratch.write_bytes(CONTENT[:place] + bytes([value]) + CONTENT[place + 1 :])
    try:
        found = read_policy(scratch)
    except InputError:
        return
    assert all(isinstance(name, str) for name in (found.network, *found.destroys, *found.repairs))


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Intruder:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "taken"),)

    path = tmp_path / "mine.policy"
    path.write_bytes(pickle.dumps(Intruder()))
    refusal(path)
    np.save(tmp_path / "mine.npy", np.array([Intruder()], dtype=object), allow_pickle=True)
    refusal(tmp_path / "mine.npy")
    assert not (tmp_path / "taken").exists()


def test_reading_never_unpickles(tmp_path: Path) -> None:
    write_policy(POLICY, tmp_path / "mine.policy")
    program = """
import pickle, sys
from neuralns.selection.policy_file import read_policy
def refuse(*arguments, **options):
    raise AssertionError("unpickled")
pickle.load = pickle.loads = pickle.Unpickler = refuse
print(read_policy(sys.argv[1]).network)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "mine.policy")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "mlp\n"


@pytest.mark.parametrize(
    ("policy", "raised"),
    [
        (Policy({**CARD, "notes": object()}, POLICY.tensors), TypeError),
        (Policy(CARD, {"w": np.array([object()])}), SafetensorError),
    ],
)
def test_a_policy_that_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, policy: Policy, raised: type[Exception]
) -> None:
    path = tmp_path / "mine.policy"
    write_policy(POLICY, path)
    with pytest.raises(raised):
        write_policy(policy, path)
    assert path.read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["mine.policy"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "mine.policy"
    write_policy(POLICY, path)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"mine\.policy: cannot be written \(No space left on device\)\.$"):
        write_policy(Policy(CARD, {}), path)
    assert path.read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["mine.policy"]


def test_a_network_of_another_version_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match=r"^mine\.policy: has network 'oracle', which this version does not know\.$"):
        selector_from(Policy({**CARD, "network": "oracle"}, {}), "mine.policy")


# --- Bundled policies. -----------------------------------------------------------------------------------------------


def test_bundled_policies_are_read_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, here = tmp_path / "policies", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.setattr(policy_file, "_FOLDER", folder)
    monkeypatch.chdir(here)
    assert bundled_policies() == ()
    for name in ("small-x", "gat"):
        write_policy(Policy({**CARD, "notes": name}, POLICY.tensors), folder / f"{name}.policy")
    (folder / "README.md").write_text("not a policy")
    assert bundled_policies() == ("gat", "small-x")
    assert [is_policy(name) for name in ("gat", "small-x", "gat.policy", "README", "", str(folder))] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert read_policy("small-x").card["notes"] == "small-x"
    # A file of the same name comes first.
    write_policy(POLICY, here / "gat")
    assert is_policy("gat")
    assert read_policy("gat").card["notes"] == CARD["notes"]


def test_every_bundled_policy_can_choose_among_its_operators() -> None:
    for name in bundled_policies():
        policy = read_policy(name)
        improves = policy.card["operators"].get("improve", ())
        portfolio = portfolio_named(",".join((*policy.destroys, *policy.repairs, *improves)))
        customers = policy.card.get("nodes", 21) - 1
        instance = generate_x(customers, seed=1)
        state = new_state(instance, 1, history=True, solution=random_tours(instance, 1))
        selector = selector_from(policy, name)
        (choose, _), memory = selector.functions(), new_memory_of(selector, portfolio, customers, instance)
        for phase, known in enumerate((policy.destroys, policy.repairs)):
            assert 0 <= choose(memory, state, phase) < len(known)
