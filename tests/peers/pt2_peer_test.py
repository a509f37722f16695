# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Archives of torch.export, run by `assay compile`, against the modules themselves: as exported, and
with torch's own decompositions."""

import copy
import io
import json
import os
import random
import subprocess
import sys
import unittest
import warnings
import zipfile
import zlib

ROOT, PROVIDER, FOLDER, ASSAY, MUTATIONS = sys.argv[1:6]
sys.argv[1:6] = []
sys.path.insert(0, os.path.join(ROOT, "tests/peers"))
import torch  # noqa: E402
from pt2_modules import CASES, Of  # noqa: E402
from tensor_files import load_file, save_file  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

warnings.filterwarnings("ignore")
DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
UNIT_ROUNDOFF = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
# Every seed gives other numbers; this one's are those that were looked at.
SEED = 5


def made(make, dtype):
    torch.manual_seed(SEED)
    module, arguments = make()
    return module.to(dtype), converted(arguments, dtype)


def converted(tree, dtype):
    """Numbers of f32 in another dtype; others stay what they are."""
    return pytree.tree_map(lambda x: x.to(dtype) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 else x, tree)


def named_leaves(tree, name="output"):
    """As the archive's tree of results names them; None is none."""
    if isinstance(tree, dict):
        return [leaf for key, each in tree.items() for leaf in named_leaves(each, f"{name}.{key}")]
    if isinstance(tree, (tuple, list)):
        return [leaf for i, each in enumerate(tree) for leaf in named_leaves(each, f"{name}.{i}")]
    return [] if tree is None else [(name, torch.as_tensor(tree))]


def assay(*arguments):
    environment = {**os.environ, "XDG_CACHE_HOME": FOLDER}
    return subprocess.run([ASSAY, "compile", *arguments], capture_output=True, text=True, timeout=300, env=environment)


def input_tensors(program, arguments):
    """Tensors that forward() takes, by the names that export gave them."""
    given = [x for x in pytree.tree_leaves(arguments) if isinstance(x, torch.Tensor)]
    names = [spec.arg.name for spec in program.graph_signature.input_specs
             if spec.kind.name == "USER_INPUT" and type(spec.arg).__name__ == "TensorArgument"]  # fmt: skip
    return dict(zip(names, given, strict=True))


