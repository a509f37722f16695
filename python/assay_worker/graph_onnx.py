# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime of graph_fusion and graph_blocks: models made here, weights as initialisers.

Inputs and outputs are bound beforehand; the caches of a layer are input and output in one buffer.
"""

import math

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from assay_worker.graph_inputs import FUSION_EPSILON, NORM_EPSILON, SIZES
from assay_worker.graphs import GraphFramework

TYPES = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}
MICROSOFT = "com.microsoft"


class Model:
    """Nodes, one after the other; a tensor is its name."""

    def __init__(self, dtype):
        self.type, self.numpy = TYPES[dtype]
        self.nodes, self.constants, self.weights = [], [], {}

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, name):
        return self.constant(self.weights[name])

    def linear(self, x, *names):
        """x Wᵀ of one matrix, or of several side by side."""
        return self.add("MatMul", x, self.constant(np.concatenate([self.weights[n] for n in names]).T))

    def silu(self, x):
        return self.add("Mul", x, self.add("Sigmoid", x))

    def norm(self, x, weight, epsilon=NORM_EPSILON):
        return self.add("SimplifiedLayerNormalization", x, self.weight(weight), axis=-1, epsilon=epsilon)

    def mlp(self, x):
        return self.linear(self.add("Mul", self.silu(self.linear(x, "wg")), self.linear(x, "wu")), "wd")

    def shaped(self, x, *shape):
        return self.add("Reshape", x, self.constant(np.array(shape, np.int64)))


def fusion(model, point):
    graph = point["graph"]
    if graph in ("chain", "chain_sum"):
        y = model.add("Sqrt", model.add("Sin", model.add("Add", "a", "b")))
        if graph == "chain":
            return {"y": y}
        return {"y": model.add("ReduceSum", y, model.constant(np.array([1])), keepdims=0)}
    if graph == "affine":
        product = model.add("Add", model.add("Mul", "a", "b"), "a")
        return {"y": model.add("Sub", model.add("Relu", product), "b")}
    if graph == "gate":
        return {"y": model.add("Mul", model.silu("a"), "b")}
    if graph == "norm":
        return {"y": model.norm("a", "w", FUSION_EPSILON)}
    if graph == "softmax":
        return {"y": model.add("Softmax", "a", axis=-1)}
    t = model.add("Add", "a", "b")
    return {"y": model.add("Add", model.add("Mul", t, model.add("Sin", t)), model.add("Max", t, "a"))}


def attention(model, point, q, k, v, past, **rotary):
    """GroupQueryAttention: new keys and values behind those of the caches, in place."""
    s, tokens = SIZES[point["size"]], point["tokens"]
    keys = point["cached"] + tokens
    last, total = model.constant(np.array([[keys - 1]], np.int32)), model.constant(np.array(keys, np.int32))
    packed = [model.shaped(x, 1, tokens, -1) for x in (q, k, v)]
    tables = [rotary[name] for name in ("cos", "sin") if name in rotary]
    y, new_k, new_v = model.add(
        "GroupQueryAttention", *packed, *past, last, total, *tables, outputs=3, domain=MICROSOFT,
        num_heads=s["heads"], kv_num_heads=s["kv_heads"], do_rotary=int(bool(rotary)),
        scale=1 / math.sqrt(s["width"]),
    )  # fmt: skip
    return model.shaped(y, tokens, -1), new_k, new_v


def attention_alone(model, point):
    """Attention over keys that are there already: the operator of the standard."""
    tokens, cached = point["tokens"], point["cached"]
    inputs = [model.add("Unsqueeze", x, model.constant(np.array([0]))) for x in ("q", "k", "v")]
    if tokens > 1:
        seen = np.tril(np.ones((tokens, cached + tokens), bool), cached)
        inputs.append(model.constant(seen))
    y = model.add("Attention", *inputs, scale=1 / math.sqrt(SIZES[point["size"]]["width"]))
    return {"y": model.add("Squeeze", y, model.constant(np.array([0])))}


def experts(model, point):
    """The operator for mixtures of experts; gate and value interleaved, as it wants them."""
    wg, wu, wd = (model.weights[name].transpose(0, 2, 1) for name in ("wg", "wu", "wd"))
    both = np.stack((wg, wu), 2).reshape(wg.shape[0], -1, wg.shape[2])
    y = model.add(
        "MoE", "x", model.linear("x", "wr"), model.constant(both), "", model.constant(wd), domain=MICROSOFT,
        k=SIZES[point["size"]]["top"], normalize_routing_weights=1, activation_type="swiglu", swiglu_fusion=1,
        activation_alpha=1.0, activation_beta=0.0,
    )  # fmt: skip
    return {"y": y}


def layer(model, point):
    h = model.norm("x", "g1")
    # Its tables begin at position 0.
    def table(name):
        rows = model.weights[name]
        return model.constant(np.concatenate((np.zeros((point["cached"], rows.shape[1]), rows.dtype), rows)))

    seen, k, v = attention(
        model, point, *(model.linear(h, name) for name in ("wq", "wk", "wv")), ("past_k", "past_v"),
        cos=table("cos"), sin=table("sin"),
    )  # fmt: skip
    x = model.add("Add", "x", model.linear(seen, "wo"))
    return {"y": model.add("Add", x, model.mlp(model.norm(x, "g2"))), "k": k, "v": v}


BLOCKS = {
    "norm_matmul": lambda model, point: {"y": model.linear(model.norm("x", "g1"), "w")},
    "mlp": lambda model, point: {"y": model.mlp("x")},
    "attention": attention_alone,
    "moe": experts,
    "transformer": layer,
}
CACHES = {"kcache": ("past_k", "k"), "vcache": ("past_v", "v")}


class OnnxGraph(GraphFramework):
    def __init__(self, case, point, cores):
        self.case, self.point, self.session = case, point, None
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads, self.options.inter_op_num_threads = cores, 1
        self.options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.options.log_severity_level = 3

    def set_weights(self, weights):
        self.weights = weights

    def make_session(self, arrays):
        model = Model(self.point["dtype"])
        model.weights = self.weights
        make = fusion if self.case == "graph_fusion" else BLOCKS[self.point["block"]]
        outputs = make(model, self.point)
        inputs = []
        for name, array in arrays.items():
            shape = (1, *array.shape) if name in CACHES else array.shape
            inputs.append(helper.make_tensor_value_info(CACHES.get(name, (name,))[0], model.type, shape))
        results = [helper.make_tensor_value_info(name, model.type, None) for name in outputs.values()]
        graph = helper.make_graph(model.nodes, "graph", inputs, results, model.constants)
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=11)
        self.weights = None
        self.names = outputs
        self.session = onnxruntime.InferenceSession(
            made.SerializeToString(), self.options, providers=["CPUExecutionProvider"]
        )

    def take(self, arrays):
        if self.session is None:
            self.make_session(arrays)
        binding, values = self.session.io_binding(), {}
        binding.bind_output(self.names["y"], "cpu")
        for name, array in arrays.items():
            if name not in CACHES:
                binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
                continue
            past, present = CACHES[name]
            cache = onnxruntime.OrtValue.ortvalue_from_numpy(array[None])
            binding.bind_ortvalue_input(past, cache)
            binding.bind_ortvalue_output(self.names[present], cache)
            values[present] = cache
        return {"binding": binding, "values": values}

    def call(self, inputs):
        self.session.run_with_iobinding(inputs["binding"])
        return inputs

    def outputs(self, results):
        y = results["binding"].get_outputs()[0].numpy()
        return {"y": y, **{name: value.numpy()[0] for name, value in results["values"].items()}}

    def versions(self):
        return {**super().versions(), "onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__}
