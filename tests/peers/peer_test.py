# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""One Python provider against plain f64 NumPy: every algebra, dtype and regime, awkward sizes, NaN, ∞."""

import itertools
import os
import sys
import tempfile
import unittest

ROOT, PROVIDER = sys.argv[1:3]
sys.argv[1:3] = []
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
from assay_worker import edges, semiring  # noqa: E402
from assay_worker.workload import ProviderFailure  # noqa: E402

EDGES_ONLY = ("pyg", "pyg-edge-index")
MATMUL_ONLY = ("keops",)
# Each shape is a compilation of some seconds for these two, in every algebra and dtype.
COMPILES_FOR_LONG = PROVIDER in ("torch-compile", "keops")
SHAPES = (
    [(37, 129, 65)] if COMPILES_FOR_LONG else [(1, 1, 1), (1, 7, 1), (37, 129, 65), (64, 33, 2)]
)
UNIT_ROUNDOFF = {"f32": 2.0**-24, "f64": 2.0**-53, "bool": 0.0}
JUDGED_SET = 2


def plain_matmul(algebra, a, b):
    """The definition, in f64 (boolean: bool), all terms at once."""
    if algebra == "boolean":
        return (a[:, :, None] & b).any(axis=1)
    a, b = a.astype(np.float64)[:, :, None], b.astype(np.float64)
    with np.errstate(all="ignore"):
        if algebra == "real":
            return (a * b).sum(axis=1)
        if algebra == "euclidean":
            return np.sqrt(np.square(a - b).sum(axis=1))
        if algebra == "min_plus":
            return (a + b).min(axis=1, initial=np.inf)
        largest = (a + b).max(axis=1, initial=-np.inf)
        if algebra == "max_plus":
            return largest
        shift = np.where(np.isfinite(largest), largest, 0)
        return np.log(np.exp(a + b - shift[:, None]).sum(axis=1)) + shift


def bound(algebra, dtype, a, b, expected):
    """Of |error|, for any order of summation and a distance by either formula.

    real: (k + 1) u Σ|ab|. log: exp and log to 4 ulp, terms of size t shifted by two roundings (2 u t),
    k roundings in the sum; relative in the sum, absolute in the logarithm. max, min: one rounding of
    the addition. euclidean by differences: relative, (k + 5) u; by a matmul: (k + 4) u (‖a‖² + ‖b‖²)
    in each of the square's three parts, hence over 2 C in the root. f64 is compared with f64, which
    errs as much itself: twice.
    """
    u, k = UNIT_ROUNDOFF[dtype] * (2 if dtype == "f64" else 1), a.shape[1]
    if algebra == "boolean":
        return 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    if algebra == "real":
        return (k + 1) * u * (np.abs(a) @ np.abs(b))
    if algebra in ("max_plus", "min_plus"):
        return 2 * u * np.abs(expected)
    if algebra == "log":
        terms = [np.abs(x[np.isfinite(x)]).max(initial=0) for x in (a, b)]
        return u * (4 * sum(terms) + k + 16 + 4 * np.abs(expected))
    return (k + 5) * u * expected


def bound_by_matmul(dtype, a, b, expected):
    u, k = UNIT_ROUNDOFF[dtype] * (2 if dtype == "f64" else 1), a.shape[1]
    a, b = a.astype(np.float64), b.astype(np.float64)
    squares = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=0)
    return 3 * (k + 4) * u * squares / (2 * expected) + 4 * u * expected


def call(workload, *arrays):
    """The workload's function on inputs that no case would draw."""
    return np.asarray(workload.function(*arrays))


class PeerTest(unittest.TestCase):
    def assert_close(self, out, expected, limit, what):
        self.assertEqual(out.shape, expected.shape, what)
        nan = np.isnan(expected) if expected.dtype != bool else np.zeros(expected.shape, bool)
        if expected.dtype == bool:
            np.testing.assert_array_equal(out, expected, what)
            return
        np.testing.assert_array_equal(np.isnan(out), nan, f"NaN: {what}")
        infinite = np.isinf(expected)
        np.testing.assert_array_equal(out[infinite], expected[infinite], f"infinities: {what}")
        finite = ~nan & ~infinite
        with np.errstate(invalid="ignore"):
            excess = np.abs(out.astype(np.float64) - expected) - limit
        self.assertLessEqual(excess[finite].max(initial=-1), 0, what)


