# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Writes .safetensors files, so that no package is needed for it."""

import json
import os

import numpy as np

_NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32",
    "int32": "I32", "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16",
    "float32": "F32", "float64": "F64", "complex64": "C64", "complex128": "C128",
}  # fmt: skip


def write(path, tensors):
    """Writes a dict of name → ndarray; the file appears complete or not at all."""
    header, blobs, offset = {}, [], 0
    for name, array in tensors.items():
        array = np.asarray(array)
        blob = array.tobytes(order="C")
        header[name] = {
            "dtype": _NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for blob in blobs:
            file.write(blob)
    os.replace(temporary, path)
