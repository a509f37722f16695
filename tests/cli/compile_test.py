# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay compile as a user types it."""

import json
import os
import struct
import zipfile

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


def tensor(name):
    return {"as_tensor": {"name": name}}


def call(target, result, **arguments):
    return {"target": f"torch.ops.{target}", "name": result, "outputs": [tensor(result)],
            "inputs": [{"name": name, "arg": value, "kind": 1} for name, value in arguments.items()]}


def meta(*sizes):
    """f32, and "s" is a symbol."""
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * sizes[i]
    of = {"as_expr": {"expr_str": "Symbol('s', positive=True, integer=True)"}}
    return {"dtype": 7, "sizes": [of if size == "s" else {"as_int": size} for size in sizes],
            "strides": [{"as_int": stride} for stride in strides], "storage_offset": {"as_int": 0}}


def archive(path, nodes, compression=zipfile.ZIP_STORED):
    """As torch.export.save writes it: x [s, 3] and the buffer w [3]; the last node is the result."""
    program = {
        "graph_module": {
            "graph": {"nodes": nodes, "tensor_values": {"x": meta("s", 3), "b_w": meta(3)}, "sym_int_values": {}},
            "signature": {
                "input_specs": [{"buffer": {"arg": {"name": "b_w"}, "buffer_name": "w"}},
                                {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor(nodes[-1]["name"])}}]},
            "module_call_graph": []},
        "range_constraints": {"s": {"min_val": 2, "max_val": None}},
        "schema_version": {"major": 8, "minor": 20}}
    config = {"config": {"w": {"path_name": "weight_0", "use_pickle": False, "tensor_meta": meta(3)}}}
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("m/archive_format", "pt2")
        file.writestr("m/models/model.json", json.dumps(program))
        file.writestr("m/data/weights/model_weights_config.json", json.dumps(config))
        file.writestr("m/data/weights/weight_0", np.array([1, 10, 100], np.float32).tobytes())
    return path


