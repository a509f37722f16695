# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The GGUF file beside a model's folder: it is of what the folder holds now, and the only one."""

import concurrent.futures
import glob
import os
import shutil
import sys
import threading
import unittest
from unittest import mock

ROOT, _, FOLDER, ASSAY = sys.argv[1:5]
sys.argv[1:5] = []
sys.path.insert(0, os.path.join(ROOT, "python"))
import gguf  # noqa: E402
import numpy as np  # noqa: E402
import tiny_model  # noqa: E402
from assay_worker import language_gguf, safetensors  # noqa: E402
from assay_worker.language_gguf import gguf_file  # noqa: E402


class GgufFile(unittest.TestCase):
    def setUp(self):
        self.parent = os.path.join(FOLDER, self.id())
        self.folder = os.path.join(self.parent, "model")
        self.init("f32", 3)

    def init(self, dtype, seed):
        shutil.rmtree(self.folder, ignore_errors=True)
        tiny_model.init(ASSAY, self.folder, "llama", dtype, seed)

    def check_is_of_the_folder(self, path, dtype):
        made = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}["token_embd.weight"]
        weights = safetensors.read(os.path.join(self.folder, "model.safetensors"))["model.embed_tokens.weight"]
        self.assertEqual(made.tensor_type.name, dtype.upper())
        self.assertEqual(made.data.tobytes(), np.asarray(weights).tobytes())
        self.assertEqual(glob.glob(f"{self.folder}.*"), [path])

    def test_of_the_same_folder_is_made_once(self):
        path = gguf_file(self.folder, "f32")
        self.check_is_of_the_folder(path, "f32")
        before = os.stat(path)
        self.assertEqual(gguf_file(f"{self.folder}/", "f32"), path)
        self.assertEqual(os.stat(path), before)

    def test_of_other_weights_is_made_anew(self):
        for dtype, seed in (("f32", 3), ("f32", 4), ("bf16", 4), ("f16", 4)):
            self.init(dtype, seed)
            self.check_is_of_the_folder(gguf_file(self.folder, dtype), dtype)

    def test_of_another_config_is_made_anew(self):
        gguf_file(self.folder, "f32")
        rope = {"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0}
        tiny_model.edit_config(self.folder, lambda config: config.update(rope_parameters=rope))
        path = gguf_file(self.folder, "f32")
        self.check_is_of_the_folder(path, "f32")
        reader = gguf.GGUFReader(path)
        self.assertEqual(reader.get_field("llama.rope.scaling.type").contents(), "linear")
        self.assertEqual(reader.get_field("llama.rope.scaling.factor").contents(), 3.0)

    def test_files_of_others_stay(self):
        others = [f"{self.folder}.gguf", f"{self.folder}.Q4_K_M.gguf", f"{self.folder}-2.assay-0.gguf"]
        for other in others:
            with open(other, "w") as file:
                file.write("not ours")
        gguf_file(self.folder, "f32")
        for other in others:
            with open(other) as file:
                self.assertEqual(file.read(), "not ours")

    def test_of_another_dtype_has_another_name(self):
        names = {language_gguf.made_of(self.folder, dtype) for dtype in ("f32", "bf16", "f16")}
        self.assertEqual(len(names), 3)

    def test_makers_at_once_do_not_spoil_each_other(self):
        both, write = threading.Barrier(2, timeout=60), language_gguf.write_gguf

        def write_while_the_other_does(*arguments):
            both.wait()
            write(*arguments)
            both.wait()

        with mock.patch.object(language_gguf, "write_gguf", write_while_the_other_does):
            with concurrent.futures.ThreadPoolExecutor(2) as makers:
                paths = set(makers.map(gguf_file, [self.folder] * 2, ["f32"] * 2))
        self.assertEqual(len(paths), 1)
        self.check_is_of_the_folder(paths.pop(), "f32")

    def test_what_could_not_be_written_leaves_nothing(self):
        def write_half(folder, dtype, path):
            with open(path, "w") as file:
                file.write("GGUF")
            raise OSError("the disk is full")

        with mock.patch.object(language_gguf, "write_gguf", write_half):
            with self.assertRaisesRegex(OSError, "full"):
                gguf_file(self.folder, "f32")
        self.assertEqual(os.listdir(self.parent), ["model"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
