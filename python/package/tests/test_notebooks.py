# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks: every cell runs, in order, and prints what stands in the file."""

import contextlib
import io
import json
import pathlib

import pytest
from arrays import needs

FOLDER = pathlib.Path(__file__).parents[3] / "examples/notebooks"
NAMES = ("einsum", "crf", "language_model", "stellarator_surface")
NEEDS = {"crf": "torch", "language_model": "torch", "stellarator_surface": "matplotlib"}


def cells(name):
    for cell in json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(line for line in cell["source"] if not line.startswith("%"))
            yield code, "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[needs(NEEDS[name])] if name in NEEDS else [])
                                  for name in NAMES])
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
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)
