# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.load_pt2 against the modules that were exported."""

import collections
import json
import pathlib
import zipfile
from concurrent.futures import ThreadPoolExecutor

import assay
import numpy
import pytest
from arrays import needs
from wrong_values import WRONG

torch = pytest.importorskip("torch", reason="no module torch: `make peers` installs it")
ROWS = {0: torch.export.Dim.DYNAMIC}
Point = collections.namedtuple("Point", ["x", "y"])


def exported(folder, module, args, kwargs=None, **options):
    path = folder / "module.pt2"
    torch.export.save(torch.export.export(module.eval(), args, kwargs, **options), path)
    return assay.load_pt2(path)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.linear = torch.nn.Linear(6, 5)

    def forward(self, x):
        return torch.softmax(self.linear(x), -1)


class Nested(torch.nn.Module):
    def forward(self, pair, by_name, *, scale):
        left, right = pair
        return {"sum": left + by_name["bias"], "rest": [right * scale, None, left.shape[0], (2.5, True)]}, right


class Counting(torch.nn.Module):
    """Writes in place: a buffer, and what it is given."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, cache, x):
        self.calls += 1
        cache[1:3] = x
        return cache.sum() + self.calls


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    module = Layer()
    return module, exported(tmp_path_factory.mktemp("layer"), module, (torch.rand(3, 6),), dynamic_shapes=(ROWS,))


def test_any_number_of_rows_is_what_torch_says(layer):
    module, ours = layer
    for rows in (1, 2, 3, 70, 1000):
        x = torch.randn(rows, 6)
        got = ours(x)
        assert isinstance(got, torch.Tensor) and not got.requires_grad
        torch.testing.assert_close(got, module(x).detach())
        of_numpy = ours(x.numpy())
        assert type(of_numpy) is numpy.ndarray
        numpy.testing.assert_array_equal(of_numpy, got.numpy())
    assert [(each.name, each.dtype, each.shape[1]) for each in ours.inputs] == [("x", "f32", 6)]
    assert "matmul" in ours.explain() and "x: f32 [" in repr(ours)


def test_strided_arrays_are_what_they_are(layer):
    module, ours = layer
    base = torch.randn(12, 20)
    for x in (base[::3, ::3][:, :6], base.T[:6, :6], base[:, 14:].flip(0)):
        torch.testing.assert_close(ours(x), module(x).detach())
    reversed_rows = numpy.random.rand(5, 6).astype("float32")[::-1]
    numpy.testing.assert_array_equal(ours(reversed_rows), ours(numpy.ascontiguousarray(reversed_rows)))


@needs("jax")
def test_jax_gives_jax(layer):
    import jax

    x = jax.numpy.linspace(0, 1, 24).reshape(4, 6)
    got = layer[1](x)
    assert isinstance(got, jax.Array)
    numpy.testing.assert_array_equal(numpy.asarray(got), layer[1](numpy.asarray(x)))


def test_nested_arguments_and_results(tmp_path):
    left, right, bias = torch.randn(3, 2), torch.randn(4), torch.randn(2)
    args, kwargs = ((left, right), {"bias": bias}), {"scale": 3}
    module = Nested()
    ours = exported(tmp_path, module, args, kwargs,
                    dynamic_shapes={"pair": (ROWS, None), "by_name": {"bias": None}, "scale": None})
    named, last = ours((left, right), {"bias": bias}, scale=3)
    torch.testing.assert_close(named["sum"], left + bias)
    torch.testing.assert_close(named["rest"][0], right * 3)
    assert named["rest"][1:] == [None, 3, (2.5, True)] and type(named["rest"][2]) is int
    torch.testing.assert_close(last, right)
    assert last.data_ptr() != right.data_ptr()
    longer = ours(by_name={"bias": bias}, pair=(torch.randn(9, 2), right), scale=3)
    assert longer[0]["rest"][2] == 9
    for call, message in ((lambda: ours((left, right), {"bias": bias}), "arguments are missing: scale"),
                          (lambda: ours((left, right), {"bias": bias}, scale=4), "'scale' was 3 when"),
                          (lambda: ours([left, right], {"bias": bias}, scale=3), "pair: expected a tuple, got a list"),
                          (lambda: ours((left,), {"bias": bias}, scale=3), "pair: expected 2 in it, got 1"),
                          (lambda: ours((left, right), {"gain": bias}, scale=3), "by_name: there is no 'gain'"),
                          (lambda: ours((left, right), {}, scale=3), "by_name: 'bias' is missing"),
                          (lambda: ours((left, right), {"bias": bias}, scale=3, more=1), "'more' is no argument"),
                          (lambda: ours((left, right), {"bias": bias}, 3, scale=3), "takes 2 arguments by place, got 3"),
                          (lambda: ours((left, right), {"bias": left}, scale=3), "input 'by_name_bias' is f32 3x2, expected f32"),
                          (lambda: ours((left.double(), right), {"bias": bias}, scale=3), "input 'pair_0' is f64 3x2, expected f32")):
        with pytest.raises(assay.UserError, match="module.pt2: ") as caught:
            call()
        assert message in str(caught.value)


def test_trees_that_only_torch_knows(tmp_path):
    torch.utils._pytree._register_namedtuple(Point, serialized_type_name="test_pt2.Point")

    class Mirror(torch.nn.Module):
        def forward(self, point):
            return Point(-point.x, point.y), collections.OrderedDict(b=point.x, a=point.y)

    point = Point(torch.randn(3), torch.randn(2))
    got, ordered = exported(tmp_path, Mirror(), (point,))(point)
    assert type(got) is Point and torch.equal(got.x, -point.x) and torch.equal(got.y, point.y)
    assert list(ordered) == ["b", "a"] and isinstance(ordered, collections.OrderedDict)


def test_what_is_written_in_place_is_written(tmp_path):
    args = (torch.zeros(4, 3), torch.ones(2, 3))
    ours, module = exported(tmp_path, Counting(), args), Counting()
    for transposed in (False, True):
        cache, expected, x = (torch.randn(3, 4).T if transposed else torch.randn(4, 3)), None, torch.randn(2, 3)
        expected = cache.clone()
        address = cache.data_ptr()
        torch.testing.assert_close(ours(cache, x), module(expected, x))
        assert torch.equal(cache, expected) and cache.data_ptr() == address
    # The buffer went on counting; another program begins anew.
    torch.testing.assert_close(ours(cache, x), module(cache.clone(), x))
    anew = assay.load_pt2(tmp_path / "module.pt2")(cache, x)
    torch.testing.assert_close(anew, (cache.sum() + 1).repeat(2))
    fixed = numpy.ones((4, 3), "float32")
    fixed.flags.writeable = False
    with pytest.raises(assay.UserError, match="input 'cache'.*(read-only|not writable|writ)"):
        ours(fixed, numpy.ones((2, 3), "float32"))


class Adding(torch.nn.Module):
    def forward(self, a, b):
        a.add_(1)
        return b * 2


# Both of one array of 4 × 6, and whether they have an element in common.
TWICE = {
    "the same": (lambda m: (m[0], m[0]), True), "from within": (lambda m: (m.reshape(-1)[:6], m.reshape(-1)[5:11]), True),
    "across": (lambda m: (m[:3, 2], m[1, :3]), True), "backwards": (lambda m: (m[0], m[0, ::-1]), True),
    "one again and again": (lambda m: (m[0], numpy.broadcast_to(m[0, 5:], 6)), True),
    "rows": (lambda m: (m[0], m[1]), False), "columns": (lambda m: (m[:, 0], m[:, 1]), False),
    "by turns": (lambda m: (m[0, ::2], m[0, 1::2]), False), "across, beside": (lambda m: (m[:3, 2], m[1, 3:]), False),
}


@pytest.mark.parametrize("name", TWICE)
def test_what_is_written_is_no_other_input(tmp_path, name):
    views, share = TWICE[name]
    n = torch.export.Dim("n", min=2, max=100)
    ours = exported(tmp_path, Adding(), (torch.zeros(3), torch.zeros(3)), dynamic_shapes=({0: n}, {0: n}))
    whole = numpy.arange(24.0, dtype="float32").reshape(4, 6)
    was = whole.copy()
    if share:
        with pytest.raises(assay.UserError, match="module.pt2: input 'a', which the program writes, shares .* input 'b'"):
            ours(*views(whole))
        numpy.testing.assert_array_equal(whole, was)
    else:
        given, expected = views(whole), views(was)
        numpy.testing.assert_array_equal(ours(*given), expected[1] * 2)
        expected[0][:] += 1
        numpy.testing.assert_array_equal(whole, was)


def test_sizes_that_make_no_sense_are_refused_by_name(tmp_path):
    class Pair(torch.nn.Module):
        def forward(self, x, y):
            return x @ y

    n = torch.export.Dim("n", min=3, max=50)
    ours = exported(tmp_path, Pair(), (torch.ones(3, 4), torch.ones(4, 4)), dynamic_shapes=({1: n}, {0: n}))
    assert ours(numpy.ones((3, 50), "f"), numpy.ones((50, 4), "f"))[0, 0] == 50
    for shapes, message in ((((3, 4), (5, 4)), "'y' makes it 5"), (((3, 51), (51, 4)), "is from 3 to 50"),
                            (((2, 4), (4, 4)), "input 'x' is f32 2x4, expected f32 [3, "),
                            (((4,), (4, 4)), "input 'x' is f32 4, expected")):
        with pytest.raises(assay.UserError) as caught:
            ours(*(numpy.ones(shape, "f") for shape in shapes))
        assert message in str(caught.value)


def test_what_cannot_be_taken_is_refused_by_name(layer, tmp_path):
    ours = layer[1]
    for x, message in ((torch.ones(3, 6, requires_grad=True), "input 'x': wants a gradient"),
                       (torch.ones(3, 6, device="meta"), "input 'x'"), ("text", "input 'x'"),
                       (numpy.ones((3, 6), ">f4"), "input 'x'"), ([[1.0] * 6] * 2, "input 'x' is f64 2x6")):
        with pytest.raises(assay.UserError) as caught:
            ours(x)
        assert message in str(caught.value)
    with pytest.raises(assay.UserError, match="none.pt2"):
        assay.load_pt2(tmp_path / "none.pt2")


def test_whatever_is_given_for_a_tensor_is_refused(layer):
    ours = layer[1]
    for value in WRONG.values():
        for call in (lambda: ours(value), lambda: ours(numpy.ones((3, 6), "f"), value), lambda: ours(colour=value)):
            with pytest.raises((assay.UserError, TypeError)) as caught:
                call()
            assert "\n" not in str(caught.value) and "incompatible" not in str(caught.value)


def test_parameters_are_taken_where_nobody_wants_a_gradient(layer):
    module, ours = layer
    x = torch.nn.Parameter(torch.randn(3, 6))
    for quiet in (torch.no_grad, torch.inference_mode):
        with quiet():
            torch.testing.assert_close(ours(x), module(x))


def test_indices_outside_are_refused(tmp_path):
    class Rows(torch.nn.Module):
        def forward(self, table, index):
            return torch.nn.functional.embedding(index, table), table[index]

    table, index = torch.randn(4, 3), torch.tensor([0, 3])
    ours = exported(tmp_path, Rows(), (table, index), dynamic_shapes=(ROWS, ROWS))
    for rows in (4, 9):
        wide = torch.randn(rows, 3)
        torch.testing.assert_close(ours(wide, torch.arange(rows)), (wide, wide))
        with pytest.raises(assay.UserError) as caught:
            ours(wide, torch.tensor([0, rows]))
        assert f"(aten.embedding.default): index {rows} is outside of an axis of size {rows}" in str(caught.value)
        assert "module.pt2: '" in str(caught.value)


def test_whole_numbers_that_are_no_sizes(tmp_path):
    class Scaled(torch.nn.Module):
        def forward(self, x, n):
            return x * n + (n - 1)

    ours = exported(tmp_path, Scaled(), (torch.ones(3), 4), dynamic_shapes=(None, torch.export.Dim.DYNAMIC))
    for n in (4, 0, 1, -7, 2**30):
        torch.testing.assert_close(ours(torch.ones(3), n), torch.ones(3) * n + (n - 1))


def test_operators_that_are_not_covered_are_named_all_at_once(tmp_path):
    class Uncovered(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.inv(x) + torch.rand_like(x), torch.fft.fft(x)

    with pytest.raises(assay.UserError) as caught:
        exported(tmp_path, Uncovered(), (torch.eye(3),))
    for name in ("linalg_inv", "rand_like", "fft_fft"):
        assert name in str(caught.value)


def changed(path, to, change):
    """The archive with another program: `change` is called with what its JSON says of the graph's module."""
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(to, "w") as after:
        for entry in before.infolist():
            content = before.read(entry)
            if entry.filename.endswith("models/model.json"):
                program = json.loads(content)
                change(program["graph_module"])
                content = json.dumps(program).encode()
            after.writestr(entry.filename, content)
    return to


