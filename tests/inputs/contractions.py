# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The contractions of the einsum suite are the same in C++ and Python: tables, and operands to the bit."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

program, package = sys.argv[1:3]
sys.path.insert(0, package)
from assay_worker import einsum  # noqa: E402


def check(condition, what):
    if not condition:
        sys.exit(f"differs: {what}")
    print(f"equal: {what}")


def read_tensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    for name, info in sorted(header.items()):
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        dtype = {"F32": np.float32, "F64": np.float64}[info["dtype"]]
        yield name, np.frombuffer(data[begin:end], dtype=dtype).reshape(info["shape"])


ours = json.loads(subprocess.run([program], check=True, capture_output=True).stdout)
for case, table in (("einsum_pair", einsum.PAIRS), ("einsum_network", einsum.NETWORKS)):
    theirs = {name: [expression, extents] for name, (expression, extents) in table.items()}
    check(sorted(ours[case]) == sorted(theirs), f"names of {case}")
    for name, row in theirs.items():
        check(ours[case][name] == row, f"{case} {name}: {row[0]}")

with tempfile.TemporaryDirectory() as folder:
    for case, name in (("einsum_pair", "half_transform_8"), ("einsum_network", "chain_4"), ("einsum_network", "peps")):
        for dtype in ("f32", "f64"):
            point = {"contraction": name, "dtype": dtype, "seed": 5}
            subprocess.run([program, case, json.dumps(point), "2", f"{folder}/out"], check=True)
            expression, extents = (einsum.PAIRS if case == "einsum_pair" else einsum.NETWORKS)[name]
            made = einsum.make_operands(expression, extents, point, 2)
            for (label, array), other in zip(read_tensors(f"{folder}/out"), made, strict=True):
                same = array.dtype == other.dtype and array.shape == other.shape and array.tobytes() == other.tobytes()
                check(same, f"{case} {point}: {label}")
