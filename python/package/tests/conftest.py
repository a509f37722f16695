# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several files of tests share."""

import pytest
from measuring import BRIEF
from softmax_bench import softmax


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """A run of the benchmark, all providers, and the folder that it went to."""
    out = tmp_path_factory.mktemp("results")
    return softmax.run(out=out, quick=True, rounds=6, **BRIEF), out
