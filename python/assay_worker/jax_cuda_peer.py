# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""JAX on a GPU, jitted."""

from assay_worker.device import Device, OnDevice
from assay_worker.jax_peer import Jax
from assay_worker.mp2 import energy_by_rows
from assay_worker.peer import PeerWorkload

ROWS = 64  # of a that are reduced at a time, where XLA may keep all terms of them in memory


class JaxDevice(Device):
    def __init__(self, jax):
        self.jax = jax

    def wait(self, result):
        self.jax.block_until_ready(result)

    def peak_bytes(self):
        return float((self.jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)) or None


class JaxWorkload(OnDevice, PeerWorkload):
    def __init__(self, peer, *arguments):
        super().__init__(peer, *arguments)
        self.device = JaxDevice(peer.jax)


class JaxCuda(Jax):
    platform = "cuda"

    def __init__(self, cores):
        super().__init__(cores)
        # Otherwise f32 products are made in TF32, which the judge refuses.
        self.jax.config.update("jax_default_matmul_precision", "highest")

    def _jitted(self, function):
        return self.jax.jit(function)

    def workload(self, function, inputs, output):
        return JaxWorkload(self, function, inputs, output)

    def contraction(self, expression):
        return self._jitted(lambda *operands: self.jax.numpy.einsum(expression, *operands))

    def mp2(self, point):
        return self._jitted(energy_by_rows(point, self.jax.numpy, self.take))

    def matmul(self, point):
        algebra, spread = point.get("algebra", "real"), point.get("regime", "unit") == "spread"
        jnp = self.jax.numpy

        def by_rows(reduce):
            return lambda a, b: self.jax.lax.map(lambda row: reduce(row, b.T), a, batch_size=ROWS)

        # Of rows and columns: XLA fuses terms and ⊕, and on a GPU NaN survives its reductions.
        fused = {
            "max_plus": lambda a, b: jnp.max(a[:, :, None] + b, 1),
            "min_plus": lambda a, b: jnp.min(a[:, :, None] + b, 1),
            "log": by_rows(lambda row, b: self.jax.nn.logsumexp(row + b, 1)),
        }
        if spread and algebra == "euclidean":
            differences = lambda row, b: jnp.sqrt(jnp.sum(jnp.square(row - b), 1))  # noqa: E731
            return self._jitted(by_rows(differences))
        if algebra in fused:
            return self._jitted(fused[algebra])
        return super().matmul(point)
