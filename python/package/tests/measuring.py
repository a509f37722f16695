# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of measurements share."""

import os
import pathlib
import shutil

import assay
import pytest

HERE = pathlib.Path(__file__).parent
# However busy this machine is: what is tested is no time.
BRIEF = {"steady": "20ms", "tries": 1, "max_foreign": "100%", "max_steal": "100%"}
needs_program = pytest.mark.skipif(shutil.which(os.environ.get("ASSAY_PROGRAM", "assay")) is None,
                                   reason="no program assay: ASSAY_PROGRAM, or `make install`")


def described(function, **keys):
    """A benchmark of a function."""
    case = {"parameters": {"n": [4], "dtype": ["f32"]}, "inputs": {"x": {"shape": ["n"], "dtype": "dtype"}}, "outputs": {"y": ["n"]},
            "oracle": "none", **keys}
    return assay.bench(**case)(function)
