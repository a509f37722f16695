# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""One Python provider of graph_fusion and graph_blocks against plain f64 NumPy."""

import os
import sys
import unittest

ROOT, PROVIDER = sys.argv[1:3]
sys.argv[1:4] = []
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
from assay_worker import graphs  # noqa: E402
from assay_worker.graph_inputs import FUSION_EPSILON, NORM_EPSILON, SIZES, widened  # noqa: E402

UNIT_ROUNDOFF = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11}
# What the judge refuses of it is skipped by the case (src/cases/llm/graph_peers.cc).
DTYPES = ("f32",) if PROVIDER == "onnxruntime" else ("f32", "bf16", "f16")
COMPILES_FOR_LONG = PROVIDER == "torch-compile"
JUDGED_SET = 2


def silu(x):
    return x / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(x, weight, epsilon=NORM_EPSILON):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def mlp(x, wg, wu, wd):
    return (silu(x @ wg.T) * (x @ wu.T)) @ wd.T


def diamond(a, b):
    t = a + b
    return t * np.sin(t) + np.maximum(t, a)


FUSIONS = {
    "affine": lambda a, b: np.maximum(a * b + a, 0) - b,
    "chain": lambda a, b: np.sqrt(np.sin(a + b)),
    "chain_sum": lambda a, b: np.sqrt(np.sin(a + b)).sum(-1),
    "gate": lambda a, b: silu(a) * b,
    "diamond": diamond,
    "norm": lambda a, w: norm(a, w, FUSION_EPSILON),
    "softmax": lambda a: softmax(a),
}


def attention(point, q, k, v):
    group = q.shape[0] // k.shape[0]
    scores = q @ np.repeat(k, group, 0).transpose(0, 2, 1) / np.sqrt(q.shape[2])
    seen = np.tril(np.ones(scores.shape[1:], bool), point["cached"])
    return softmax(np.where(seen, scores, -np.inf)) @ np.repeat(v, group, 0)


def experts(point, x, wr, wg, wu, wd):
    scores, y = x @ wr.T, np.zeros_like(x)
    for i, row in enumerate(scores):
        chosen = np.argsort(-row)[: SIZES[point["size"]]["top"]]
        for e, weight in zip(chosen, softmax(row[chosen])):
            y[i] += weight * mlp(x[i], wg[e].T, wu[e].T, wd[e].T)
    return y


def layer(point, x, kcache, vcache, cos, sin, g1, wq, wk, wv, wo, g2, wg, wu, wd):
    width, h = SIZES[point["size"]]["width"], norm(x, g1)

    def heads(w):
        return (h @ w.T).reshape(len(x), -1, width).transpose(1, 0, 2)

    def turned(z):
        a, b = z[..., : width // 2], z[..., width // 2 :]
        return np.concatenate((a * cos - b * sin, b * cos + a * sin), -1)

    k, v = kcache.copy(), vcache.copy()
    k[:, point["cached"] :], v[:, point["cached"] :] = turned(heads(wk)), heads(wv)
    seen = attention(point, turned(heads(wq)), k, v)
    x = x + seen.transpose(1, 0, 2).reshape(len(x), -1) @ wo.T
    return {"y": x + mlp(norm(x, g2), wg, wu, wd), "k": k, "v": v}


def expected(case, point, arrays):
    if case == "graph_fusion":
        return {"y": FUSIONS[point["graph"]](**arrays)}
    block = point["block"]
    if block == "transformer":
        return layer(point, **arrays)
    if block == "norm_matmul":
        return {"y": norm(arrays["x"], arrays["g1"]) @ arrays["w"].T}
    if block == "mlp":
        return {"y": mlp(**arrays)}
    return {"y": {"attention": attention, "moe": experts}[block](point, **arrays)}


class GraphPeerTest(unittest.TestCase):
    def check(self, case, point):
        """Through the workload: both slots, then the judged set in one that was used; twice."""
        workload = graphs.make(case, PROVIDER, point, 1)
        for slot in (0, 1):
            workload.load(slot, slot)
            workload.call(slot)
        workload.load(0, JUDGED_SET)
        drawn = workload.drawn
        arrays = {**drawn.arrays(0, True), **drawn.arrays(JUDGED_SET, False)}
        right = expected(case, point, {name: widened(a).astype(np.float64) for name, a in arrays.items()})
        for _ in range(2):
            workload.poison_outputs()
            workload.call(0)
            outputs = workload.outputs()
            self.assertEqual(sorted(outputs), sorted(right), point)
            for name, values in right.items():
                out = outputs[name]
                names = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}
                self.assertEqual((out.shape, out.dtype.name), (values.shape, names[point["dtype"]]), point)
                error = np.abs(out.astype(np.float64) - values).max()
                # Sizes are below 8, sums of at most 160 terms: some tens of roundings of that.
                scale = max(1.0, np.abs(values).max())
                self.assertLess(error, 16 * UNIT_ROUNDOFF[point["dtype"]] * scale, (name, point))
        self.assertTrue(all(workload.versions().values()))

    def test_fusion(self):
        for dtype in DTYPES:
            for graph in FUSIONS:
                self.check("graph_fusion", {"graph": graph, "n": 917, "width": 131, "dtype": dtype, "seed": 5})

    def test_blocks(self):
        shapes = ((7, 12),) if COMPILES_FOR_LONG else ((1, 0), (1, 9), (5, 0), (7, 12))
        for dtype in DTYPES[:2]:
            for block in ("norm_matmul", "mlp", "attention", "moe", "transformer"):
                looks_back = block in ("attention", "transformer")
                for tokens, cached in sorted({(t, c if looks_back else 0) for t, c in shapes}):
                    point = {"block": block, "size": "tiny", "tokens": tokens, "cached": cached}
                    self.check("graph_blocks", {**point, "dtype": dtype, "seed": 5})


unittest.main()