def unary(shape, view=None):
    """The root of x, or of a view of it."""
    return {"nodes": [{"op": "input", "dtype": "f32", "name": "x", "shape": shape},
                      {"op": "sqrt", "dtype": "f32", "shape": (view or {}).get("shape", shape),
                       "operands": [{"node": 0, **(view or {})}]}],
            "outputs": [{"name": "y", "node": 1}]}


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

    def written(self, name, graph):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(graph, file)
        return path

    def softmax(self):
        return self.written("softmax.json", SOFTMAX)

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

    def test_archives_of_torch(self):
        nodes = [call("aten.mul_.Tensor", "mul_", self=tensor("b_w"), other={"as_int": 2}),
                 call("aten.add.Tensor", "add", self=tensor("x"), other=tensor("b_w"), alpha={"as_float": 0.5})]
        path = archive(self.path("any name"), nodes)
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        write_safetensors(self.path("x.safetensors"), {"x": x})
        run = ("--run", "--inputs", self.path("x.safetensors"), "--out", self.path("y.safetensors"))
        self.ok(path, *run)  # the symbol is 4, as the input's rows
        out = read_safetensors(self.path("y.safetensors"))
        w = np.array([2, 20, 200], np.float32)
        np.testing.assert_array_equal(out["output"], x + w / 2)
        np.testing.assert_array_equal(out["w"], w)
        # What was written is given back with the next inputs.
        write_safetensors(self.path("x.safetensors"), {"x": x, "w": out["w"]})
        self.ok(path, *run)
        np.testing.assert_array_equal(read_safetensors(self.path("y.safetensors"))["w"], 2 * w)
        self.ok(path, "--verify", "--symbols", "s=3")

    def test_archives_are_refused_by_name(self):
        path = self.path("m.pt2")
        self.refused(archive(path, [call("aten.lgamma.default", "a", self=tensor("x")),
                                    call("aten.lgamma.default", "b", self=tensor("a")),
                                    call("aten.rand_like.default", "c", self=tensor("b"))]),
                     says=f"{path}: operators that are not covered: aten.lgamma.default (2 times), "
                          "aten.rand_like.default (1 time; random)")
        add = call("aten.add.Tensor", "add", self=tensor("x"), other=tensor("b_w"))
        self.refused(archive(path, [add], zipfile.ZIP_DEFLATED), says=f"{path}: entry 'm/")
        self.refused(archive(path, [call("aten.add.Tensor", "add", self=tensor("x"))]),
                     says="'add' (aten.add.Tensor): argument 'other'")
        with open(archive(path, [add]), "r+b") as file:
            file.truncate(300)
        self.refused(path, says=f"{path}: not a whole zip archive")
        self.refused(says="a graph to compile is missing")

    def test_operators_of_archives(self):
        told = json.loads(self.ok("--operators", "--json"))
        names = [each["name"] for each in told]
        self.assertEqual(names, sorted(set(names)))
        for name in ("aten.index_put.default", "aten.histc.default", "aten._grouped_mm.default", "aten.gelu.default"):
            self.assertIn(name, names)
        self.assertEqual(len(self.ok("--operators").splitlines()), len(names))

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
        low, high = first["search"]["speedup_between"]
        self.assertLessEqual(low, first["search"]["speedup"])
        self.assertLessEqual(first["search"]["speedup"], high)

    def test_search_says_what_was_held_to_a_bound(self):
        verified = json.loads(self.ok(BLOCK, "--search", "2", "--symbols", "s=4", "--json"))["verified"]
        for none in ("unheld", "unseen"):
            self.assertEqual(verified.pop(none), [])
        for look in verified.values():
            self.assertGreater(look["bounded"], 0)
        self.assertIn("not verified now: an earlier search has", self.ok(BLOCK, "--search", "2", "--symbols", "s=4"))
        self.assertIn("verified, elements held to a bound",
                      self.ok(BLOCK, "--search", "2", "--symbols", "s=4", "--verify"))
        self.assertNotIn("verified", self.ok(BLOCK, "--symbols", "s=4"))

    def test_a_search_that_tries_nothing_verifies_the_default_program(self):
        path = self.written("one.json", unary([4]))
        for way in (["--search", "100"], ["--search", "1", "--seconds", "0", "--seed", "1", "--threads", "1"]):
            self.assertIn("verified, elements held to a bound", self.ok(path, *way))
            self.assertIn("not verified now: an earlier search has", self.ok(path, *way))
        # A view that leaves what it reads from 17 on.
        graph = unary([16], {"shape": ["s"], "strides": [1], "offset": 0})
        path = self.written("outside.json", dict(graph, symbols={"s": [1, 64]}))
        self.refused(path, "--search", "3", "--symbols", "s=10", says="a view reads outside of its 16 elements")

    def test_journals_that_were_changed_or_cannot_be_written(self):
        search = (BLOCK, "--search", "3", "--symbols", "s=4", "--json")
        first = json.loads(self.ok(*search))
        folder = self.path("assay/compiler")
        (name,) = os.listdir(folder)
        journal = os.path.join(folder, name)
        with open(journal, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        self.assertEqual(len(lines), 4)
        lines[2] = lines[2].replace('"number":1', '"number":7')
        with open(journal, "w", encoding="utf-8") as file:
            file.writelines(lines)
        result = self.compile(*search)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count(f"assay: warning: {journal}: line 3 was torn or changed"), 1)
        again = json.loads(result.stdout)
        self.assertEqual((again["search"]["tried"], again["search"]["from_before"]), (1, 2))
        self.assertEqual(self.compile(*search).stderr, "")
        # A folder that cannot be made: what is found is shown and run all the same.
        blocked = self.written("blocked", {})
        result = self.compile(*search[:-1], "--run", environment={"XDG_CACHE_HOME": blocked})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("nothing of this search is kept"), 1)
        self.assertIn("3 tried now", result.stdout)
        self.assertEqual(first["search"]["tried"], 3)

    def test_nothing_held_to_a_bound_is_not_fine(self):
        # Sums of the same numbers in another order: which is less, rounding decides. Of 2^x, which no x makes exact.
        rows = {"shape": [4, 8], "strides": [8, -1], "offset": 7}
        graph = {"nodes": [{"op": "input", "dtype": "f32", "name": "x", "shape": [4, 8]},
                           {"op": "exp2", "dtype": "f32", "shape": [4, 8], "operands": [{"node": 0}]},
                           {"op": "sum", "dtype": "f32", "shape": [4], "operands": [{"node": 1}]},
                           {"op": "sum", "dtype": "f32", "shape": [4], "operands": [{"node": 1, **rows}]},
                           {"op": "less", "dtype": "bool", "shape": [4], "operands": [{"node": 2}, {"node": 3}]}],
                 "outputs": [{"name": "y", "node": 4}]}
        self.refused(self.written("open.json", graph), "--verify", says="not known: y", status=3)
        # Each output is judged by itself: what is known of another one says nothing of it.
        graph["outputs"] = [{"name": "sum", "node": 2}, {"name": "y", "node": 4}, {"name": "again", "node": 3}]
        self.refused(self.written("mixed.json", graph), "--verify", says="not known: y\n", status=3)
        told = json.loads(self.compile(self.written("mixed.json", graph), "--verify", "--json").stdout)
        self.assertEqual(told["verified"]["unheld"], ["y"])

    def test_what_is_empty_is_computed(self):
        # Views that would reach outside if they read anything; a sum of nothing is 0.
        nowhere = {"shape": [3, 2, 0], "strides": [100, 7, 0], "offset": 50}
        graph = {"nodes": [{"op": "input", "dtype": "f32", "name": "x", "shape": [4]},
                           {"op": "mul", "dtype": "f32", "shape": [3, 2, 0],
                            "operands": [{"node": 0, **nowhere}, {"node": 0, **nowhere}]},
                           {"op": "sum", "dtype": "f32", "shape": [3, 2], "operands": [{"node": 1}]}],
                 "outputs": [{"name": "none", "node": 1}, {"name": "zeros", "node": 2}]}
        self.ok(self.written("empty.json", graph), "--verify", "--run", "--out", self.path("y.safetensors"))
        out = read_safetensors(self.path("y.safetensors"))
        self.assertEqual(out["none"].shape, (3, 2, 0))
        np.testing.assert_array_equal(out["zeros"], np.zeros((3, 2), np.float32))

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
        self.refused(self.softmax(), "--symbols", "s=99999999999999999999", says="from 1 to 64, got 99999999999999999999")
        self.refused(self.softmax(), "--symbols", "s=-99999999999999999999", says="got -99999999999999999999")
        self.refused(self.softmax(), "--symbols", "s", says="'s'")
        write_safetensors(self.path("more.safetensors"),
                          {name: np.zeros((5, 8), np.float32) for name in ("x", "mask", "z\n")})
        self.refused(self.softmax(), "--run", "--inputs", self.path("more.safetensors"),
                     says="more.safetensors: the graph has no input 'mask', 'z\\n'; its inputs are x")
        self.refused(self.softmax(), "--runtime", "gpu", says="'gpu'")
        self.refused(self.softmax(), says="magic", environment={"ASSAY_COMPILER_DISABLE": "magic"})
        self.refused(self.written("broken.json", dict(SOFTMAX, outputs=[])), says="without outputs")
        huge = {"nodes": [{"op": "input", "dtype": "f32", "name": "x", "shape": [1 << 46]},
                          {"op": "sqrt", "dtype": "f32", "shape": [1 << 46], "operands": [{"node": 0}]}],
                "outputs": [{"name": "y", "node": 1}]}
        self.refused(self.written("huge.json", huge), "--run", says="node 0 (input x f32 [70368744177664])", status=5)

    def test_what_is_wrong_with_a_graph_names_the_file_and_the_node(self):
        def refused(says, graph=None, **parts):
            path = self.written("wrong.json", dict(SOFTMAX if graph is None else graph, **parts))
            self.refused(path, "--run", says=f"{path}: {says}")

        refused("symbol 's' from -1 to 5", symbols={"s": [-1, 5]})
        refused("symbol 's' from 5 to 1", symbols={"s": [5, 1]})
        refused("'s': beyond 64 bits: 9223372036854775808", symbols={"s": [1, 1 << 63]})
        refused("output 0: 'node': beyond 64 bits: 18446744073709551615",
                outputs=[{"name": "y", "node": (1 << 64) - 1}])
        refused("output 0: no node 11", outputs=[{"name": "y", "node": 11}])
        refused("output 1: two outputs of one name: 'y'", outputs=2 * SOFTMAX["outputs"])
        refused("output 0: output 'y' replaces no input: 'q'", outputs=[{"name": "y", "node": 1, "replaces": "q"}])

        refused("node 0: a dimension beyond 64 bits", unary([1 << 40, 1 << 40]))
        refused("node 0: 'shape': beyond 64 bits: 9223372036854775808", unary([1 << 63]))
        refused("node 0: an unknown symbol: 's'", unary(["s"]))
        refused("node 1, operand 0: a view reads outside of its 4 elements",
                unary([4], {"shape": [5], "strides": [1], "offset": 0}))
        refused("node 1, operand 0: 'strides': beyond 64 bits: 18446744073709551615",
                unary([4], {"shape": [4], "strides": [(1 << 64) - 1], "offset": 3}))
        refused("node 1, operand 0: 'strides' without a 'shape'", unary([4], {"strides": [-1], "offset": 3}))
        refused("node 0: 'shape': at most 64 axes, got 70000", unary(70000 * [1]))
        names = "abcdef"
        refused("node 0: 'shape': a dimension of more than 4096 characters", unary(["*".join(16 * ["(" + "+".join(names) + ")"])]),
                symbols={name: [1, 2] for name in names})
        refused("node 0 (input x f32 [s*s]): a dimension beyond 64 bits", unary(["s*s"]),
                symbols={"s": [1 << 33, 1 << 34]})

    def test_a_least_value_beyond_memory_is_refused(self):
        graph = {"symbols": {"s": [10**12, 10**13]},
                 "nodes": [{"op": "input", "dtype": "f32", "name": "x", "shape": ["s"]},
                           {"op": "sqrt", "dtype": "f32", "shape": ["s"], "operands": [{"node": 0}]}],
                 "outputs": [{"name": "y", "node": 1}]}
        path = self.written("long.json", graph)
        self.ok(path)  # to look at what it becomes takes no memory
        for way in (["--run"], ["--verify"], ["--explain"], ["--search", "1"], ["--trace", self.path("t.json")]):
            self.refused(path, *way, says=f"{path}: with s = 1000000000000 (its least) 8000000000000 bytes are needed",
                         status=5)

    def test_an_empty_path_is_not_an_option_that_is_missing(self):
        for option in ("--dot", "--trace"):
            self.refused(self.softmax(), option, "", says=f"{option}: nothing was given")
        for option in ("--inputs", "--out"):
            self.refused(self.softmax(), "--run", option, "", says=f"{option}: nothing was given")
        for command in (["run", "--trace", ""], ["compare", "a", "b", "--out", ""], ["gate", "--junit", ""],
                        ["chip", "run", "--op-log", ""], ["llm", "explain", "--dot", ""],
                        ["time", "true", "--export-json", ""], ["report", "--out", ""]):
            result = self.assay(*command)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"{command[-2]}: nothing was given", result.stderr)


if __name__ == "__main__":
    main()
