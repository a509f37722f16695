# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of einsum_pair, einsum_network and einsum_expression."""

import math

import numpy as np

from assay_worker import philox
from assay_worker.peer import start_peer, unknown
from assay_worker.workload import ProviderFailure, Workload

DTYPES = {"f32": np.float32, "f64": np.float64}

# As src/cases/einsum/contractions.cc has them (tests/inputs compares): expression, extents of labels
# in order of appearance.
PAIRS = {
    "small": ("ap,bp->ab", [48, 128, 48]),
    "half_transform_8": ("mi,mnP->inP", [32, 8, 32, 64]),
    "matmul_512": ("ij,jk->ik", [512] * 3),
    "matmul_1024": ("ij,jk->ik", [1024] * 3),
    "matmul_2048": ("ij,jk->ik", [2048] * 3),
    "batch_16x256": ("bij,bjk->bik", [16, 256, 256, 256]),
    "batch_32x1024": ("bij,bjk->bik", [32, 1024, 1024, 1024]),
    "transposed_512": ("ij,jk->ki", [512] * 3),
    "transposed_1024": ("ij,jk->ki", [1024] * 3),
    "tccg_1": ("abcd,dbea->ec", [32, 64, 48, 24, 96]),
    "tccg_2": ("abcde,efbad->cf", [16, 16, 48, 16, 32, 48]),
    "tccg_3": ("abcd,aebf->cdef", [24, 24, 32, 32, 32, 32]),
    "tccg_4": ("abc,acd->bd", [64, 128, 64, 128]),
    "tccg_5": ("abcdef,dfgb->aceg", [12, 12, 12, 12, 12, 12, 48]),
    "tccg_6": ("aibj,jick->abck", [32, 24, 32, 24, 32, 32]),
    "matvec": ("ij,j->i", [2048] * 2),
    "hadamard": ("ij,ij->ij", [2048] * 2),
    "outer": ("i,j->ij", [2048] * 2),
    "two_sums": ("abcd,bd->ac", [64] * 4),
    "batched_sum": ("edb,aedbc->bcad", [24, 64, 4, 16, 24]),
    "scaled_transpose": ("bdac,bc->cda", [50, 50, 16, 16]),
    "batched_rows": ("bda,dbca->dca", [50, 50, 64, 5]),
}


def _lattice(rows, columns):
    """A closed lattice with a letter for each pair of neighbours."""
    terms, labels = [""] * (rows * columns), iter("abcdefghijklmnopqrstuvwxyz")
    for r in range(rows):
        for c in range(columns):
            for other in ((r, c + 1),) * (c + 1 < columns) + ((r + 1, c),) * (r + 1 < rows):
                label = next(labels)
                terms[r * columns + c] += label
                terms[other[0] * columns + other[1]] += label
    return ",".join(terms) + "->"


def _mps_norm(sites, bond, physical):
    upper, lower, legs = "ABCDEFG", "HIJKLMN", "abcdefgh"
    terms = []
    for bonds in (upper, lower):
        for i in range(sites):
            terms.append(bonds[i - 1 : i] * (i > 0) + legs[i] + bonds[i : i + 1] * (i + 1 < sites))
    expression = ",".join(terms) + "->"
    order = dict.fromkeys(expression.replace(",", "").replace("->", ""))
    return expression, [physical if label in legs else bond for label in order]


NETWORKS = {
    "chain_3": ("ij,jk,kl->il", [100, 200, 5, 50]),
    "chain_4": ("ij,jk,kl,lm->im", [100, 200, 5, 50, 3]),
    "chain_6": ("ab,bc,cd,de,ef,fg->ag", [30, 35, 15, 5, 10, 20, 25]),
    "attention": ("xyf,xtf,ytpf,fr->tpr", [35, 37, 59, 51, 51, 27]),
    "transform_4": ("ea,fb,abcd,gc,hd->efgh", [50] * 8),
    "half_transform": ("mi,na,mnP->iaP", [256, 16, 256, 128, 512]),
    "peps": ("abc,bdef,fghj,cem,mhk,ljk->adgl", [5] * 12),
    "tetrahedron": ("abc,cfd,dbe,efa->", [20] * 6),
    "thc": ("iP,sP,PQ,jQ,tQ,ti,sj->", [300, 2000, 50, 2000, 300, 50]),
    "conv": ("mn,nr,fcr,nh,octh->oftm", [8, 10, 3, 100, 300, 10, 100, 75]),
    "lattice_4x4": (_lattice(4, 4), [4] * 24),
    "mps_norm_8": _mps_norm(8, 32, 2),
}


