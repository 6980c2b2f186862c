"""Herding weights in a hash map of the contexts that a run visited: open addressing, flat arrays.

A context is the assignment within a radius, or of all other variables. Its key is a Zobrist hash
kept up to date as variables change, so looking it up costs the same whatever the radius. The map
grows between calls only; a weight starts from a function of (lane, key), so neither growth nor the
order of visits can show in a run.
"""

from typing import NamedTuple

import numpy as np

from heeler.compiled.jit import helper, kernel


class Hashed(NamedTuple):
    """Herding keyed by the values in a variable's ball, or of all others: `ball_pointer` empty."""

    keys: np.ndarray  # uint64 (lanes, slots), 0 for empty
    weights: (
        np.ndarray
    )  # uint32 (lanes, slots) for binary variables, int64 (lanes, slots * width) for K values
    owner: np.ndarray  # int32 (lanes, slots): the variable that the slot belongs to
    used: np.ndarray  # int64 (lanes,)
    contexts: np.ndarray  # uint64 (lanes, n), or (lanes, 1) for the context of everything
    ball_pointer: np.ndarray  # int64 (n + 1)
    ball: np.ndarray  # int32: variables whose context holds i, without i
    start: (
        np.ndarray
    )  # uint64 (lanes,): 0 means "start at one half", else the seed of the starting weights
    width: int  # entries of one slot


@helper
def mix(z):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    z = np.uint64(z)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@helper
def zobrist(i, value):
    """Return the hash word of `variable i has this value`."""
    return mix(
        np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
        + (np.uint64(value) << np.uint64(40))
        + np.uint64(1)
    )


@helper
def move_context(driver, lane, i, old, new):
    """Update the contexts that hold variable i."""
    change = zobrist(i, old) ^ zobrist(i, new)
    if driver.ball_pointer.size == 0:
        driver.contexts[lane, 0] ^= change
    else:
        for e in range(driver.ball_pointer[i], driver.ball_pointer[i + 1]):
            driver.contexts[lane, driver.ball[e]] ^= change


@helper
def first_weight(seed, key, entry, bits):
    """Return the first weight: one half (binary), zero (K values), or a word of (seed, key)."""
    if seed == 0:
        return np.int64(1) << 31 if bits == 32 else np.int64(0)
    return np.int64(
        mix(seed ^ (key + np.uint64(entry) * np.uint64(0x9E3779B97F4A7C15))) >> np.uint64(64 - bits)
    )


@helper
def find_slot(driver, lane, i, old):
    """Return the slot of variable i's present context, made on the first visit."""
    if driver.ball_pointer.size == 0:
        context = driver.contexts[lane, 0] ^ zobrist(i, old)
    else:
        context = driver.contexts[lane, i]
    key = mix(context + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    mask = np.int64(driver.keys.shape[1] - 1)
    slot = np.int64(key >> np.uint64(20)) & mask
    while driver.keys[lane, slot] != key:
        if driver.keys[lane, slot] == 0:
            driver.keys[lane, slot] = key
            driver.owner[lane, slot] = i
            driver.used[lane] += 1
            bits = 32 if driver.width == 1 else 30
            for entry in range(driver.width):
                driver.weights[lane, slot * driver.width + entry] = first_weight(
                    driver.start[lane], key, entry, bits
                )
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def start_contexts(x, contexts, ball_pointer, ball):
    """Compute every context's hash from scratch for one lane."""
    for k in range(contexts.size):
        contexts[k] = 0
    for i in range(x.size):
        word = zobrist(i, x[i])
        if ball_pointer.size == 0:
            contexts[0] ^= word
        else:
            for e in range(ball_pointer[i], ball_pointer[i + 1]):
                contexts[ball[e]] ^= word


@kernel
def rehash(keys, weights, owner, new_keys, new_weights, new_owner, width):
    """Move one lane's slots into a larger map."""
    mask = np.int64(new_keys.size - 1)
    for slot in range(keys.size):
        key = keys[slot]
        if key != 0:
            target = np.int64(key >> np.uint64(20)) & mask
            while new_keys[target] != 0:
                target = (target + 1) & mask
            new_keys[target] = key
            new_owner[target] = owner[slot]
            for entry in range(width):
                new_weights[target * width + entry] = weights[slot * width + entry]


@kernel
def weight_gain(keys, weights, owner, start, width, out):
    """Add every slot's (weight now - weight at the start) to out[owner * width + entry] (int64)."""
    bits = 32 if width == 1 else 30
    for slot in range(keys.size):
        if keys[slot] != 0:
            for entry in range(width):
                now = np.int64(weights[slot * width + entry])
                out[owner[slot] * width + entry] += now - first_weight(
                    start, keys[slot], entry, bits
                )


@kernel
def mix_word(z):
    """Scramble 64 bits, callable from Python."""
    return mix(z)
