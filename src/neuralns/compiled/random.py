"""Random numbers in compiled code: xoshiro256++ (Blackman & Vigna 2021), seeded by numpy's SeedSequence.

Functions take any struct with a field ``random`` of four words, the generator.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled


@compiled
def random_word(state):
    """Return 64 random bits."""
    s = state.random
    s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    s2 ^= s0
    s3 ^= s1
    s[1] = s1 ^ s2
    s[0] = s0 ^ s3
    s[2] = s2 ^ (s1 << np.uint64(17))
    s[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@compiled
def seed_generator(state, seed):
    """Start the generator anew from one 64-bit number, by splitmix64 (Steele, Lea & Flood 2014)."""
    word = np.uint64(seed)
    for index in range(4):
        word += np.uint64(0x9E3779B97F4A7C15)
        mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state.random[index] = mixed ^ (mixed >> np.uint64(31))


@compiled
def random(state):
    """Return a uniform number in [0, 1)."""
    return np.float64(random_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def randint(state, bound):
    """Return a uniform whole number from 0 to ``bound`` − 1."""
    return np.int64(random(state) * bound)


@compiled
def random_rank(state, count, determinism):
    """Return the rank ⌊y^p · m⌋ for y uniform: 0 for p → ∞, uniform over m for p = 1 (Ropke & Pisinger 2006).

    For p ≤ 0 it is the last rank.
    """
    return np.int64(min(random(state) ** determinism * count, count - 1.0))


def seed_words(seed: int | np.random.SeedSequence) -> npt.NDArray[np.uint64]:
    """Return the start of a generator: 256 bits from a seed."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(4, np.uint64).astype(np.uint64)
