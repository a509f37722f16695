# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a case file, bit for bit those of src/cases/own/inputs.h."""

import re

import numpy as np

from assay_worker.philox import input_stream, raw, uniform, uniform_below

NUMPY_OF = {
    "bool": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32,
    "i32": np.int32, "u64": np.uint64, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
BLOCK = 1 << 18  # elements that are made at a time
TOKEN = re.compile(r"\s*(//|[-+*%(),]|\d+|[A-Za-z_]\w*)")


def evaluate(text, point):
    """An integer expression of src/cases/own/expression.h, which has checked it at this point."""
    tokens = TOKEN.findall(text)
    place = 0

    def peek():
        return tokens[place] if place < len(tokens) else ""

    def take():
        nonlocal place
        place += 1
        return tokens[place - 1]

    def total():
        value = product()
        while peek() in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    def product():
        value = factor()
        while peek() in ("*", "//", "%"):
            operation = take()
            other = factor()
            value = value * other if operation == "*" else value // other if operation == "//" else value % other
        return value

    def factor():
        token = take()
        if token == "-":
            return -factor()
        if token == "(":
            value = total()
            take()
            return value
        if token.isdigit():
            return int(token)
        if token in ("min", "max", "size") and peek() == "(":
            take()
            if token == "size":
                name = take()
                take()
                return np.dtype(NUMPY_OF[name if name in NUMPY_OF else point[name]]).itemsize
            values = [total()]
            while take() == ",":
                values.append(total())
            return min(values) if token == "min" else max(values)
        return point[token]

    return total()


def shape_at(tensor, point):
    return tuple(evaluate(extent, point) for extent in tensor["shape"])


def dtype_at(tensor, point):
    return np.dtype(NUMPY_OF[point.get(tensor["dtype"], tensor["dtype"])])


def _normal(raw_values, mean, deviation):
    """Twelve integers of 32 bits added up for each element: no logarithm, the same bits everywhere."""
    halves = (raw_values & np.uint64(0xFFFFFFFF)) + (raw_values >> np.uint64(32))
    total = halves.reshape(-1, 6).sum(axis=1, dtype=np.uint64).astype(np.float64)
    scaled = deviation * ((total - 6.0 * 4294967295.0) * 2.0**-32)
    return scaled + mean


def make_input(tensor, point, input_set):
    """Input set `input_set` of one input at this point, as an ndarray."""
    shape, dtype = shape_at(tensor, point), dtype_at(tensor, point)
    fill = tensor["fill"]
    if fill == "file":
        values = np.load(tensor["file"], allow_pickle=False)
        if values.shape != shape or values.dtype != dtype:
            raise ValueError(f"{tensor['file']!r} holds {values.dtype} {values.shape}, not {dtype} {shape}")
        return np.ascontiguousarray(values)
    if fill == "constant":
        return np.full(shape, tensor["constant"], dtype=dtype)
    stream = input_stream(point["seed"], tensor["stream"], input_set)
    values = np.empty(shape, dtype=dtype)
    flat = values.reshape(-1)
    if fill == "permutation":
        flat[:] = np.argsort(raw(stream, flat.size), kind="stable")
        return values
    bound = evaluate(tensor["below"], point) if fill == "below" else None
    for begin in range(0, flat.size, BLOCK):
        part = flat[begin : begin + BLOCK]
        if fill == "uniform":
            part[:] = uniform(raw(stream, part.size), tensor["low"], tensor["high"])
        elif fill == "normal":
            part[:] = _normal(raw(stream, 6 * part.size), tensor["mean"], tensor["deviation"])
        else:
            part[:] = uniform_below(raw(stream, part.size), bound)
    return values


def make_inputs(definition, point, input_set):
    """All inputs by name."""
    return {tensor["name"]: make_input(tensor, point, input_set) for tensor in definition["inputs"]}
