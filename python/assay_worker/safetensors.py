# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Writes and reads .safetensors files, so that no package is needed for it."""

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


def read(path):
    """A dict of name → ndarray, mapped from the file; brain floats as uint16."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    dtypes = {word: "uint16" if word == "BF16" else name for name, word in _NAMES.items()}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, _ = entry["data_offsets"]
        tensors[name] = np.memmap(path, dtype=dtypes[entry["dtype"]], mode="r", offset=8 + length + begin,
                                  shape=tuple(entry["shape"]))  # fmt: skip
    return tensors
