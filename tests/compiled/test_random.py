"""Random numbers in compiled code."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns.compiled.random import randint, random, random_rank, random_word, seed_generator, seed_words
from neuralns.compiled.structs import Struct, StructType
from neuralns.routes.layout import state_type

MASK = 2**64 - 1
generator_type = StructType("tests.Generator", {"random": state_type.fields["random"]})


def generator(seed: int | np.random.SeedSequence = 0) -> Struct:
    """A struct with nothing but a generator."""
    return Struct(generator_type, random=seed_words(seed))


def test_the_generator_is_xoshiro256_plus_plus() -> None:
    state = generator()
    state.random[:] = [1, 2, 3, 4]
    s = [1, 2, 3, 4]

    def rotate(word: int, bits: int) -> int:
        return ((word << bits) | (word >> (64 - bits))) & MASK

    for _ in range(50):
        expected = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        assert int(random_word(state)) & MASK == expected
    assert state.random.tolist() == s


def test_draws_are_uniform_and_ranks_lean_to_the_front() -> None:
    state = generator(7)
    draws = np.array([randint(state, 5) for _ in range(20000)])
    assert np.bincount(draws, minlength=5) == pytest.approx([4000] * 5, abs=250)
    ranks = np.array([random_rank(state, 10, 3.0) for _ in range(20000)])
    # P(⌊10 y³⌋ = 0) = 0.1^(1/3)
    assert (ranks == 0).mean() == pytest.approx(0.1 ** (1 / 3), abs=0.02)
    assert ranks.min() == 0
    assert ranks.max() == 9


def test_random_numbers_fill_the_unit_interval_and_never_reach_one() -> None:
    state = generator(3)
    draws = np.array([random(state) for _ in range(20000)])
    assert draws.min() >= 0
    assert draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.01)
    assert draws.var() == pytest.approx(1 / 12, abs=0.003)
    # The largest word, all ones, gives the largest number below 1.
    assert np.nextafter(1.0, 0.0) == (MASK >> 11) * 2.0**-53


def test_a_generator_is_seeded_by_splitmix64() -> None:
    state = generator()

    def splitmix(seed: int) -> list[int]:
        found = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
            found.append(mixed ^ (mixed >> 31))
        return found

    # The first number that splitmix64 gives for seed 0 is known from its authors' implementation.
    assert splitmix(0)[0] == 0xE220A8397B1DCDAF
    for seed in (0, 1, 12345, 2**63, 2**64 - 1):
        seed_generator(state, np.uint64(seed))
        assert state.random.tolist() == splitmix(seed)


def test_the_same_seed_gives_the_same_numbers_whatever_came_before() -> None:
    state = generator()
    rows = []
    for seed in (5, 6, 5):
        seed_generator(state, np.uint64(seed))
        rows.append([random(state) for _ in range(20)])
    assert rows[0] == rows[2]
    assert not set(rows[0]) & set(rows[1])


def test_seeds_become_words_by_numpys_sequence() -> None:
    assert seed_words(5).tolist() == np.random.SeedSequence(5).generate_state(4, np.uint64).tolist()
    children = np.random.SeedSequence(5).spawn(2)
    rows = [seed_words(5).tolist(), *(seed_words(child).tolist() for child in children)]
    assert len({tuple(row) for row in rows}) == 3
    assert seed_words(np.random.SeedSequence(5)).tolist() == rows[0]
    assert seed_words(5).dtype == np.uint64