@unittest.skipIf(PROVIDER in EDGES_ONLY, "computes edges only")
class Matmul(PeerTest):
    def points(self, shapes):
        for algebra, dtype, regime, (m, k, n) in itertools.product(
            semiring.ZERO_OF_ALGEBRA, ("f32", "f64", "bool"), ("unit", "spread"), shapes
        ):
            plain = algebra in ("real", "boolean")
            if (algebra == "boolean") != (dtype == "bool") or (regime == "spread" and plain):
                continue
            if PROVIDER == "keops" and algebra == "boolean":
                continue  # refused, see below
            yield {
                "algebra": algebra, "dtype": dtype, "regime": regime, "m": m, "k": k, "n": n, "seed": 5,
            }  # fmt: skip

    def check(self, workload, point, a, b):
        algebra, dtype = point["algebra"], point["dtype"]
        out = call(workload, workload.peer.take(a), workload.peer.take(b))
        self.assertEqual(out.dtype, semiring.DTYPES[dtype], point)
        expected = plain_matmul(algebra, a, b)
        with np.errstate(all="ignore"):
            limit = bound(algebra, dtype, a, b, expected)
            if algebra == "euclidean" and point["regime"] == "unit":
                limit = np.maximum(limit, bound_by_matmul(dtype, a, b, expected))
        self.assert_close(out, expected, limit, f"{PROVIDER} {point}")

    def test_every_algebra_dtype_and_regime(self):
        for point in self.points(SHAPES):
            workload = semiring.make("semiring_matmul", PROVIDER, point, 1)
            self.check(workload, point, *semiring.make_inputs(point, JUDGED_SET))

    def test_nothing_to_reduce(self):
        for point in self.points([(3, 0, 2)]):
            if PROVIDER == "keops" and point["algebra"] == "boolean":
                continue
            workload = semiring.make("semiring_matmul", PROVIDER, point, 1)
            workload.load(0, 0)
            workload.call(0)
            out = workload.outputs()["c"]
            self.assertEqual((out.shape, out.dtype), ((3, 2), semiring.DTYPES[point["dtype"]]))
            self.assertTrue((out == semiring.ZERO_OF_ALGEBRA[point["algebra"]]).all(), point)

    def test_nan_and_infinities(self):
        """A row of zeros of ⊕, single infinities of the other sign, and NaN in one row and column."""
        for point in self.points([(37, 129, 65)]):
            algebra = point["algebra"]
            if algebra == "boolean":
                continue
            a, b = (x.copy() for x in semiring.make_inputs(point, JUDGED_SET))
            if algebra in ("log", "max_plus", "min_plus"):
                zero = semiring.ZERO_OF_ALGEBRA[algebra]
                a[3] = zero
                b[:, 5] = zero
                b[np.isinf(b[:, 7]), 7] = 0
                a[np.isinf(a[:, 11]), 11] = 0
                b[11, 7] = -zero
                a[3, 11] = 0
            if PROVIDER != "keops" or algebra in ("real", "euclidean"):
                if algebra in ("log", "max_plus", "min_plus"):
                    a[20, 11] = zero  # ∞ − ∞ with b[11, 7]
                a[0, 1] = np.nan
                b[2, 0] = np.nan
            workload = semiring.make("semiring_matmul", PROVIDER, point, 1)
            self.check(workload, point, a, b)

    @unittest.skipUnless(PROVIDER == "keops", "of KeOps alone")
    def test_what_keops_does_not_do(self):
        """It says so in its provider's unequal_work; a version that learns it should lose the note."""
        point = {"algebra": "max_plus", "dtype": "f32", "m": 2, "k": 3, "n": 2, "seed": 0}
        a, b = semiring.make_inputs(point, 0)
        a[0, 1] = np.nan
        workload = semiring.make("semiring_matmul", PROVIDER, point, 1)
        self.assertFalse(np.isnan(call(workload, a, b)[0]).all())
        with self.assertRaises(ProviderFailure):
            point = {"algebra": "boolean", "dtype": "bool", "n": 2, "seed": 0}
            semiring.make("semiring_matmul", PROVIDER, point, 1)

    def test_dense_matmul_and_slots(self):
        """Through the workload: the two slots hold different inputs, and poison leaves nothing."""
        point = {"dtype": "f32", "m": 5, "k": 9, "n": 4, "seed": 1}
        workload = semiring.make("dense_matmul", PROVIDER, point, 1)
        for slot in (0, 1):
            workload.load(slot, slot)
        for slot in (0, 1, 0):
            workload.poison_outputs()
            self.assertIsNone(workload.result)
            workload.call(slot)
            a, b = semiring.make_inputs(point, slot)
            expected = plain_matmul("real", a, b)
            limit = bound("real", "f32", a, b, expected)
            self.assert_close(workload.outputs()["c"], expected, limit, f"slot {slot}")
        self.assertTrue(all(workload.versions().values()))