def test_an_archive_without_trees_takes_leaves(layer, tmp_path):
    module, ours = layer
    bare = changed(ours._path, tmp_path / "bare.pt2", lambda said: said["module_call_graph"].clear())
    x = torch.randn(4, 6)
    torch.testing.assert_close(assay.load_pt2(bare)(x), module(x).detach())


LEAF = {"type": None, "context": None, "children_spec": []}


def tree(kind, context, *children):
    return {"type": f"builtins.{kind}", "context": context, "children_spec": list(children)}


DAMAGED_TREES = {
    "no out_spec": lambda said: said.pop("out_spec"), "no in_spec": lambda said: said.pop("in_spec"),
    "in_spec is a number": lambda said: said.update(in_spec=7), "in_spec is no JSON": lambda said: said.update(in_spec="["),
    "names are true": lambda said: said.update(forward_arg_names=True), "names are numbers": lambda said: said.update(forward_arg_names=[1]),
    "no tree": lambda said: said.update(out_spec="[1, 2]"), "no version": lambda said: said.update(out_spec=json.dumps(LEAF)),
    "another version": lambda said: said.update(out_spec=json.dumps([9, LEAF])),
    "too many results": lambda said: said.update(out_spec=json.dumps([1, tree("tuple", None, LEAF, LEAF)])),
    "no results": lambda said: said.update(out_spec=json.dumps([1, tree("tuple", None)])),
    "keys of nothing": lambda said: said.update(out_spec=json.dumps([1, tree("dict", '["a", "b"]', LEAF)])),
    "keys are a text": lambda said: said.update(out_spec=json.dumps([1, tree("dict", '"a"', LEAF)])),
    "keys are lists": lambda said: said.update(out_spec=json.dumps([1, tree("dict", "[[1]]", LEAF)])),
    "a type is a list": lambda said: said.update(out_spec=json.dumps([1, {**LEAF, "type": []}])),
    "a type nobody knows": lambda said: said.update(out_spec=json.dumps([1, {**LEAF, "type": "none.Such"}])),
}


