# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric on a GPU, with its graph in either of the two usual forms."""

from assay_worker.pyg_peer import PyG, PyGEdgeIndex
from assay_worker.torch_cuda_peer import OnCuda


class PyGCuda(OnCuda, PyG):
    """Sums alone: torch.sparse.mm has no maximum on a GPU, and the case does not ask for it."""


class PyGEdgeIndexCuda(OnCuda, PyGEdgeIndex):
    pass