def make_operands(expression, extents, point, input_set):
    """Operand i is uniform on [-√3, √3) from the stream op<i>."""
    terms = expression.partition("->")[0].split(",")
    size = dict(zip(dict.fromkeys("".join(terms)), extents))
    width, operands = math.sqrt(3.0), []
    for i, term in enumerate(terms):
        shape = [size[label] for label in term]
        raw = philox.raw(philox.input_stream(point["seed"], f"op{i}", input_set), math.prod(shape))
        values = philox.uniform(raw.reshape(shape), -width, width)
        operands.append(values.astype(DTYPES[point["dtype"]]))
    return operands


class Contraction(Workload):
    """Keeps operands and result; subclasses say how to contract."""

    def __init__(self, expression, extents, point):
        self.expression, self.extents, self.point = expression, extents, point
        self.slots, self.c = [None, None], None

    def load(self, slot, input_set):
        self.slots[slot] = make_operands(self.expression, self.extents, self.point, input_set)

    def poison_outputs(self):
        self.c = None

    def outputs(self):
        return {"c": self.c}


class NumpyEinsum(Contraction):
    def __init__(self, expression, extents, point, optimize):
        super().__init__(expression, extents, point)
        self.optimize = optimize

    def call(self, slot):
        self.c = np.einsum(self.expression, *self.slots[slot], optimize=self.optimize)

    def versions(self):
        return {"numpy": np.__version__}


class OptEinsum(Contraction):
    def __init__(self, expression, extents, point):
        super().__init__(expression, extents, point)
        import opt_einsum

        self.module = opt_einsum
        shapes = [a.shape for a in make_operands(expression, extents, point, 0)]
        self.contract = opt_einsum.contract_expression(expression, *shapes)

    def call(self, slot):
        self.c = self.contract(*self.slots[slot])

    def versions(self):
        return {"opt_einsum": self.module.__version__, "numpy": np.__version__}


class TorchEinsum(Contraction):
    def __init__(self, expression, extents, point, cores):
        super().__init__(expression, extents, point)
        import torch

        torch.set_num_threads(cores)
        self.torch = torch

    def load(self, slot, input_set):
        super().load(slot, input_set)
        self.slots[slot] = [self.torch.from_numpy(a) for a in self.slots[slot]]

    def call(self, slot):
        self.c = self.torch.einsum(self.expression, *self.slots[slot])

    def outputs(self):
        return {"c": self.c.numpy()}

    def versions(self):
        return {"torch": self.torch.__version__}


def make_on_device(case, provider, expression, extents, point, cores, platform):
    peer = start_peer(case, provider, cores, platform)
    function = peer.contraction(expression)
    if function is None:
        raise unknown(case, provider)

    def inputs(input_set):
        return tuple(map(peer.take, make_operands(expression, extents, point, input_set)))

    return peer.workload(function, inputs, "c")


def make(case, provider, point, cores, platform="cpu"):
    if case == "einsum_expression":
        expression, extents = point["expression"], [int(e) for e in point["extents"].split("x")]
    else:
        table = PAIRS if case == "einsum_pair" else NETWORKS
        expression, extents = table[point["contraction"]]
    if platform != "cpu":
        return make_on_device(case, provider, expression, extents, point, cores, platform)
    if provider in ("numpy", "numpy-plain"):
        return NumpyEinsum(expression, extents, point, optimize=provider == "numpy")
    if provider == "opt_einsum":
        return OptEinsum(expression, extents, point)
    if provider == "torch":
        return TorchEinsum(expression, extents, point, cores)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
