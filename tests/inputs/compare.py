# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs are bit-identical in C++ and NumPy: a million raw values, and every regime of every case."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

program, package = sys.argv[1:3]
sys.path.insert(0, package)
from assay_worker import edges, philox, semiring  # noqa: E402

NUMPY_OF = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "BOOL": np.bool_}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        flat = np.frombuffer(data[begin:end], dtype=NUMPY_OF[info["dtype"]])
        tensors[name] = flat.reshape(info["shape"])
    return tensors


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check(condition, what):
    if not condition:
        sys.exit(f"differs: {what}")
    print(f"equal: {what}")


with tempfile.TemporaryDirectory() as folder:
    out = f"{folder}/out"
    for key in ([0, 0], [2**64 - 1, 12345]):
        subprocess.run([program, "raw", *map(str, key), "1000000", out], check=True)
        ours = np.load(out)
        theirs = np.random.Philox(key=np.array(key, dtype=np.uint64)).random_raw(1_000_000)
        check(len(ours) == 1_000_000 and same_bits(ours, theirs), f"10^6 raw values of key {key}")

    def compare(case, point, names, make):
        for input_set in (0, 2):
            subprocess.run([program, case, json.dumps(point), str(input_set), out], check=True)
            ours, theirs = read_safetensors(out), make(point, input_set)
            for name, array in zip(names, theirs):
                check(same_bits(ours[name], array), f"{case} {point} set {input_set}: {name}")

    compared = 0
    for algebra in ("real", "log", "max_plus", "min_plus", "euclidean", "boolean"):
        for dtype in ("f32", "f64") if algebra != "boolean" else ("bool",):
            for regime in ("unit", "spread") if algebra not in ("real", "boolean") else ("unit",):
                point = {"algebra": algebra, "dtype": dtype, "regime": regime, "m": 31, "k": 67, "n": 129, "seed": 3}
                compare("semiring_matmul", point, ("a", "b"), semiring.make_inputs)
                for inputs in ("f16", "bf16") if dtype == "f32" else ():
                    compare("semiring_matmul", {**point, "inputs": inputs}, ("a", "b"), semiring.make_inputs)
    compare("dense_matmul", {"dtype": "f32", "n": 64, "seed": 0}, ("a", "b"), semiring.make_inputs)
    for dtype in ("f32", "f64"):
        for degrees in ("full", "power_law"):
            point = {"reduce": "sum", "dtype": dtype, "n": 2003, "k": 7, "d": 5, "degrees": degrees, "seed": 9}
            compare("ell_edge_aggregate", point, ("v", "idx", "x", "w"), edges.make_inputs)