class Pt2Test(unittest.TestCase):
    def path(self, name):
        return os.path.join(FOLDER, name)

    def run_archive(self, archive, tensors, *more):
        save_file(tensors, self.path("in.safetensors"))
        result = assay(archive, "--run", "--inputs", self.path("in.safetensors"), "--out", self.path("out.safetensors"), *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return load_file(self.path("out.safetensors"))

    def check_equal(self, name, got, eager, exact):
        """Integers exactly. Else as near to f64 as torch itself: how many roundings the way to a result
        has, torch's own error shows; ours may have four times as many, in another order, and 16 at least."""
        self.assertEqual((got.dtype, got.shape), (eager.dtype, eager.shape), name)
        if not eager.dtype.is_floating_point:
            self.assertTrue(torch.equal(got, eager), (name, got, eager))
            return
        finite = torch.isfinite(exact.double())
        self.assertTrue(torch.equal(torch.isnan(got), torch.isnan(eager)), (name, got, eager))
        infinite = torch.isinf(eager)
        self.assertTrue(torch.equal(got[infinite], eager[infinite]), (name, got, eager))
        if not finite.any():
            return
        exact = exact.double()[finite]
        scale = max(1.0, exact.abs().max().item())
        own = (eager.double()[finite] - exact).abs().max().item()
        error = (got.double()[finite] - exact).abs().max().item()
        self.assertLessEqual(error, 4 * own + 16 * UNIT_ROUNDOFF[eager.dtype] * scale, (name, own))

    def check_case(self, name, dtype, decomposes):
        make, _, dynamic = CASES[name]
        module, arguments = made(make, dtype)
        program = torch.export.export(copy.deepcopy(module), copy.deepcopy(arguments), dynamic_shapes=dynamic)
        if decomposes:
            program = program.run_decompositions()
        archive = self.path("module.pt2")
        torch.export.save(program, archive)
        # Values of f32 widened, not others: inputs and parameters are those of the module.
        exact_module, exact_arguments = copy.deepcopy(module).to(torch.float64), widened(copy.deepcopy(arguments), dtype)
        state = {}
        for turn in range(2):
            sizes = arguments if turn == 0 or dynamic is None else longer(arguments, dynamic)
            inputs = copy.deepcopy(sizes)
            exact_inputs = exact_arguments if sizes is arguments else widened(copy.deepcopy(sizes), dtype)
            exact_inputs = copy.deepcopy(exact_inputs)
            tensors = input_tensors(program, inputs)
            before = {leaf: x.clone() for leaf, x in tensors.items()}
            out = self.run_archive(archive, {**before, **state})
            before = {**{leaf: x.clone() for leaf, x in module.named_buffers()}, **before}
            eager = named_leaves(module(*inputs))
            try:
                exact = dict(named_leaves(exact_module(*exact_inputs)))
            except RuntimeError:  # dtypes that f64 does not go with
                exact = dict(eager)
            for leaf, value in eager:
                self.check_equal((name, turn, leaf), out.pop(leaf), value, exact[leaf])
            # What is left was written: buffers, and inputs.
            after = {**dict(module.named_buffers()), **input_tensors(program, inputs)}
            exact_after = {**dict(exact_module.named_buffers()), **input_tensors(program, exact_inputs)}
            for leaf, value in out.items():
                self.check_equal((name, turn, "written", leaf), value, after[leaf], exact_after[leaf])
            for leaf, value in before.items():
                if leaf not in out:
                    self.assertTrue(torch.equal(after[leaf].nan_to_num(), value.nan_to_num()), (name, leaf, "is written"))
            state = {leaf: value for leaf, value in out.items() if leaf not in tensors}

    def check_module(self, name):
        for dtype in CASES[name][1]:
            for decomposes in (False, True):
                with self.subTest(dtype=dtype, decomposes=decomposes):
                    self.check_case(name, DTYPES[dtype], decomposes)
                    print(f"{name} {dtype} {'decomposed' if decomposes else 'as exported'}: equal to eager", flush=True)


for each in CASES:
    setattr(Pt2Test, f"test_{each}", lambda self, name=each: self.check_module(name))


def widened(tree, dtype):
    return pytree.tree_map(lambda x: x.double() if isinstance(x, torch.Tensor) and x.dtype == dtype else x, tree)


def longer(arguments, dynamic):
    """Other sizes where these are free: rows once more."""
    result = []
    for argument, free in zip(arguments, dynamic.values(), strict=True):
        for axis in free if isinstance(free, dict) and isinstance(argument, torch.Tensor) else ():
            argument = torch.cat([argument, argument.flip(axis)], axis)
        result.append(argument)
    return tuple(result)


class RefusedTest(unittest.TestCase):
    path = Pt2Test.path

    def saved(self, module, arguments, name="refused.pt2"):
        program = torch.export.export(module, arguments)
        torch.export.save(program, self.path(name))
        return self.path(name)

    def refused(self, archive, *words):
        result = assay(archive, "--run")
        self.assertEqual(result.returncode, 2, (result.stdout, result.stderr))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in (os.path.basename(archive), *words):
            self.assertIn(word, result.stderr)

    def test_all_unknown_operators_at_once(self):
        def function(x):
            return torch.rand_like(x) + x.digamma() + x.digamma().lgamma() + x[x > 0].sum()

        self.refused(self.saved(Of(function), (torch.ones(3),)), "aten.digamma.default (2 times)",
                     "aten.lgamma.default (1 time)", "aten.rand_like.default (1 time; random)")  # fmt: skip

    def test_what_depends_on_data(self):
        self.refused(self.saved(Of(lambda x: x[x > 0]), (torch.ones(3),)), "data-dependent")

        def replaced(x, y):
            x = x.clone()
            x[x > 0] = y
            return x

        self.refused(self.saved(Of(replaced), (torch.ones(3), torch.ones(3))), "data-dependent")
        self.refused(self.saved(Of(lambda x: x.nonzero()), (torch.ones(3),)), "aten.nonzero.default")

    def test_dtypes(self):
        self.refused(self.saved(Of(lambda x: x + 1), (torch.ones(3, dtype=torch.uint8),)), "uint8")
        self.refused(self.saved(Of(lambda x: x + 1), (torch.ones(3, dtype=torch.complex64),)), "complex64")

    def test_dropout_in_training(self):
        module = torch.nn.Dropout(0.5).train()
        self.refused(self.saved(module, (torch.ones(3),)), "eval()")

    def test_wrong_inputs(self):
        archive = self.saved(torch.nn.ReLU(), (torch.ones(3),))
        for tensors, words in (({"input": torch.ones(4)}, "input 'input' is f32 4, expected f32 3"), ({"x": torch.ones(3)}, "the graph has no input 'x'")):
            save_file(tensors, self.path("wrong.safetensors"))
            result = assay(archive, "--run", "--inputs", self.path("wrong.safetensors"))
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)


