# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Triton kernels as somebody would write them who wants these operations fused, f32 and f64."""

import torch
import triton
import triton.language as tl

from assay_worker.edges import ZERO_OF_REDUCE, with_absent_vertex
from assay_worker.torch_cuda_peer import TorchCuda

EVERY_NAN = tl.constexpr(tl.PropagateNan.ALL)


@triton.jit
def real_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Three TF32 products for f32, as Triton offers them; tiles in groups of eight rows for the cache."""
    tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
    group = tl.program_id(0) // (8 * tiles_n)
    rows = tl.minimum(tiles_m - group * 8, 8)
    i = (group * 8 + tl.program_id(0) % (8 * tiles_n) % rows) * BM + tl.arange(0, BM)
    j = (tl.program_id(0) % (8 * tiles_n) // rows) * BN + tl.arange(0, BN)
    terms = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=c.dtype.element_ty)
    for first in range(0, k, BK):
        at = first + terms
        x = tl.load(a + i[:, None] * k + at, mask=(i[:, None] < m) & (at < k), other=0.0)
        y = tl.load(b + at[:, None] * n + j, mask=(at[:, None] < k) & (j < n), other=0.0)
        total = tl.dot(x, y, total, input_precision="tf32x3")
    tl.store(c + i[:, None] * n + j, total, mask=(i[:, None] < m) & (j < n))


@triton.jit
def extreme_kernel(a, b, c, m, n, k, SIGN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """max_plus; min_plus is that of the negated factors, negated."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    best = tl.full((BM, BN), float("-inf"), c.dtype.element_ty)
    for term in range(0, k):
        x = tl.load(a + i * k + term, mask=i < m, other=0.0) * SIGN
        y = tl.load(b + term * n + j, mask=j < n, other=0.0) * SIGN
        best = tl.maximum(best, x[:, None] + y[None, :], propagate_nan=EVERY_NAN)
    tl.store(c + i[:, None] * n + j, best * SIGN, mask=(i[:, None] < m) & (j < n))


@triton.jit
def log_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr):
    """The largest term first, then the sum of the others beside it."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    best = tl.full((BM, BN), float("-inf"), c.dtype.element_ty)
    for term in range(0, k):
        x = tl.load(a + i * k + term, mask=i < m, other=0.0)
        y = tl.load(b + term * n + j, mask=j < n, other=0.0)
        best = tl.maximum(best, x[:, None] + y[None, :], propagate_nan=EVERY_NAN)
    shift = tl.where(best == float("-inf"), 0.0, best)
    total = tl.zeros((BM, BN), dtype=c.dtype.element_ty)
    for term in range(0, k):
        x = tl.load(a + i * k + term, mask=i < m, other=0.0)
        y = tl.load(b + term * n + j, mask=j < n, other=0.0)
        total += tl.exp(x[:, None] + y[None, :] - shift)
    tl.store(c + i[:, None] * n + j, shift + tl.log(total), mask=(i[:, None] < m) & (j < n))


@triton.jit
def distance_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=c.dtype.element_ty)
    for term in range(0, k):
        x = tl.load(a + i * k + term, mask=i < m, other=0.0)
        y = tl.load(b + term * n + j, mask=j < n, other=0.0)
        d = x[:, None] - y[None, :]
        total += d * d
    tl.store(c + i[:, None] * n + j, tl.sqrt(total), mask=(i[:, None] < m) & (j < n))


@triton.jit
def edges_kernel(v, idx, y, out, n, k, d, zero, IS_MAX: tl.constexpr, BR: tl.constexpr, BD: tl.constexpr):
    """All slots of a block of vertices, in registers: no array of all edges."""
    rows = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    features = tl.program_id(1) * BD + tl.arange(0, BD)
    there = (rows[:, None] < n) & (features < d)
    total = tl.full((BR, BD), 0.0, out.dtype.element_ty) + zero
    for slot in range(0, k):
        source = tl.load(idx + rows * k + slot, mask=rows < n, other=0).to(tl.int64)
        weight = tl.load(v + rows * k + slot, mask=rows < n, other=0.0)
        term = tl.load(y + source[:, None] * d + features, mask=there, other=0.0) * weight[:, None]
        if IS_MAX:
            total = tl.maximum(total, term, propagate_nan=EVERY_NAN)
        else:
            total += term
    tl.store(out + rows[:, None] * d + features, total, mask=there)


class Triton(TorchCuda):
    def versions(self):
        return {**super().versions(), "triton": triton.__version__}

    def matmul(self, point):
        algebra = point.get("algebra", "real")
        if algebra == "boolean":
            return None

        def product(a, b):
            (m, k), n = a.shape, b.shape[1]
            c = torch.empty((m, n), dtype=a.dtype, device=a.device)
            if algebra == "real":
                side = 128 if a.dtype == torch.float32 else 64
                grid = (triton.cdiv(m, side) * triton.cdiv(n, side),)
                real_kernel[grid](a, b, c, m, n, k, side, side, 32, num_warps=8, num_stages=3)
                return c
            grid = (triton.cdiv(m, 64), triton.cdiv(n, 128))
            if algebra == "log":
                log_kernel[grid](a, b, c, m, n, k, 64, 128, num_warps=8)
            elif algebra == "euclidean":
                distance_kernel[grid](a, b, c, m, n, k, 64, 128, num_warps=8)
            else:
                sign = 1 if algebra == "max_plus" else -1
                extreme_kernel[grid](a, b, c, m, n, k, sign, 64, 128, num_warps=8)
            return c

        return product

    def take_edges(self, point, v, idx, x, w):
        return tuple(map(self.take, with_absent_vertex(point, v, idx, x, w)))

    def edges(self, point):
        n, reduce = point["n"], point["reduce"]

        def aggregate(v, idx, x, w):
            y = x @ w.T
            y[n:] = ZERO_OF_REDUCE[reduce]
            d = y.shape[1]
            out = torch.empty((n, d), dtype=y.dtype, device=y.device)
            block = min(64, triton.next_power_of_2(d))
            edges_kernel[(triton.cdiv(n, 16), triton.cdiv(d, block))](
                v, idx, y, out, n, idx.shape[1], d, ZERO_OF_REDUCE[reduce], reduce == "max", 16, block
            )
            return out

        return aggregate
