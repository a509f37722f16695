# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of graph_fusion and graph_blocks: those of src/cases/llm/graph_inputs.cc, bit for bit.

16-bit brain floats are ndarrays of uint16 here, as NumPy has no such type.
"""

import math

import numpy as np

from assay_worker import philox

UNIT = math.sqrt(3.0)
ROTARY_BASE = 5e5
FUSION_EPSILON = NORM_EPSILON = 1e-5
SHARP = 2.0
ROUTER_NOISE = 5e-4
SIZES = {
    "tiny": dict(hidden=64, ffn=160, heads=4, kv_heads=2, width=16, experts=8, expert_ffn=48, top=2),
    "1b": dict(hidden=2048, ffn=8192, heads=32, kv_heads=8, width=64, experts=16, expert_ffn=512, top=4),
}  # fmt: skip


def rounded(values, dtype):
    """Doubles in the dtype, rounded once, to nearest even. (Values are 0 or normal in each of them.)"""
    if dtype != "bf16":
        return values.astype({"f32": np.float32, "f16": np.float16}[dtype])
    bits = np.ascontiguousarray(values).view(np.uint64)
    shift = np.uint64(52 - 7)
    odd = (bits >> shift) & np.uint64(1)
    kept = (bits + (np.uint64((1 << 44) - 1) + odd)) >> shift << shift
    return (kept.view(np.float64).astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def widened(array):
    """A brain float's values in f32; anything else as it is."""
    if array.dtype != np.uint16:
        return array
    return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)


class Drawn:
    """The inputs of a point, by name: weights once, the rest for each set."""

    def __init__(self, point):
        self.point, self.dtype, self.inputs = point, point["dtype"], []

    def add(self, name, shape, low, high, weight=False, then=None):
        self.inputs.append((name, shape, low, high, weight, then))

    def arrays(self, input_set, weights):
        made = {}
        for name, shape, low, high, weight, then in self.inputs:
            if weight != weights:
                continue
            if low is None:
                made[name] = rounded(then(shape), self.dtype)
                continue
            stream = philox.input_stream(self.point["seed"], name, 0 if weight else input_set)
            values = philox.uniform(philox.raw(stream, math.prod(shape)), low, high).reshape(shape)
            if then is not None:
                then(values, input_set)
            made[name] = rounded(values, self.dtype)
        return made


def fusion_inputs(point):
    drawn, graph = Drawn(point), point["graph"]
    shape = (point["n"] // point["width"], point["width"])
    if graph in ("chain", "chain_sum"):
        drawn.add("a", shape, 0.05, 0.75)
        drawn.add("b", shape, 0.05, 0.75)
    elif graph in ("gate", "softmax"):
        drawn.add("a", shape, -4, 4)
        if graph == "gate":
            drawn.add("b", shape, -UNIT, UNIT)
    else:
        drawn.add("a", shape, -UNIT, UNIT)
        if graph in ("diamond", "affine"):
            drawn.add("b", shape, -UNIT, UNIT)
    if graph == "norm":
        drawn.add("w", shape[1:], 0.5, 1.5, weight=True)
    return drawn


def block_inputs(point):
    drawn, block = Drawn(point), point["block"]
    s, tokens = SIZES[point["size"]], point["tokens"]
    keys = point["cached"] + tokens
    hidden, ffn, width, experts = s["hidden"], s["ffn"], s["width"], s["experts"]
    cache = (s["kv_heads"], keys, width)

    def add_weight(name, *shape, gain=1.0):
        bound = gain * UNIT / math.sqrt(shape[1] if len(shape) == 3 else shape[-1])
        drawn.add(name, shape, -bound, bound, weight=True)

    def ladder(values, input_set):
        raw = philox.raw(philox.input_stream(point["seed"], "routes", input_set), 2 * tokens)
        step = 2 * philox.uniform_below(raw[0::2], experts // 2) + np.uint64(1)
        begin = philox.uniform_below(raw[1::2], experts)
        place = (step[:, None] * np.arange(experts, dtype=np.uint64) + begin[:, None]) % np.uint64(experts)
        values[:, :experts] = (place.astype(np.float64) - (experts - 1) / 2) * (4 / experts)

    def diagonal(values, input_set):
        values[np.arange(experts), np.arange(experts)] = 1

    def angles(function):
        def table(shape):
            position = point["cached"] + np.arange(shape[0], dtype=np.float64)
            share = np.arange(shape[1], dtype=np.float64) / shape[1]
            return function(position[:, None] * np.power(ROTARY_BASE, -share))

        return table

    def add_mlp():
        add_weight("wg", ffn, hidden)
        add_weight("wu", ffn, hidden)
        add_weight("wd", hidden, ffn)

    if block == "attention":
        drawn.add("q", (s["heads"], tokens, width), -SHARP * UNIT, SHARP * UNIT)
        drawn.add("k", cache, -UNIT, UNIT)
        drawn.add("v", cache, -UNIT, UNIT)
        return drawn
    drawn.add("x", (tokens, hidden), -UNIT, UNIT, then=ladder if block == "moe" else None)
    if block == "norm_matmul":
        drawn.add("g1", (hidden,), 0.5, 1.5, weight=True)
        add_weight("w", ffn, hidden)
    elif block == "mlp":
        add_mlp()
    elif block == "moe":
        drawn.add("wr", (experts, hidden), -ROUTER_NOISE, ROUTER_NOISE, weight=True, then=diagonal)
        add_weight("wg", experts, hidden, s["expert_ffn"])
        add_weight("wu", experts, hidden, s["expert_ffn"])
        add_weight("wd", experts, s["expert_ffn"], hidden)
    else:
        drawn.add("kcache", cache, -UNIT, UNIT)
        drawn.add("vcache", cache, -UNIT, UNIT)
        drawn.add("cos", (tokens, width // 2), None, None, weight=True, then=angles(np.cos))
        drawn.add("sin", (tokens, width // 2), None, None, weight=True, then=angles(np.sin))
        drawn.add("g1", (hidden,), 0.5, 1.5, weight=True)
        add_weight("wq", s["heads"] * width, hidden, gain=SHARP)
        add_weight("wk", s["kv_heads"] * width, hidden)
        add_weight("wv", s["kv_heads"] * width, hidden)
        add_weight("wo", hidden, s["heads"] * width)
        drawn.add("g2", (hidden,), 0.5, 1.5, weight=True)
        add_mlp()
    return drawn
