# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: a model of Llama's or Qwen3's family made here, weights as initialisers, in f32.

The caches are input and output in one buffer; how many tokens are in them is an input.
"""

import glob
import math
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from assay_worker import safetensors
from assay_worker.graph_onnx import MICROSOFT, Model
from assay_worker.language import LanguageModel
from assay_worker.language_config import read_config, slowed_down
from assay_worker.workload import ProviderFailure


class Maker(Model):
    """A language model's nodes."""

    def __init__(self, config, weights, context):
        super().__init__("f32")
        self.config, self.weights = config, weights
        self.heads, self.kv_heads, self.width = (
            config[key] for key in ("num_attention_heads", "num_key_value_heads", "head_dim")
        )
        rope = config["rope_parameters"]
        frequencies = rope["rope_theta"] ** (-np.arange(0, self.width, 2) / self.width)
        angles = np.arange(context)[:, None] * (frequencies / slowed_down(rope, self.width))
        self.tables = [self.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]

    def normed(self, x, name):
        return self.norm(x, name, self.config["rms_norm_eps"])

    def heads_of(self, h, layer, kind):
        x = self.linear(h, f"{layer}self_attn.{kind}_proj.weight")
        norm = f"{layer}self_attn.{kind}_norm.weight"
        if norm not in self.weights:
            return x
        heads = self.heads if kind == "q" else self.kv_heads
        split = self.shaped(x, 1, -1, heads, self.width)
        return self.shaped(self.normed(split, norm), 1, -1, heads * self.width)

    def make(self):
        """Name of the logits, and of the caches of each layer afterwards."""
        x, caches = self.add("Gather", self.weight("model.embed_tokens.weight"), "tokens"), []
        for i in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{i}."
            h = self.normed(x, f"{layer}input_layernorm.weight")
            qkv = [self.heads_of(h, layer, kind) for kind in "qkv"]
            seen, k, v = self.add(
                "GroupQueryAttention", *qkv, f"k{i}", f"v{i}", "last", "total", *self.tables, outputs=3,
                domain=MICROSOFT, num_heads=self.heads, kv_num_heads=self.kv_heads, do_rotary=1,
                scale=1 / math.sqrt(self.width),
            )  # fmt: skip
            caches += [k, v]
            x = self.add("Add", x, self.linear(seen, f"{layer}self_attn.o_proj.weight"))
            f = self.normed(x, f"{layer}post_attention_layernorm.weight")
            gate = self.silu(self.linear(f, f"{layer}mlp.gate_proj.weight"))
            inner = self.add("Mul", gate, self.linear(f, f"{layer}mlp.up_proj.weight"))
            x = self.add("Add", x, self.linear(inner, f"{layer}mlp.down_proj.weight"))
        minus_one = self.constant(np.array([-1], np.int64))
        x = self.normed(self.add("Gather", x, minus_one, axis=1), "model.norm.weight")
        is_tied = self.config["tie_word_embeddings"]
        return self.linear(x, "model.embed_tokens.weight" if is_tied else "lm_head.weight"), caches


class Onnx(LanguageModel):
    def __init__(self, folder, point, cores, count):
        config = read_config(folder)
        if config["head_dim"] % 8 != 0:
            message = f"onnxruntime's attention has heads of multiples of 8, this model of {config['head_dim']}"
            raise ProviderFailure("skipped", "provider_not_applicable", message)
        self.vocabulary, self.position = config["vocab_size"], 0
        weights = {}
        for shard in glob.glob(os.path.join(glob.escape(folder), "*.safetensors")):
            weights.update(safetensors.read(shard))
        maker = Maker(config, weights, point["context"])
        logits, caches = maker.make()
        shape = (1, maker.kv_heads, point["context"], maker.width)
        pasts = [f"{kind}{i}" for i in range(config["num_hidden_layers"]) for kind in "kv"]
        inputs = [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, (1, "s")),
            helper.make_tensor_value_info("last", TensorProto.INT32, (1, 1)),
            helper.make_tensor_value_info("total", TensorProto.INT32, ()),
            *(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in pasts),
        ]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (logits, *caches)]
        graph = helper.make_graph(maker.nodes, "model", inputs, outputs, maker.constants)
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=11)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = cores, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            made.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self.binding = self.session.io_binding()
        self.binding.bind_output(logits, "cpu")
        for past, present in zip(pasts, caches):
            cache = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
            self.binding.bind_ortvalue_input(past, cache)
            self.binding.bind_ortvalue_output(present, cache)

    def read(self, tokens):
        self.position += len(tokens)
        self.binding.bind_cpu_input("tokens", tokens[None])
        self.binding.bind_cpu_input("last", np.array([[self.position - 1]], np.int32))
        self.binding.bind_cpu_input("total", np.array(self.position, np.int32))
        self.session.run_with_iobinding(self.binding)
        return self.binding.get_outputs()[0].numpy()[0, 0].copy()  # the next call writes there again

    def rewind(self, position):
        self.position = position

    def versions(self):
        return {**super().versions(), "onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__}
