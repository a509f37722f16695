# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""JAX, jitted, of graph_fusion and graph_blocks; here on the CPU."""

from importlib.metadata import version

import numpy as np

from assay_worker.graph_inputs import FUSION_EPSILON, NORM_EPSILON, SIZES
from assay_worker.graphs import GraphFramework
from assay_worker.jax_peer import import_jax


class JaxGraph(GraphFramework):
    def __init__(self, case, point, cores):
        self.jax = import_jax(cores)
        self.point = point
        function = self.fusion() if case == "graph_fusion" else self.block()
        self.function = self.jax.jit(function, donate_argnums=0)
        self.weights = {}

    def fusion(self):
        jnp, nn = self.jax.numpy, self.jax.nn

        def chain(a, b):
            return jnp.sqrt(jnp.sin(a + b))

        def diamond(a, b):
            t = a + b
            return t * jnp.sin(t) + jnp.maximum(t, a)

        fused = {
            "affine": lambda a, b: nn.relu(a * b + a) - b,
            "chain": chain,
            "chain_sum": lambda a, b: chain(a, b).sum(-1),
            "gate": lambda a, b: nn.silu(a) * b,
            "diamond": diamond,
            "norm": lambda a, w: self.norm(a, w, FUSION_EPSILON),
            "softmax": lambda a: nn.softmax(a.astype(jnp.float32), -1).astype(a.dtype),
        }[self.point["graph"]]
        return lambda caches, inputs, weights: ({}, fused(**inputs, **weights))

    def norm(self, x, weight, epsilon=NORM_EPSILON):
        jnp = self.jax.numpy
        wide = x.astype(jnp.float32)
        root = self.jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + epsilon)
        return (wide * root * weight.astype(jnp.float32)).astype(x.dtype)

    def linear(self, x, w):
        """x Wᵀ, summed in f32."""
        return self.jax.numpy.matmul(x, w.T, preferred_element_type=self.jax.numpy.float32).astype(x.dtype)

    def mlp(self, x, wg, wu, wd):
        return self.linear(self.jax.nn.silu(self.linear(x, wg)) * self.linear(x, wu), wd)

    def expert(self, x, wg, wu, wd):
        return self.mlp(x, wg.T, wu.T, wd.T)

    def attention(self, q, k, v):
        """Of heads × tokens × width, in the form that jax.nn has; query i sees keys up to cached + i."""
        jnp, tokens = self.jax.numpy, self.point["tokens"]
        mask = jnp.tril(jnp.ones((tokens, k.shape[1]), bool), self.point["cached"])
        dtype = q.dtype
        # XLA has no product of halves in f32 for the CPU.
        wide = jnp.float32 if dtype == jnp.float16 else dtype
        q, k, v = (jnp.swapaxes(x, 0, 1).astype(wide) for x in (q, k, v))
        y = self.jax.nn.dot_product_attention(q, k, v, mask=mask)
        return jnp.swapaxes(y, 0, 1).astype(dtype)

    def experts(self, x, wr, wg, wu, wd):
        jnp, nn, lax = self.jax.numpy, self.jax.nn, self.jax.lax
        top = SIZES[self.point["size"]]["top"]
        scores = jnp.matmul(x, wr.T, preferred_element_type=jnp.float32)
        weights, chosen = lax.top_k(nn.softmax(scores, -1), top)
        weights = (weights / weights.sum(-1, keepdims=True)).astype(x.dtype)
        if x.shape[0] == 1:
            inner = [self.expert(x, wg[e], wu[e], wd[e]) for e in chosen[0]]
            return sum(weights[0, i] * y for i, y in enumerate(inner))
        share = jnp.zeros((x.shape[0], wg.shape[0]), x.dtype)
        share = share.at[jnp.arange(x.shape[0])[:, None], chosen].set(weights)
        parts = (share[:, e, None] * self.expert(x, wg[e], wu[e], wd[e]) for e in range(wg.shape[0]))
        return sum(parts)

    def rotated(self, x, cos, sin):
        first, second = self.jax.numpy.split(x, 2, -1)
        return self.jax.numpy.concatenate((first * cos - second * sin, second * cos + first * sin), -1)

    def layer(self, caches, inputs, weights):
        jnp, lax, point = self.jax.numpy, self.jax.lax, self.point
        x, w = inputs["x"], weights
        width = SIZES[point["size"]]["width"]
        h = self.norm(x, w["g1"])

        def heads(name):
            return jnp.swapaxes(self.linear(h, w[name]).reshape(point["tokens"], -1, width), 0, 1)

        at = (0, point["cached"], 0)
        k = lax.dynamic_update_slice(caches["kcache"], self.rotated(heads("wk"), w["cos"], w["sin"]), at)
        v = lax.dynamic_update_slice(caches["vcache"], heads("wv"), at)
        seen = self.attention(self.rotated(heads("wq"), w["cos"], w["sin"]), k, v)
        x = x + self.linear(jnp.swapaxes(seen, 0, 1).reshape(point["tokens"], -1), w["wo"])
        y = x + self.mlp(self.norm(x, w["g2"]), w["wg"], w["wu"], w["wd"])
        return {"kcache": k, "vcache": v}, y

    def block(self):
        block = self.point["block"]
        if block == "transformer":
            return self.layer
        simple = {
            "norm_matmul": lambda x, g1, w: self.linear(self.norm(x, g1), w),
            "mlp": self.mlp,
            "attention": self.attention,
            "moe": self.experts,
        }[block]
        return lambda caches, inputs, weights: ({}, simple(**inputs, **weights))

    def array(self, array):
        if array.dtype == np.uint16:
            import ml_dtypes

            array = array.view(ml_dtypes.bfloat16)
        return self.jax.block_until_ready(self.jax.numpy.asarray(array))

    def set_weights(self, weights):
        self.weights = {name: self.array(array) for name, array in weights.items()}

    def take(self, arrays):
        taken = {name: self.array(array) for name, array in arrays.items()}
        caches = {name: taken.pop(name) for name in ("kcache", "vcache") if name in taken}
        return {"caches": caches, "inputs": taken}

    def call(self, inputs):
        caches, y = self.jax.block_until_ready(
            self.function(inputs["caches"], inputs["inputs"], self.weights)
        )
        inputs["caches"] = caches
        outputs = {"y": y}
        if caches:
            outputs["k"], outputs["v"] = caches["kcache"], caches["vcache"]
        return outputs

    def versions(self):
        return {**super().versions(), "jax": self.jax.__version__, "jaxlib": version("jaxlib")}
