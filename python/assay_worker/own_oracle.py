# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The right answer of a case file by a function in Python: f64 in, f64 out; of integers i64.

python -m assay_worker.own_oracle SPEC reads what src/cases/own/oracle_process.cc wrote, and writes the rows that
it asks for. Whatever goes wrong is the last line of standard error.
"""

import json
import sys

import numpy as np

from assay_worker import safetensors
from assay_worker.own import alone, load_function, named_outputs
from assay_worker.own_inputs import make_inputs, shape_at


def widest(array):
    """Floating-point values as f64; integers, which may be indices, as i64, where nothing wraps around."""
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64)
    return array


def answer(spec):
    definition, point = spec["definition"], spec["point"]
    inputs = {name: widest(array) for name, array in make_inputs(definition, point, spec["set"]).items()}
    result = alone(load_function(spec["function"]), inputs, point)
    arrays = named_outputs(result, definition["outputs"])
    chosen = {}
    for output in definition["outputs"]:
        name = output["name"]
        array, shape = arrays[name], shape_at(output, point)
        if array.shape != shape:
            raise ValueError(f"output {name!r} has shape {list(array.shape)}, expected {list(shape)}")
        if array.dtype.kind == "f" and array.dtype != np.float64:
            raise ValueError(f"output {name!r} is {array.dtype}, expected float64: the oracle computes in f64")
        rows = array[np.array(spec["rows"][name])] if array.ndim else array.reshape(1)
        chosen[name] = widest(rows) if rows.dtype.kind in "iu" else rows.astype(np.float64)
    return chosen


def main(argv):
    with open(argv[1]) as file:
        spec = json.load(file)
    function = spec["function"]
    try:
        safetensors.write(spec["out"], answer(spec))
    except Exception as error:
        text = " ".join(str(error).split())[:500]
        print(f"{function['file']}:{function['name']}: {type(error).__name__}: {text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