@pytest.mark.parametrize("name", DAMAGED_TREES)
def test_damaged_trees_are_refused_by_name(layer, tmp_path, name):
    damaged = changed(layer[1]._path, tmp_path / "damaged.pt2", lambda said: DAMAGED_TREES[name](said["module_call_graph"][0]["signature"]))
    with pytest.raises(assay.UserError, match=r"damaged.pt2: module_call_graph\[0\].signature") as caught:
        assay.load_pt2(damaged)
    assert "\n" not in str(caught.value)


def test_a_tree_of_more_than_there_is_is_refused_by_name(tmp_path):
    exported(tmp_path, Nested(), ((torch.ones(3, 2), torch.ones(4)), {"bias": torch.ones(2)}), {"scale": 3})
    for kind, message in (("output_specs", "it has 7 results, the program 6"), ("input_specs", "it has 4 arguments, the program 3")):
        damaged = changed(tmp_path / "module.pt2", tmp_path / "damaged.pt2", lambda said: said["signature"][kind].pop())  # noqa: B023
        with pytest.raises(assay.UserError, match=f"damaged.pt2: .*{message}"):
            assay.load_pt2(damaged)


def test_torchs_default_dtype_is_that_of_the_export(tmp_path):
    class Made(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(3) + torch.arange(3) / 7 + torch.arange(3) * 0.1, torch.arange(3).sqrt(), torch.full((2,), 0.1)

    torch.set_default_dtype(torch.float64)
    try:
        x = torch.randn(3)
        expected, ours = Made()(x), exported(tmp_path, Made(), (x,))
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(ours(x), expected, rtol=1e-15, atol=1e-15)


def grown_bytes(call):
    """How far memory grows at most while that runs."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the greatest begins anew
    before = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
    call()
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 - before


def test_what_lies_in_order_is_not_copied(tmp_path):
    class Sum(torch.nn.Module):
        def forward(self, x):
            return x.sum()

    ours = exported(tmp_path, Sum(), (torch.ones(4, 16),), dynamic_shapes=(ROWS,))
    for ones in (lambda *shape: numpy.ones(shape, "float32"), torch.ones):
        in_order, strided = ones(1_000_000, 16), ones(16, 1_000_000).T
        ours(in_order[:9])
        assert grown_bytes(lambda x=in_order: ours(x)) < 16_000_000
        assert grown_bytes(lambda x=strided: ours(x)) > 60_000_000  # packed, and seen to be


def test_memory_is_steady_over_a_hundred_thousand_calls(layer):
    ours, x, wrong = layer[1], numpy.ones((2, 6), "float32"), numpy.ones((2, 7), "float32")

    def calls(count):
        for i in range(count):
            ours(x)
            if i % 100 == 0:
                with pytest.raises(assay.UserError):
                    ours(wrong)

    calls(5000)
    before = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
    calls(100_000)
    # A result of 40 bytes for each call would be 4 MB, with its array 15.
    assert int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096 - before < 2_000_000


def test_eight_threads_at_once(layer):
    module, ours = layer
    inputs = [torch.randn(rows, 6) for rows in (2, 50, 700, 3)]
    answers = [module(x).detach() for x in inputs]

    def work(thread):
        return all(torch.allclose(ours(inputs[(thread + i) % 4]), answers[(thread + i) % 4], atol=1e-6) for i in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
