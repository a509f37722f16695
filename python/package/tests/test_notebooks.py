# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks: every cell runs, in order, and prints what stands in the file."""

import contextlib
import io

import pytest
from arrays import needs
from examples import NOTEBOOKS, SOURCE, cells

NEEDS = {"crf": "torch", "language_model": "torch", "stellarator_surface": "matplotlib"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[needs(NEEDS[name])] if name in NEEDS else [])
                                  for name in NOTEBOOKS])
def test_notebook(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    space = {}
    for code, printed in cells(name):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, name, "exec"), space)
        # Plans say how many threads and which times they have here.
        if "predicted" not in printed:
            assert out.getvalue() == printed


def test_no_notebook_is_left_out():
    assert {path.stem for path in (SOURCE / "examples/notebooks").glob("*.ipynb")} == set(NOTEBOOKS)
