# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs of case files are the same in C++ and Python, to the bit: every way to fill, every dtype it has."""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

program, package = sys.argv[1:3]
sys.path.insert(0, package)
from assay_worker import own_inputs  # noqa: E402

NUMPY_OF = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16, "I16": np.int16, "U32": np.uint32,
    "I32": np.int32, "U64": np.uint64, "I64": np.int64, "F16": np.float16, "F32": np.float32, "F64": np.float64,
}  # fmt: skip


def read_tensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], dtype=NUMPY_OF[info["dtype"]]).reshape(info["shape"])
    return tensors


def tensor(name, dtype, fill, shape=("rows", "columns + 1"), **more):
    stream = name if len(name) <= 7 else hashlib.sha256(name.encode()).hexdigest()[:7]
    return {"name": name, "shape": list(shape), "dtype": dtype, "stream": stream, "fill": fill, **more}


with tempfile.TemporaryDirectory() as folder:
    kept = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
    np.save(f"{folder}/kept.npy", np.asfortranarray(kept))
    inputs = []
    for dtype in ("f16", "f32", "f64"):
        inputs.append(tensor(f"u_{dtype}", dtype, "uniform", low=-4.0, high=1.5))
        inputs.append(tensor(f"n_{dtype}", dtype, "normal", mean=0.25, deviation=3.0))
    for dtype in ("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"):
        bound = {"bool": "2", "u8": "256", "i8": "128"}.get(dtype, "max(rows, 9 // 2) * 5")
        inputs.append(tensor(f"b_{dtype}", dtype, "below", below=bound))
    inputs.append(tensor("all", "u64", "below", below="4294967296"))
    inputs.append(tensor("shuffle", "i32", "permutation", shape=("rows * columns",)))
    inputs.append(tensor("ones", "f32", "constant", constant=0.1))
    inputs.append(tensor("sevens", "i8", "constant", constant=-7.0))
    inputs.append(tensor("a_name_longer_than_seven", "kind", "uniform", low=0.0, high=1.0))
    inputs.append(tensor("kept", "f32", "file", shape=("3", "4"), file=f"{folder}/kept.npy"))
    inputs.append(tensor("single", "f64", "uniform", shape=(), low=0.0, high=1.0))
    problem = {"inputs": inputs, "outputs": []}
    for point in ({"rows": 37, "columns": 129, "kind": "f64", "seed": 0}, {"rows": 1, "columns": 2, "kind": "f32", "seed": 77}):
        for input_set in (0, 2):
            arguments = [json.dumps(problem), json.dumps(point), str(input_set), f"{folder}/out"]
            subprocess.run([program, *arguments], check=True)
            ours, theirs = read_tensors(f"{folder}/out"), own_inputs.make_inputs(problem, point, input_set)
            assert sorted(ours) == sorted(theirs)
            for name, array in theirs.items():
                other = ours[name]
                same = array.dtype == other.dtype and array.shape == other.shape and array.tobytes() == other.tobytes()
                if not same:
                    sys.exit(f"differs: {name} at {point}, set {input_set}")
    big = own_inputs.make_input(tensor("z", "f64", "normal", ("n",), mean=2.0, deviation=3.0), {"n": 200_000, "seed": 1}, 0)
    assert abs(big.mean() - 2) < 0.03 and abs(big.std() - 3) < 0.03, (big.mean(), big.std())
    order = own_inputs.make_input(tensor("p", "i64", "permutation", ("n",)), {"n": 1000, "seed": 1}, 0)
    assert sorted(order) == list(range(1000)) and list(order) != list(range(1000))
print(f"equal: {len(inputs)} inputs at 2 points in 2 sets")
