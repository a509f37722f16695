# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay compile as a user types it."""

import json
import os
import struct

import numpy as np

from assay_cli import CliTest, main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = os.path.join(ROOT, "examples", "block.json")

# y = softmax of the rows of x.
SOFTMAX = {
    "symbols": {"s": [1, 64]},
    "nodes": [
        {"op": "input", "dtype": "f32", "name": "x", "shape": ["s", 8]},
        {"op": "max_reduce", "dtype": "f32", "shape": ["s"], "operands": [{"node": 0}]},
        {"op": "const", "dtype": "f32", "shape": [], "bits": "0xbf800000"},
        {"op": "mul", "dtype": "f32", "shape": ["s", 1],
         "operands": [{"node": 1, "shape": ["s", 1], "strides": [1, 0], "offset": 0},
                      {"node": 2, "shape": ["s", 1], "strides": [0, 0], "offset": 0}]},
        {"op": "add", "dtype": "f32", "shape": ["s", 8],
         "operands": [{"node": 0}, {"node": 3, "shape": ["s", 8], "strides": [1, 0], "offset": 0}]},
        {"op": "const", "dtype": "f32", "shape": [], "bits": "0x3fb8aa3b"},
        {"op": "mul", "dtype": "f32", "shape": ["s", 8],
         "operands": [{"node": 4}, {"node": 5, "shape": ["s", 8], "strides": [0, 0], "offset": 0}]},
        {"op": "exp2", "dtype": "f32", "shape": ["s", 8], "operands": [{"node": 6}]},
        {"op": "sum", "dtype": "f32", "shape": ["s"], "operands": [{"node": 7}]},
        {"op": "recip", "dtype": "f32", "shape": ["s", 1],
         "operands": [{"node": 8, "shape": ["s", 1], "strides": [1, 0], "offset": 0}]},
        {"op": "mul", "dtype": "f32", "shape": ["s", 8],
         "operands": [{"node": 7}, {"node": 9, "shape": ["s", 8], "strides": [1, 0], "offset": 0}]},
    ],
    "outputs": [{"name": "y", "node": 10}],
}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


class Compile(CliTest):
    def compile(self, *arguments, environment=None):
        return self.assay("compile", *arguments,
                          environment={"XDG_CACHE_HOME": self.folder, **(environment or {})})

    def ok(self, *arguments, **options):
        result = self.compile(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, *arguments, says, status=2, **options):
        result = self.compile(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says, result.stderr)

    def softmax(self):
        path = self.path("softmax.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(SOFTMAX, file)
        return path

    def test_softmax_is_one_kernel_and_right(self):
        x = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
        write_safetensors(self.path("x.safetensors"), {"x": x})
        text = self.ok(self.softmax(), "--symbols", "s=5", "--run", "--inputs", self.path("x.safetensors"),
                       "--out", self.path("y.safetensors"), "--verify", "--json")
        told = json.loads(text)
        self.assertEqual([k["rules"] for k in told["kernels"]], [["softmax"]])
        e = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(read_safetensors(self.path("y.safetensors"))["y"], e / e.sum(1, keepdims=True),
                                   rtol=1e-5)

    def test_block_explained(self):
        told = json.loads(self.ok(BLOCK, "--explain", "--symbols", "s=4", "--json"))
        rules = {rule for kernel in told["kernels"] for rule in kernel["rules"]}
        self.assertLessEqual({"matmul", "attention", "rms-norm", "rotary", "silu-gate"}, rules)
        for kernel in told["kernels"]:
            self.assertGreater(kernel["bytes"], 0)
            self.assertGreater(kernel["predicted_s"], 0)
            self.assertGreater(kernel["measured_s"], 0)
        plain = json.loads(self.ok(BLOCK, "--json", environment={"ASSAY_COMPILER_DISABLE": "attention,fusion"}))
        self.assertGreater(plain["steps"], told["steps"])

    def test_search_is_kept(self):
        first = json.loads(self.ok(BLOCK, "--search", "4", "--symbols", "s=4", "--json"))
        self.assertEqual(first["search"]["tried"], 4)
        again = json.loads(self.ok(BLOCK, "--search", "4", "--symbols", "s=4", "--json"))
        self.assertEqual(again["search"]["tried"], 0)
        self.assertEqual(again["program"], first["program"])

    def test_drawing_trace_and_sequence(self):
        self.ok(self.softmax(), "--dot", self.path("p.dot"), "--trace", self.path("p.json"))
        with open(self.path("p.dot"), encoding="utf-8") as file:
            self.assertIn("digraph", file.read())
        with open(self.path("p.json"), encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["traceEvents"]), 1)
        result = self.compile(self.softmax(), "--run", environment={"ASSAY_COMPILER_SEQUENTIAL": "1"})
        self.assertIn("step 0: region", result.stderr)

    def test_what_is_wrong_is_said_in_one_line(self):
        self.refused(self.path("none.json"), says="none.json")
        self.refused(self.softmax(), "--symbols", "q=3", says="'q'")
        self.refused(self.softmax(), "--symbols", "s=65", says="65")
        self.refused(self.softmax(), "--symbols", "s", says="'s'")
        self.refused(self.softmax(), "--runtime", "gpu", says="'gpu'")
        self.refused(self.softmax(), says="magic", environment={"ASSAY_COMPILER_DISABLE": "magic"})
        broken = dict(SOFTMAX, outputs=[])
        with open(self.path("broken.json"), "w", encoding="utf-8") as file:
            json.dump(broken, file)
        self.refused(self.path("broken.json"), says="without outputs")


if __name__ == "__main__":
    main()