@unittest.skipIf(PROVIDER in MATMUL_ONLY, "computes products only")
class Edges(PeerTest):
    def points(self):
        # 40 slots are beyond what compilers are given slot by slot.
        shapes = [(301, 7, 19), (17, 40, 3)] + ([] if COMPILES_FOR_LONG else [(1, 1, 1), (5, 1, 2)])
        for reduce, dtype, degrees, (n, k, d) in itertools.product(
            ("sum", "max"), ("f32", "f64"), ("full", "power_law"), shapes
        ):
            yield {
                "reduce": reduce, "dtype": dtype, "degrees": degrees, "n": n, "k": k, "d": d, "seed": 1,
            }  # fmt: skip

    def check(self, workload, point, v, idx, x, w):
        out = call(workload, *workload.peer.take_edges(point, v, idx, x, w))
        self.assertEqual(out.dtype, semiring.DTYPES[point["dtype"]], point)
        y = x.astype(np.float64) @ w.T.astype(np.float64)
        terms = y[idx] * v.astype(np.float64)[:, :, None]
        terms[idx < 0] = edges.ZERO_OF_REDUCE[point["reduce"]]
        with np.errstate(invalid="ignore"):
            expected = terms.sum(axis=1) if point["reduce"] == "sum" else terms.max(axis=1)
            # A weighted W x errs by d + 2 roundings of |W||x|, and their sum by k more of each.
            sizes = (np.abs(x) @ np.abs(w).T)[idx] * v[:, :, None]
            sizes[idx < 0] = 0
            u = UNIT_ROUNDOFF[point["dtype"]] * (2 if point["dtype"] == "f64" else 1)
            limit = (point["d"] + point["k"] + 2) * u * sizes.sum(axis=1)
        self.assert_close(out, expected, limit, f"{PROVIDER} {point}")

    def test_every_reduction_dtype_and_degree(self):
        for point in self.points():
            workload = edges.make("ell_edge_aggregate", PROVIDER, point, 1)
            self.check(workload, point, *edges.make_inputs(point, JUDGED_SET))

    def test_vertices_without_neighbours_and_nan(self):
        """An empty row is the zero of ⊕, and NaN reaches neighbours, but never an absent slot."""
        for point in self.points():
            if point["degrees"] == "full" or point["n"] < 17:
                continue
            v, idx, x, w = edges.make_inputs(point, JUDGED_SET)
            idx[4] = -1
            idx[9, 1:] = -1
            x[-1] = np.nan  # what index -1 would read
            x[0, 1] = np.nan  # what index 0 would
            v[idx < 0] = np.nan
            workload = edges.make("ell_edge_aggregate", PROVIDER, point, 1)
            self.check(workload, point, v, idx, x, w)


if __name__ == "__main__":
    # What frameworks compile goes here; removed by the caller, as KeOps writes until the very end.
    os.environ["TMPDIR"] = tempfile.tempdir = sys.argv.pop(1)
    unittest.main(verbosity=2)
