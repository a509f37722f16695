# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""JAX, jitted; here on the CPU."""

import os
from importlib.metadata import version

from assay_worker.edges import ZERO_OF_REDUCE, slot_by_slot, unrolled, with_absent_vertex
from assay_worker.peer import Peer


def import_jax(cores, platform="cpu"):
    """JAX reads all of this when it is first imported, or when it first computes."""
    os.environ["JAX_PLATFORMS"] = platform
    os.environ["NPROC"] = str(cores)  # the size of XLA's thread pool
    if cores == 1:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)  # a cold call is cold
    return jax


class Jax(Peer):
    platform = "cpu"

    def __init__(self, cores):
        super().__init__(cores)
        self.jax = import_jax(cores, self.platform)

    def take(self, array):
        return self.jax.block_until_ready(self.jax.numpy.asarray(array))

    def versions(self):
        return {**super().versions(), "jax": self.jax.__version__, "jaxlib": version("jaxlib")}

    def _jitted(self, function):
        jitted, wait = self.jax.jit(function), self.jax.block_until_ready
        return lambda *arrays: wait(jitted(*arrays))

    def matmul(self, point):
        algebra, spread = point.get("algebra", "real"), point.get("regime", "unit") == "spread"
        jnp = self.jax.numpy

        def by_rows(reduce):
            """One row of a at a time: where XLA does not fuse terms and ⊕, they fit a cache.

            Measured at 512³, one core: log 100 ms, against 400 ms for all rows at once; euclidean
            23 ms against 49 ms.
            """
            return lambda a, b: self.jax.lax.map(lambda row: reduce(row, b.T), a)

        def distances(a, b):
            squares = jnp.sum(a * a, 1)[:, None] + jnp.sum(b * b, 0) - 2 * (a @ b)
            return jnp.sqrt(jnp.maximum(squares, 0))

        def differences(row, b):
            return jnp.sqrt(jnp.sum(jnp.square(row - b), 1))

        def extreme(reduce, first):
            """jnp.max or jnp.min over the terms; `first` says which of two numbers it prefers.

            XLA's reductions on the CPU lose NaN (jaxlib 0.10.2, whatever its flags say), so inputs
            that can have a NaN among their terms take a reduction that looks for it, 10 times slower.
            Looking at the inputs costs m k + k n.
            """

            def careful(a, b):
                start = jnp.array(jnp.inf if reduce is jnp.min else -jnp.inf, a.dtype)
                better = lambda s, t: jnp.where(first(s, t) | jnp.isnan(s), s, t)  # noqa: E731
                return self.jax.lax.reduce(a[:, :, None] + b, start, better, (1,))

            def product(a, b):
                def some(property):
                    return property(a).any() | property(b).any()

                hazard = some(jnp.isnan) | (some(jnp.isposinf) & some(jnp.isneginf))
                return self.jax.lax.cond(
                    hazard, careful, lambda a, b: reduce(a[:, :, None] + b, 1), a, b
                )

            return product

        products = {
            "real": jnp.matmul,
            "log": by_rows(lambda row, b: self.jax.nn.logsumexp(row + b, 1)),
            "max_plus": extreme(jnp.max, jnp.greater),
            "min_plus": extreme(jnp.min, jnp.less),
            "euclidean": by_rows(differences) if spread else distances,
            # 0 and 1 in f32 count the pairs, exactly, as k < 2^24.
            "boolean": lambda a, b: a.astype(jnp.float32) @ b.astype(jnp.float32) > 0.5,
        }
        return self._jitted(products[algebra])

    def take_edges(self, point, v, idx, x, w):
        return tuple(map(self.take, with_absent_vertex(point, v, idx, x, w)))

    def edges(self, point):
        """Slot by slot, which XLA fuses into one sweep without a gathered array.

        Measured at n = 16384, k = 16, d = 64 on one core: 6 ms, against 60 ms for a gather of all
        slots followed by a reduction.
        """
        jnp, n, reduce = self.jax.numpy, point["n"], point["reduce"]
        combine = {"sum": jnp.add, "max": jnp.maximum}[reduce]

        def aggregate(v, idx, x, w):
            y = x @ w.T
            if y.shape[0] > n:
                y = y.at[n].set(ZERO_OF_REDUCE[reduce])

            def gather(of):
                return y.at[of].get(mode="promise_in_bounds")

            if unrolled(point):
                return slot_by_slot(v, idx, gather, combine)
            zero = jnp.full((n, y.shape[1]), ZERO_OF_REDUCE[reduce], y.dtype)
            add_slot = lambda p, out: combine(out, gather(idx[:, p]) * v[:, p, None])  # noqa: E731
            return self.jax.lax.fori_loop(0, idx.shape[1], add_slot, zero)

        return self._jitted(aggregate)
