# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs of graph_fusion and graph_blocks are the same in C++ and Python, to the bit."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

program, package = sys.argv[1:3]
sys.path.insert(0, package)
from assay_worker import graph_inputs  # noqa: E402

NUMPY_OF = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read_tensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        yield name, np.frombuffer(data[begin:end], NUMPY_OF[info["dtype"]]).reshape(info["shape"])


def points():
    for dtype in ("f32", "bf16", "f16"):
        for graph in ("affine", "chain", "gate", "diamond", "chain_sum", "norm", "softmax"):
            yield "graph_fusion", {"graph": graph, "n": 2620, "width": 131, "dtype": dtype, "seed": 3}
        for block in ("norm_matmul", "mlp", "attention", "moe", "transformer"):
            cached = 13 if block in ("attention", "transformer") else 0
            size = {"block": block, "size": "tiny", "tokens": 7, "cached": cached}
            yield "graph_blocks", {**size, "dtype": dtype, "seed": 3}


with tempfile.TemporaryDirectory() as folder:
    for case, point in points():
        drawn = (graph_inputs.fusion_inputs if case == "graph_fusion" else graph_inputs.block_inputs)(point)
        for input_set in (0, 2):
            subprocess.run([program, case, json.dumps(point), str(input_set), f"{folder}/out"], check=True)
            ours = dict(read_tensors(f"{folder}/out"))
            theirs = {**drawn.arrays(input_set, True), **drawn.arrays(input_set, False)}
            if sorted(ours) != sorted(theirs):
                sys.exit(f"other names: {case} {point}: {sorted(ours)} and {sorted(theirs)}")
            for name, array in theirs.items():
                mine = ours[name]
                if mine.dtype != array.dtype or mine.shape != array.shape or mine.tobytes() != array.tobytes():
                    sys.exit(f"differs: {case} {point} set {input_set}: {name}")
        print(f"equal: {case} {point}")
