# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch in .safetensors, without the package of that name."""

import json

import torch

NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.bool: "BOOL"}  # fmt: skip


def save_file(tensors, path):
    header, data = {}, b""
    for name, x in tensors.items():
        content = x.contiguous().flatten().view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def load_file(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header, data = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    dtypes = {name: dtype for dtype, name in NAMES.items()}
    return {name: torch.frombuffer(bytearray(data[slice(*entry["data_offsets"])]), dtype=dtypes[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}  # fmt: skip
