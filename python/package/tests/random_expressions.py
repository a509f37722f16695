# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Contractions with anything in them, and what NumPy says they are."""

import numpy

LETTERS = "abcdefgABC"
DTYPES = ("float32", "float64", "complex64", "complex128")


def strided(random, shape, dtype):
    """An array of that shape: contiguous, transposed, with steps, reversed, repeated."""
    kind = random.integers(5)
    padded = [2 * extent if kind == 2 else extent for extent in shape]
    order = random.permutation(len(shape))
    if kind == 1:
        padded = [padded[axis] for axis in order]
    values = random.uniform(-1, 1, padded)
    if dtype.startswith("complex"):
        values = values + 1j * random.uniform(-1, 1, padded)
    array = values.astype(dtype)
    if kind == 1:
        return array.transpose(numpy.argsort(order))
    if kind == 2:
        return array[tuple(slice(None, None, 2) for _ in shape)]
    if kind == 3:
        return array[tuple(slice(None, None, -1) for _ in shape)]
    if kind == 4 and shape:
        return numpy.broadcast_to(array[:1], shape)
    return array


def contraction(random):
    """(expression, operands): up to four terms, repeated labels, ellipses, extents 0 and 1, implicit results."""
    extents = {letter: int(random.choice([0, 1, 2, 3, 4, 5], p=[0.01, 0.09, 0.3, 0.3, 0.2, 0.1])) for letter in LETTERS}
    labels = [str(letter) for letter in random.choice(list(LETTERS), random.integers(1, 7), replace=False)]
    batch = [int(extent) for extent in random.integers(1, 4, random.integers(0, 3))] if random.random() < 0.2 else None
    dtypes = random.choice(DTYPES, 2)
    terms, operands = [], []
    for _ in range(random.integers(1, 5)):
        term = [str(letter) for letter in random.choice(labels, random.integers(0, 5))]
        shape = [extents[letter] for letter in term]
        if batch is not None and random.random() < 0.7:
            at = int(random.integers(len(term) + 1))
            shape[at:at] = batch
            term.insert(at, "...")
        terms.append(term)
        operands.append(strided(random, shape, str(random.choice(dtypes))))
    used = sorted({letter for term in terms for letter in term if letter != "..."})
    expression = ",".join("".join(term) for term in terms)
    if random.random() < 0.8:
        result = [str(letter) for letter in random.permutation(used)[: random.integers(len(used) + 1)]]
        if any("..." in term for term in terms):
            result.insert(int(random.integers(len(result) + 1)), "...")
        expression += "->" + "".join(result)
    return expression, operands


def expected(expression, operands):
    """NumPy's answer in double precision, and how far a right one may be from it in its own.

    A sum of n products of k factors below √2 in magnitude: every product is rounded k times, the sum n times,
    each at most by the unit roundoff of what there is so far; a complex product is two of each."""
    dtype = numpy.result_type(*operands)
    wide = numpy.result_type(dtype, numpy.float64)
    answer = numpy.einsum(expression, *(operand.astype(wide) for operand in operands))
    magnitudes = numpy.einsum(expression, *(abs(operand.astype(wide)) for operand in operands))
    terms = max(1, numpy.prod([max(1, extent) for operand in operands for extent in operand.shape], dtype=float))
    unit = numpy.finfo(dtype).eps / 2
    return answer, 4 * (min(terms, 1e4) + len(operands)) * unit * magnitudes