def kept(content):
    """For who wants to look at it: where temporary files go, by its content."""
    path = os.path.join(FOLDER, "..", f"hostile-{zlib.crc32(content):08x}.pt2")
    with open(path, "wb") as file:
        file.write(content)
    return path


class HostileTest(unittest.TestCase):
    """An archive with anything in it is run, or refused in one line that names it."""

    path = Pt2Test.path

    def entries(self, archive):
        with zipfile.ZipFile(archive) as file:
            return {info.filename: file.read(info) for info in file.infolist()}

    def written(self, entries, chance, compression=zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as file:
            for name, content in entries.items():
                file.writestr(name, content)
        return buffer.getvalue()

    def changed_json(self, value, chance):
        """One number, text, list or key of it is another."""
        places = []

        def visit(node):
            for key in node if isinstance(node, dict) else range(len(node)):
                places.append((node, key))
                if isinstance(node[key], (dict, list)):
                    visit(node[key])

        visit(value)
        if not places:
            return value
        node, key = chance.choice(places)
        others = [0, 1, -1, 7, 2**62, 2**70, 1.5, True, None, "", "x", "s0", [], {}, [[]], {"as_int": 3}, {"as_tensor": {"name": "x"}}]
        kind = chance.randrange(4)
        if kind == 0:
            del node[key]
        elif kind == 1:
            other_node, other_key = chance.choice(places)
            node[key] = copy.deepcopy(other_node[other_key])
        elif kind == 2 and isinstance(node[key], int):
            node[key] = node[key] + chance.choice((-1, 1, 10, 1000))
        else:
            node[key] = chance.choice(others)
        return value

    def mutated(self, content, entries, chance):
        kind = chance.randrange(10)
        if kind < 6:
            entries = dict(entries)
            name = chance.choice([n for n in entries if n.endswith(".json")] + 5 * [n for n in entries if n.endswith("model.json")])
            value = json.loads(entries[name])
            for _ in range(chance.choice((1, 1, 1, 3))):
                value = self.changed_json(value, chance)
            entries[name] = json.dumps(value).encode()
            return self.written(entries, chance)
        content = bytearray(content)
        if kind == 6:
            return bytes(content[: chance.randrange(len(content))])
        if kind == 7:  # the list of entries, and what is behind it
            begin = max(content.rfind(b"PK\1\2") - 600, 0)
            for _ in range(chance.choice((1, 3))):
                content[chance.randrange(begin, len(content))] = chance.randrange(256)
            return bytes(content)
        if kind == 8:
            entries = dict(entries)
            name = chance.choice(list(entries))
            data = entries.pop(name)
            if chance.randrange(2):
                entries[name] = data[: chance.randrange(len(data) + 1)]
            return self.written(entries, chance, chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        return bytes(content)

    def test_archives_with_anything_in_them(self):
        chance = random.Random(SEED)
        ended = {0: 0, 2: 0, 5: 0}  # 5: sizes that no memory holds
        names = ("cache_that_is_written", "index_put", "attention", "trees_and_constants", "transformer_of_two_layers")
        sources = []
        for name in names:
            make, _, dynamic = CASES[name]
            module, arguments = made(make, torch.float32)
            torch.export.save(torch.export.export(module, arguments, dynamic_shapes=dynamic), self.path("good.pt2"))
            with open(self.path("good.pt2"), "rb") as file:
                sources.append((file.read(), self.entries(self.path("good.pt2"))))
        for i in range(int(MUTATIONS)):
            content, entries = sources[i % len(sources)]
            mutated = self.mutated(content, entries, chance)
            with open(self.path("bad.pt2"), "wb") as file:
                file.write(mutated)
            result = assay(self.path("bad.pt2"), "--run")
            if result.returncode not in ended or result.stderr.count("\n") != (result.returncode != 0):
                self.fail((i, kept(mutated), result.returncode, result.stderr[-2000:]))
            if result.returncode != 0:
                self.assertIn("bad.pt2", result.stderr)
            ended[result.returncode] += 1
        print(f"{MUTATIONS} archives: {ended[0]} ran, {ended[2]} were refused, {ended[5]} were too large")
        self.assertGreater(min(ended[0], ended[2]), int(MUTATIONS) // 100)


if __name__ == "__main__":
    unittest.main()
