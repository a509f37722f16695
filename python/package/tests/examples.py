# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Where the package shows code: its page, its notebooks, its docstrings."""

import doctest
import importlib
import json
import pathlib
import re

SOURCE = pathlib.Path(__file__).parents[3]
NOTEBOOKS = ("einsum", "crf", "language_model", "stellarator_surface")


def page():
    """[(name of the file, or none; code)] of docs/python.md."""
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.DOTALL)
    names = [re.match(r"# (\w+\.py)\n", block) for block in blocks]
    return [(name[1] if name else None, block) for name, block in zip(names, blocks, strict=True)]


def cells(notebook):
    """(code, what it printed) of each cell."""
    for cell in json.loads((SOURCE / f"examples/notebooks/{notebook}.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(line for line in cell["source"] if not line.startswith("%"))
            yield code, "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def docstrings(module_name):
    """(name, code) of each docstring with examples; what it takes from the package is imported."""
    module = importlib.import_module(module_name)
    for test in doctest.DocTestFinder().find(module):
        code = "".join(example.source for example in test.examples)
        imports = "".join(f"from {value.__module__} import {name}\n" for name, value in vars(module).items()
                          if str(getattr(value, "__module__", "")).startswith("assay") and re.search(rf"\b{name}\b", code))
        if code:
            yield test.name, imports + code
