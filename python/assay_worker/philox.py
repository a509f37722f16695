# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs from NumPy's Philox, bit for bit those of src/base/philox.h."""

import math

import numpy as np

PART = 1 << 13


def input_stream(seed, name, input_set):
    """The raw generator of one named input (at most seven ASCII characters) of one set."""
    encoded = name.encode("ascii")
    if len(encoded) > 7:
        raise ValueError(f"the name of an input has at most seven characters: {name!r}")
    second = int.from_bytes(encoded, "little") | input_set << 56
    return np.random.Philox(key=np.array([seed, second], dtype=np.uint64))


def raw(stream, count):
    return stream.random_raw(count)


def unit_interval(raw_values):
    """Doubles in [0, 1): the upper 53 bits times 2^-53."""
    return (raw_values >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform(raw_values, low, high):
    """Doubles in [low, high): unit * (high - low) + low, each operation rounded once."""
    scaled = unit_interval(raw_values) * (high - low)
    return scaled + low


def uniform_below(raw_values, bound):
    """Integers in [0, bound), bound <= 2^32: the upper half of the 128-bit product."""
    if not 0 < bound <= 1 << 32:
        raise ValueError(f"bound out of range: {bound}")
    low = (raw_values & np.uint64(0xFFFFFFFF)) * np.uint64(bound)
    high = (raw_values >> np.uint64(32)) * np.uint64(bound)
    return (high + (low >> np.uint64(32))) >> np.uint64(32)


def array_of(stream, shape, dtype, convert):
    """What `convert` makes of the stream's next raw values, in parts that a cache holds: more than twice as fast."""
    array = np.empty(math.prod(shape), dtype)
    for first in range(0, len(array), PART):
        part = array[first : first + PART]
        part[:] = convert(raw(stream, len(part)))
    return array.reshape(shape)


def uniform_array(stream, shape, dtype, low, high):
    return array_of(stream, shape, dtype, lambda values: uniform(values, low, high))
