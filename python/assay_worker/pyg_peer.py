# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric: a message-passing layer, with its graph in either of the two usual forms."""

import numpy as np
import torch
import torch_geometric
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import spmm

from assay_worker.edges import ZERO_OF_REDUCE
from assay_worker.torch_peer import Torch


class WeightedLayer(MessagePassing):
    """x Wᵀ, then ⊕ over the neighbours, each by its weight.

    PyG calls message() for an edge index, and message_and_aggregate() for a sparse matrix.
    """

    def forward(self, x, w, edges, edge_weight=None):
        y = torch.nn.functional.linear(x, w)
        return self.propagate(edges, x=y, edge_weight=edge_weight, size=(len(x), len(x)))

    def message(self, x_j, edge_weight):
        return edge_weight.view(-1, 1) * x_j

    def message_and_aggregate(self, edges, x):
        return spmm(edges, x, reduce=self.aggr)


class PyG(Torch):
    """The form PyG advises for speed and memory: the transposed adjacency as a sparse CSR matrix."""

    def matmul(self, point):
        return None

    def versions(self):
        return {**super().versions(), "torch_geometric": torch_geometric.__version__}

    def take_edges(self, point, v, idx, x, w):
        n = len(idx)
        present = idx >= 0
        starts = np.concatenate([[0], np.cumsum(present.sum(1))])
        adjacency = torch.sparse_csr_tensor(
            self.take(starts), self.take(idx[present]).long(), self.take(v[present]), (n, n)
        )
        return self.take(x), self.take(w), adjacency, None, self._alone(present)

    def _alone(self, present):
        """Vertices without a neighbour, where PyG's ⊕ is 0 and the case's is its zero."""
        return self.take(np.flatnonzero(~present.any(1)))

    def edges(self, point):
        layer = WeightedLayer(aggr=point["reduce"])
        zero = ZERO_OF_REDUCE[point["reduce"]]

        def aggregate(x, w, edges, edge_weight, alone):
            out = layer(x, w, edges, edge_weight)
            if len(alone):
                out[alone] = zero
            return out

        return aggregate


class PyGEdgeIndex(PyG):
    """The form most PyG code has: a list of edges, a message for each in memory, scattered."""

    def take_edges(self, point, v, idx, x, w):
        present = idx >= 0
        edge_index = np.stack([idx[present].astype(np.int64), np.nonzero(present)[0]])
        return (
            self.take(x), self.take(w), self.take(edge_index), self.take(v[present]),
            self._alone(present),
        )  # fmt: skip
