"""Options that several commands share."""

from __future__ import annotations

import re

import pytest

from neuralns import InputError
from neuralns.cli.options import parse_scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        (None, None),
        ("5", (5, 5)),
        ("0.1", (0.1, 0.1)),
        ("5-20", (5, 20)),
        ("0.1-0.25", (0.1, 0.25)),
        ("1-0.5", (1, 0.5)),
        (" 2 - 7 ", (2, 7)),
    ],
)
def test_a_scale_is_a_number_a_share_or_a_range(text: str | None, scale: tuple[float, float] | None) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize("text", ["", "-", "many", "5-", "-5", "1-2-3", "5,20", "1e-3"])
def test_another_text_is_refused(text: str) -> None:
    sentence = f"scale {text!r} must be a number, a share below 1, or LOW-HIGH."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        parse_scale(text)
