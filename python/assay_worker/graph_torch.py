# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch, eager and compiled, of graph_fusion and graph_blocks."""

import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

from assay_worker.graph_inputs import FUSION_EPSILON, NORM_EPSILON, SIZES
from assay_worker.graphs import GraphFramework


def chain(a, b):
    return torch.sqrt(torch.sin(a + b))


def diamond(a, b):
    t = a + b
    return t * torch.sin(t) + torch.maximum(t, a)


FUSIONS = {
    "affine": lambda a, b: torch.relu(a * b + a) - b,
    "chain": chain,
    "chain_sum": lambda a, b: chain(a, b).sum(-1),
    "gate": lambda a, b: F.silu(a) * b,
    "diamond": diamond,
    "norm": lambda a, w: F.rms_norm(a, w.shape, w, FUSION_EPSILON),
    "softmax": lambda a: torch.softmax(a, -1),
}


def attention(q, k, v, mask, is_causal):
    """Of heads × tokens × width, grouped queries."""
    y = F.scaled_dot_product_attention(
        q[None], k[None], v[None], attn_mask=mask, is_causal=is_causal, enable_gqa=True
    )
    return y[0]


def mlp(x, wg, wu, wd):
    return F.linear(F.silu(F.linear(x, wg)) * F.linear(x, wu), wd)


def expert(x, wg, wu, wd):
    return (F.silu(x @ wg) * (x @ wu)) @ wd


def experts(x, top, wr, wg, wu, wd):
    """Token by token for the chosen experts where tokens are few, else expert by expert."""
    weights, chosen = torch.topk(torch.softmax(F.linear(x, wr).float(), -1), top)
    weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
    y = torch.zeros_like(x)
    if x.shape[0] == 1:
        for i in range(top):
            e = chosen[0, i]
            y += weights[0, i] * expert(x, wg[e], wu[e], wd[e])
        return y
    for e in range(wg.shape[0]):
        token, slot = torch.where(chosen == e)
        y.index_add_(0, token, expert(x[token], wg[e], wu[e], wd[e]) * weights[token, slot, None])
    return y


def experts_of_fixed_shape(x, top, wr, wg, wu, wd):
    """The same without shapes that depend on values: the chosen matrices for one token, all for many."""
    weights, chosen = torch.topk(torch.softmax(F.linear(x, wr).float(), -1), top)
    weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
    if x.shape[0] == 1:
        e = chosen[0]
        return (weights[0, :, None, None] * expert(x, wg[e], wu[e], wd[e])).sum(0)
    share = torch.zeros(x.shape[0], wg.shape[0], dtype=x.dtype).scatter(1, chosen, weights)
    y = torch.zeros_like(x)
    for e in range(wg.shape[0]):
        y = y + share[:, e, None] * expert(x, wg[e], wu[e], wd[e])
    return y


def rotated(x, cos, sin):
    """Heads × tokens × width, halves as pairs."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def layer(point, mask, x, kcache, vcache, cos, sin, g1, wq, wk, wv, wo, g2, wg, wu, wd):
    tokens, cached, width = point["tokens"], point["cached"], SIZES[point["size"]]["width"]
    h = F.rms_norm(x, g1.shape, g1, NORM_EPSILON)

    def heads(w):
        return F.linear(h, w).view(tokens, -1, width).transpose(0, 1)

    kcache[:, cached:] = rotated(heads(wk), cos, sin)
    vcache[:, cached:] = heads(wv)
    causal = mask is None and tokens > 1
    seen = attention(rotated(heads(wq), cos, sin), kcache, vcache, mask, causal)
    x = x + F.linear(seen.transpose(0, 1).reshape(tokens, -1), wo)
    return x + mlp(F.rms_norm(x, g2.shape, g2, NORM_EPSILON), wg, wu, wd)


class TorchGraph(GraphFramework):
    experts = staticmethod(experts)

    def __init__(self, case, point, cores):
        torch.set_num_threads(cores)
        torch.set_grad_enabled(False)
        self.point = point
        self.function = self.compiled(self.fusion() if case == "graph_fusion" else self.block())

    def compiled(self, function):
        return function

    def fusion(self):
        fused = FUSIONS[self.point["graph"]]
        return lambda **arrays: fused(**arrays)

    def block(self):
        point = self.point
        block, tokens, cached = point["block"], point["tokens"], point["cached"]
        # Where there are tokens before the new ones a mask says what each sees; one token sees all.
        mask = None
        if cached > 0 and tokens > 1:
            mask = torch.ones(tokens, cached + tokens, dtype=torch.bool).tril(cached)
        causal = mask is None and tokens > 1
        if block == "norm_matmul":
            return lambda x, g1, w: F.linear(F.rms_norm(x, g1.shape, g1, NORM_EPSILON), w)
        if block == "mlp":
            return mlp
        if block == "attention":
            return lambda q, k, v: attention(q, k, v, mask, causal)
        if block == "moe":
            top = SIZES[point["size"]]["top"]
            return lambda x, **weights: self.experts(x, top, **weights)
        return lambda **arrays: layer(point, mask, **arrays)

    def tensor(self, array):
        if array.dtype == np.uint16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def set_weights(self, weights):
        self.weights = {name: self.tensor(array) for name, array in weights.items()}

    def take(self, arrays):
        return {name: self.tensor(array) for name, array in arrays.items()}

    def call(self, inputs):
        outputs = {"y": self.function(**inputs, **self.weights)}
        if "kcache" in inputs:
            outputs["k"], outputs["v"] = inputs["kcache"], inputs["vcache"]
        return outputs

    def outputs(self, results):
        def to_numpy(output):
            if output.dtype != torch.bfloat16:
                return output.numpy()
            import ml_dtypes

            return output.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)

        return {name: to_numpy(output) for name, output in results.items()}

    def versions(self):
        return {**super().versions(), "torch": torch.__version__}


class TorchCompiledGraph(TorchGraph):
    experts = staticmethod(experts_of_fixed_shape)

    def __init__(self, case, point, cores):
        # Read when Inductor is imported; from an empty cache, as for the other cases (torch_peer.py).
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "inductor")
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        import torch._inductor.config as config

        config.cpp_cache_precompile_headers = False
        config.cpp.vec_isa_ok = True
        torch.compiler.reset()
        super().__init__(case, point, cores)

    def compiled(self, function):
        return torch.compile(function, dynamic=False, fullgraph=True)
