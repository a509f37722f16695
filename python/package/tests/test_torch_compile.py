# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile(…, backend="assay") against torch itself: results, gradients, training, refusals."""

import math

import assay
import pytest

torch = pytest.importorskip("torch", reason="no module torch: `make peers` installs it")
nn, F = torch.nn, torch.nn.functional


def compiled(module, **options):
    torch._dynamo.reset()
    return torch.compile(module, backend="assay", fullgraph=True, **options)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.mixed, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.mixed(self.norm(x)).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Language(nn.Module):
    """Tokens in, the loss of guessing the next of them out."""

    def __init__(self):
        super().__init__()
        self.embed, self.attention = nn.Embedding(30, 16), Attention()
        self.gate, self.down = nn.Linear(16, 64), nn.Linear(32, 16)

    def forward(self, tokens):
        x = self.attention(self.embed(tokens))
        left, right = self.gate(F.rms_norm(x, (16,))).chunk(2, -1)
        x = x + self.down(F.silu(left) * right)
        return F.cross_entropy((x @ self.embed.weight.T)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


MODELS = {
    "multilayer": (lambda: nn.Sequential(nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 7), nn.Tanh()), lambda: torch.randn(5, 12)),
    "attention": (Attention, lambda: torch.randn(2, 6, 16)),
    "language": (Language, lambda: torch.randint(0, 30, (3, 9))),
    "convolutions": (lambda: nn.Sequential(
        nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(6, 6, (3, 2), padding=3, dilation=2, groups=3), nn.AvgPool2d(2, 1, 1, count_include_pad=False), nn.SiLU(),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(1, 2), nn.Conv1d(18, 4, 2, stride=2)), lambda: torch.randn(2, 4, 21, 14)),
    "norms": (lambda: nn.Sequential(nn.GroupNorm(2, 6), nn.SiLU(), nn.BatchNorm1d(6)), lambda: torch.randn(4, 6)),
}


def made(name):
    torch.manual_seed(7)
    module, inputs = MODELS[name]
    return module(), inputs()


def outcome(module, x):
    """Result and all gradients."""
    module.zero_grad()
    given = x.clone().requires_grad_() if x.is_floating_point() else x
    result = module(given)
    (result * torch.linspace(-1, 2, result.numel()).reshape(result.shape)).sum().backward()
    return [result.detach(), *([given.grad] if given.grad is not None else []), *(each.grad for each in module.parameters())]


@pytest.mark.parametrize("name", MODELS)
def test_results_and_gradients_are_torchs(name):
    module, x = made(name)
    with torch.no_grad():
        torch.testing.assert_close(compiled(module.eval())(x), module(x))
    module.train()
    expected = outcome(module, x)
    for ours, theirs in zip(outcome(compiled(module), x), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_gradients_are_those_of_finite_differences():
    torch.manual_seed(3)
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(compiled(lambda x, w: torch.logsumexp(torch.tanh(x @ w) / (1 + x.square().sum()), 0)), (x, weight))


def test_training_goes_the_same_way():
    losses = {}
    for backend in ("eager", "assay"):
        model, tokens = made("language")
        torch._dynamo.reset()
        step = torch.compile(model, backend=backend)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses[backend] = []
        for _ in range(20):
            optimiser.zero_grad()
            loss = step(tokens)
            loss.backward()
            optimiser.step()
            losses[backend].append(loss.item())
    assert losses["assay"][-1] < 0.5 * losses["assay"][0]
    assert losses["assay"] == pytest.approx(losses["eager"], rel=1e-3)


def test_sizes_are_dynamic():
    seen = []
    module, _ = made("attention")
    whole = compiled(module.eval(), dynamic=True)
    counted = torch._dynamo.utils.counters
    counted.clear()
    with torch.no_grad():
        for batch, length in ((2, 5), (3, 17), (7, 64), (2, 300)):
            x = torch.randn(batch, length, 16)
            torch.testing.assert_close(whole(x), module(x))
            seen.append(counted["stats"]["unique_graphs"])
    assert seen == [1, 1, 1, 1]
    halves = compiled(lambda x: x.unflatten(0, (2, -1)).unflatten(1, (3, -1)).sum(0), dynamic=True)  # divisible by 6
    for rows in (12, 30, 60):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(halves(x), x.unflatten(0, (2, 3, -1)).sum(0))
    trained = compiled(lambda x, w: (x @ w).relu().sum(0) * x.shape[0], dynamic=True)
    w = torch.randn(4, 3, requires_grad=True)
    for rows in (3, 8, 50):
        x = torch.randn(rows, 4)
        got, = torch.autograd.grad(trained(x, w).sum(), w)
        expected, = torch.autograd.grad(((x @ w).relu().sum(0) * rows).sum(), w)
        torch.testing.assert_close(got, expected)


def test_values_of_any_kind():
    def mixed(x, n, flag, table):
        kept = torch.where(table["mask"], x, -float("inf")).amax(-1)
        return {"kept": kept, "scaled": x.to(torch.bfloat16) * n, "count": table["mask"].sum(), "x": x, "n": n + 1,
                "twice": (kept, kept) if flag else None}

    x, mask = torch.randn(3, 4), torch.tensor([True, False, True, True])
    got, expected = compiled(mixed)(x, 3, True, {"mask": mask}), mixed(x, 3, True, {"mask": mask})
    torch.testing.assert_close(got, expected)
    assert got["n"] == 4 and got["x"] is x
    scaled = compiled(lambda x, factor: x * factor, dynamic=True)
    for factor in (2.5, -1.0):
        torch.testing.assert_close(scaled(x, factor), x * factor)


def test_what_is_written_in_place_is_written():
    def step(cache, x):
        cache[:, 1:3] = x
        cache.mul_(2)
        return cache.sum()

    ours, theirs = torch.randn(2, 4), None
    theirs = ours.clone()
    address, x = ours.data_ptr(), torch.randn(2, 2)
    torch.testing.assert_close(compiled(step)(ours, x), step(theirs, x))
    assert torch.equal(ours, theirs) and ours.data_ptr() == address
    norm = nn.BatchNorm1d(3)
    compiled(norm)(torch.randn(8, 3)).sum().backward()
    assert norm.num_batches_tracked == 1 and norm.running_mean.abs().sum() > 0


def test_writes_are_known_to_the_way_back():
    def writes(x, y):
        x.mul_(2)
        return x + y

    cache = torch.randn(3)
    saved = (torch.ones(3, requires_grad=True) * cache).sum()  # its way back needs what the cache is now
    before = cache._version
    compiled(writes)(cache, torch.randn(3))
    assert cache._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward()


INTEGERS = [-2**63, -2**63 + 1, -2**62 - 7, -2**53 - 1, -12, -7, -1, 0, 1, 6, 2**31, 2**53 + 1, 2**62 + 3, 2**63 - 2, 2**63 - 1]


@pytest.mark.parametrize("divided", [
    lambda a, b: a // b, lambda a, b: a % b, torch.fmod, lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    lambda a, b: torch.div(a, b, rounding_mode="floor")], ids=["floor_divide", "remainder", "fmod", "trunc", "floor"])
def test_whole_numbers_are_divided_exactly(divided):
    random = torch.Generator().manual_seed(4)
    some = torch.randint(-2**63, 2**63 - 1, (500,), generator=random)
    few = some >> torch.randint(0, 62, (500,), generator=random)
    edges = torch.tensor(INTEGERS)
    pairs = [(edges[:, None], edges[edges != 0]), (some, torch.where(few == 0, 3, few)), (few, torch.where(some == 0, 3, some))]
    for a, b in pairs:
        # The least number by -1 is none of 64 bits, and undefined in torch.
        a, b = (each.clone() for each in torch.broadcast_tensors(a, b))
        b[(a == -2**63) & (b == -1)] = 1
        whole = compiled(divided)
        assert torch.equal(whole(a, b), divided(a, b))
        narrow, by = a.to(torch.int32), b.to(torch.int32)
        by[(by == 0) | ((narrow == -2**31) & (by == -1))] = 5
        assert torch.equal(whole(narrow, by), divided(narrow, by))
    constant = compiled(lambda a: divided(a, -7))
    assert torch.equal(constant(some), divided(some, -7))


def test_a_whole_number_divided_by_0_is_refused():
    a, b = torch.tensor([5, 6, 7]), torch.tensor([1, 0, 2])
    for divided in (lambda a, b: a // b, lambda a, b: a % b, torch.fmod, lambda a, b: torch.div(a, b, rounding_mode="trunc")):
        whole = compiled(divided)
        assert torch.equal(whole(a, b + 1), divided(a, b + 1))
        with pytest.raises(assay.UserError, match=r"torch.compile: '\w+' \(aten.*\): a whole number is divided by 0"):
            whole(a, b)
    inf, nan = float("inf"), float("nan")
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([0.0, 1.0, -1.0, 5.5, -5.5, inf, -inf, nan], dtype=dtype)
        torch.testing.assert_close(compiled(lambda x: x[:, None] // x)(x), x[:, None] // x, equal_nan=True, rtol=0, atol=0)
    assert "a whole number is divided by 0" in str(refusal(lambda a: a % 0, a))


TABLE = torch.arange(12.0).reshape(4, 3)
BY_INDEX = {
    "index": (lambda i: TABLE[i], -4, 3, 4), "second": (lambda i: TABLE[:, i], -3, 2, 3),
    "embedding": (lambda i: F.embedding(i, TABLE), 0, 3, 4), "index_select": (lambda i: TABLE.index_select(1, i), 0, 2, 3),
    "gather": (lambda i: TABLE.gather(0, i[:, None]), 0, 3, 4), "take": (lambda i: TABLE.take(i), -12, 11, 12),
    "index_put": (lambda i: TABLE.index_put((i,), torch.tensor(1.0)), -4, 3, 4),
    "accumulate": (lambda i: TABLE.index_put((i,), torch.tensor(1.0), accumulate=True), -4, 3, 4),
    "index_add": (lambda i: TABLE.index_add(0, i, torch.ones(i.shape[0], TABLE.shape[1])), 0, 3, 4),
    "index_copy": (lambda i: TABLE.index_copy(0, i, torch.ones(i.shape[0], TABLE.shape[1])), 0, 3, 4),
    "scatter": (lambda i: TABLE.scatter(1, i[:, None], 5.0), 0, 2, 3),
    "scatter_add": (lambda i: TABLE.scatter_add(1, i[:, None], torch.ones(2, 1)), 0, 2, 3),
    "cross_entropy": (lambda i: F.cross_entropy(TABLE[:2], i), 0, 2, 3),
}


@pytest.mark.parametrize("name", BY_INDEX)
def test_indices_outside_are_refused(name):
    function, low, high, size = BY_INDEX[name]
    for dynamic in (False, True):
        ours = compiled(function, dynamic=dynamic)
        inside = torch.tensor([low, high])
        torch.testing.assert_close(ours(inside), function(inside))
        for outside in (low - 1, high + 1, -2**63, 2**63 - 1):
            with pytest.raises((IndexError, RuntimeError)):
                function(torch.tensor([low, outside]))
            with pytest.raises(assay.UserError) as caught:
                ours(torch.tensor([low, outside]))
            assert f"index {outside} is outside of an axis of size {size}" in str(caught.value)
            assert "torch.compile: '" in str(caught.value)


def test_what_is_asserted_of_tensors_is_looked_at():
    ours = compiled(lambda i: F.one_hot(i, 5))
    assert torch.equal(ours(torch.tensor([0, 4])), F.one_hot(torch.tensor([0, 4]), 5))
    for outside, message in ((5, "must be smaller than num_classes"), (-1, "must be non-negative")):
        with pytest.raises(assay.UserError, match=f"_assert_async.*: one_hot: Class values {message}"):
            ours(torch.tensor([0, outside]))
    loss = compiled(lambda i: F.cross_entropy(TABLE[:2], i))
    ignored = torch.tensor([1, -100])
    torch.testing.assert_close(loss(ignored), F.cross_entropy(TABLE[:2], ignored))


def test_no_index_is_outside_of_anything():
    ours = compiled(lambda i: TABLE[i], dynamic=True)
    for count in (3, 0, 5):
        assert ours(torch.arange(count) % 4).shape == (count, 3)


def test_tangents_are_not_lost():
    x, direction = torch.rand(3), torch.ones(3)
    with pytest.raises(Exception, match="tangent|forward|jvp"):
        torch.func.jvp(compiled(torch.sin), (x,), (direction,))
    forward = torch.autograd.forward_ad
    with forward.dual_level(), pytest.raises(Exception, match="tangent|forward|jvp"):
        compiled(torch.sin)(forward.make_dual(x, direction))


def test_batch_norm_takes_batches_of_any_size():
    for norm, shape in ((nn.BatchNorm1d, (6,)), (nn.BatchNorm2d, (6, 3, 2)), (nn.InstanceNorm1d, (6, 4))):
        ours, theirs = (norm(6, affine=True, track_running_stats=True) for _ in range(2))
        step = compiled(ours)
        for batch in (4, 7, 9, 5):
            x = torch.randn(batch, *shape)
            for ours_each, theirs_each in zip(outcome(step, x), outcome(theirs, x), strict=True):
                torch.testing.assert_close(ours_each, theirs_each, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(ours.running_var, theirs.running_var)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bf16", "f16"])
def test_statistics_of_sixteen_bits_are_f32(dtype):
    def convolved(x):
        with torch.autocast("cpu", dtype):
            return layers(x)

    torch.manual_seed(5)
    layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    norm, narrow = nn.BatchNorm1d(4), nn.BatchNorm1d(4).to(dtype)
    many, few = 3 + torch.randn(2, 3, 6, 6), (3 + torch.randn(8, 4)).to(dtype)
    for function, module, x in ((norm, norm, few), (narrow, narrow, few), (convolved, layers, many)):
        before, found = {name: value.clone() for name, value in module.state_dict().items()}, []
        for each in (compiled(function), function):
            module.load_state_dict(before)
            module.zero_grad()
            given = x.clone().requires_grad_()
            result = each(given)
            (result.float() * torch.linspace(-1, 2, result.numel()).reshape(result.shape)).sum().backward()
            found.append([result.detach(), given.grad, *(p.grad.clone() for p in module.parameters()), *(b.clone() for b in module.buffers())])
        with torch.no_grad():
            for each, results in zip((compiled(function), function), found, strict=True):
                results.append(each(x))
        for ours, theirs in zip(*found, strict=True):
            # Beside zero there is what cancelled: roundings of the greatest.
            eps, greatest = torch.finfo(dtype).eps, theirs.abs().max().item()
            torch.testing.assert_close(ours, theirs, rtol=2 * eps, atol=2 * eps * greatest)


MADE = {
    "ones": lambda x: x + torch.ones(3), "zeros": lambda x: x + torch.zeros(3), "full": lambda x: x + torch.full((3,), 0.1),
    "arange": lambda x: torch.arange(0.0, 3.0) + x, "linspace": lambda x: torch.linspace(0, 1, 3) + x, "eye": lambda x: torch.eye(3) + x,
    "scalar_tensor": lambda x: torch.scalar_tensor(3) + x, "quotient": lambda x: torch.arange(3) / 7, "product": lambda x: torch.arange(3) * 0.1,
    "sqrt": lambda x: torch.arange(3).sqrt(), "power": lambda x: torch.arange(3) ** 0.5, "clamp": lambda x: torch.arange(3).clamp(min=0.1),
    "where": lambda x: torch.where(torch.arange(3) > 1, 0.1, 0.3), "logsumexp": lambda x: torch.arange(3).logsumexp(0),
    "sigmoid": lambda x: torch.sigmoid(torch.arange(3)), "float": lambda x: x.float() * 0.1, "integers": lambda x: torch.arange(3) * 2,
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=["f64", "bf16"])
@pytest.mark.parametrize("name", MADE)
def test_torchs_default_dtype_is_known(name, dtype):
    torch.set_default_dtype(dtype)
    try:
        x = torch.tensor([0.5, -0.25, 2.0])
        ours, theirs = compiled(MADE[name])(x), MADE[name](x)
    finally:
        torch.set_default_dtype(torch.float32)
    rtol = 1e-6 if theirs.dtype == torch.float32 else 2 * torch.finfo(dtype).eps
    torch.testing.assert_close(ours, theirs, rtol=rtol, atol=0)


def test_numbers_that_are_made_of_sizes():
    cases = [lambda x: x * (1 / x.shape[0]) + x.shape[0] ** 0.5 - x.shape[0] / 3, lambda x: x.sum(0) / x.shape[0] + 2.5 * x.shape[0],
             lambda x: x * (x.shape[0] // 2) - x[: x.shape[0] // 2].sum(),
             lambda x: x.var(0) + x.std(), lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
             lambda x: F.mse_loss(x, 2 * x.detach()), lambda x: x * math.floor(x.shape[0] / 2) - math.trunc(x.shape[0] / 3),
             lambda x: x.shape[0] / 4 + 0 * x, lambda x: -(x.shape[0] / 4) * x]
    for number, function in enumerate(cases):
        ours = compiled(function, dynamic=True)
        for shape in ((4, 6), (7, 6), (9, 5)):
            x = torch.randn(shape, requires_grad=True)
            got, expected = ours(x), function(x)
            torch.testing.assert_close(got, expected, msg=lambda text, n=number: f"case {n}: {text}")
            ours_back, = torch.autograd.grad(got.sum(), x)
            torch.testing.assert_close(ours_back, torch.autograd.grad(expected.sum(), x)[0])


def test_whole_numbers_that_are_no_sizes():
    cases = [lambda x, n: x * n + (n + 1), lambda x, n: x.sum() + 2 * n - 7, lambda x, n: (x.long() + n) // 3,
             lambda x, n: torch.full((2,), n), lambda x, n: (x * n, 3 * n), lambda x, n: (n - 4) * x + n / 2]
    for function in cases:
        ours = compiled(function)
        for n in (3, 4, -5, 0, 1, -1, 2**40 + 1, -2**40, -2**53):
            x = torch.rand(3, dtype=torch.float64)
            torch.testing.assert_close(ours(x, n), function(x, n))
    ours = compiled(lambda x, n: x * n)
    for n in (3, 4, -5):  # the way back takes it, too
        x = torch.rand(3, requires_grad=True)
        assert torch.equal(torch.autograd.grad(ours(x, n).sum(), x)[0], torch.full((3,), float(n)))
    with pytest.raises(assay.UserError, match="is from -9007199254740992 to 9007199254740992, got 18014398509481984"):
        ours(torch.rand(3), 2**54)


def test_places_count_from_both_ends():
    x = torch.arange(20.0).reshape(10, 2)
    for function in (lambda x, n: x[n], lambda x, n: x[n:], lambda x, n: x[:n] * 2, lambda x, n: x.narrow(0, n, 1)):
        ours = compiled(function)
        for n in (3, 4, 5, -3, -2, -4):
            torch.testing.assert_close(ours(x, n), function(x, n))


def test_strided_views_and_constants():
    table = torch.arange(4.0)
    base = torch.randn(6, 8)
    for x in (base.T[:, :4], base[::2, ::2], base.flip(0)[:, 2:6]):
        torch.testing.assert_close(compiled(lambda x: x.reshape(-1, 4) * table + torch.tensor([1.0, 2.0, 3.0, 4.0]))(x),
                                   x.reshape(-1, 4) * table + torch.tensor([1.0, 2.0, 3.0, 4.0]))


def broken(x):
    y = x.t() * 2
    torch._dynamo.graph_break()
    return y.t().view(-1)


LYING = {
    "transposed": (lambda x: x.t() * 2, torch.randn(3, 4)), "broken": (broken, torch.randn(3, 4)),
    "several": (lambda x: (x.permute(2, 0, 1).exp(), x + 1, {"y": x.transpose(1, 2).tanh()}), torch.randn(3, 4, 5)),
    "reduced": (lambda x: (x.permute(2, 0, 1) * 2).sum(1), torch.randn(3, 4, 5)),
    "strided": (lambda x: x.t() * 2, torch.randn(8, 6)[::2, 1:4]),
    "channels last": (lambda x: F.relu(x) + 1, torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)),
    "convolved": (lambda x: F.conv2d(x, torch.ones(2, 3, 2, 2)), torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)),
    "made": (lambda x: x.contiguous(memory_format=torch.channels_last), torch.randn(2, 3, 4, 5)),
    "with its view": (lambda x: (lambda y: (y, y[1:]))(x.t() * 2), torch.randn(3, 4)),
    "repeated": (lambda x: x[:, None].expand(3, 4, 4) * 1, torch.randn(3, 4)),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", LYING)
def test_results_lie_as_torchs_do(name, dynamic):
    function, x = LYING[name]
    flat = lambda results: torch.utils._pytree.tree_leaves(results)  # noqa: E731
    for wants in (False, True):
        if dynamic and name == "convolved":
            continue  # not covered
        torch._dynamo.reset()
        whole = torch.compile(function, backend="assay", dynamic=dynamic)
        mine, theirs = (x.detach().clone().requires_grad_(wants) for _ in range(2))
        got, expected = flat(whole(mine)), flat(function(theirs))
        for ours, each in zip(got, expected, strict=True):
            torch.testing.assert_close(ours, each, check_stride=True)
        if wants:
            ours, each = (torch.autograd.grad(sum((result * result).sum() for result in results), given)[0]
                          for results, given in ((got, mine), (expected, theirs)))
            torch.testing.assert_close(ours, each)
        with torch.no_grad():
            got[0].add_(1)  # they are nobody's views: what is written into them is known to none but them


def test_a_result_that_is_there_twice_is_one_tensor():
    first, one, second, nothing = compiled(lambda x: (lambda y: (y, 1, y.contiguous(), None))(x.exp() + 1))(torch.randn(3))
    first.add_(1)
    assert torch.equal(first, second) and one == 1 and nothing is None


def test_results_that_are_written_later_have_gradients():
    x = torch.randn(3, 4, requires_grad=True)
    result = compiled(lambda x: x.t() * 2)(x)
    result += 1
    result.view_as(result).mul_(3)
    assert torch.equal(torch.autograd.grad(result.sum(), x)[0], torch.full((3, 4), 6.0))


def test_results_that_are_views_of_each_other():
    """AOTAutograd makes them of what we return."""
    cases = [(lambda x: (lambda y: (y, y.t(), y[0], y[:, 1:]))(x.t() + 1), torch.randn(3, 5)),
             (lambda x: (x.permute(2, 0, 1) * 2).unbind(0), torch.randn(3, 5, 4)),
             (lambda x: (x * 2, (x * 2).permute(0, 2, 3, 1)),
              torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)),
             (lambda x: (x.t(), x + 1, x[1], x), torch.randn(6, 5)[::2].t())]
    for function, x in cases:
        x.requires_grad_()
        gradients = []
        for each in (compiled(function), function):
            total = sum((result * (i + 1)).sum() for i, result in enumerate(each(x)))
            gradients.append(torch.autograd.grad(total, x)[0])
        torch.testing.assert_close(compiled(function)(x), function(x))
        torch.testing.assert_close(*gradients)


def test_results_that_are_views_where_sizes_are_dynamic():
    """AOTAutograd takes their places from what we return."""
    def written(x):
        x.mul_(2)
        return x[1:], x.t()

    cases = [lambda x: x[1:], lambda x: (x[1:], x[:, 2], x.t()[1], x), lambda x: (lambda y: (y, y[1:], y.t()[2:]))(x * 2),
             lambda x: (lambda y: (y, y.t()[1:], y[:, 1]))(x.t() + 1), lambda x: x.chunk(2, 1), lambda x: (x.unsqueeze(0), x.sum()),
             lambda x: (lambda y: (y[2:].t(), y[1:]))(x.sin()), lambda x: (x.expand(2, *x.shape), x.diagonal()), written]
    for number, function in enumerate(cases):
        for wants in (False, True):
            ours = compiled(function, dynamic=True)
            for shape in ((4, 6), (7, 4), (9, 8)):
                x = torch.randn(shape)
                mine, theirs = (x.clone().requires_grad_(wants and function is not written) for _ in range(2))
                got, expected = ours(mine), function(theirs)
                torch.testing.assert_close(got, expected, msg=lambda text, n=number: f"case {n}: {text}")
                assert torch.equal(mine, theirs)
                if not mine.requires_grad:
                    continue
                total = lambda results: sum((each * each).sum() for each in (results if isinstance(results, tuple) else [results]))  # noqa: E731
                torch.testing.assert_close(torch.autograd.grad(total(got), mine), torch.autograd.grad(total(expected), theirs))
    x = torch.randn(5, 3)
    view = compiled(lambda x: x[1:], dynamic=True)(x)
    assert view.data_ptr() == x[1:].data_ptr()  # as torch has it: what is written there is written to x


def test_what_depends_on_nothing_is_torchs():
    got = compiled(lambda: (torch.arange(4) + 1, torch.ones(2) * 3))()
    assert torch.equal(got[0], torch.arange(4) + 1) and torch.equal(got[1], torch.full((2,), 3.0))


def refusal(function, *arguments, **options):
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        compiled(function, **options)(*arguments)
    return caught.value


def test_operators_that_are_not_covered_are_named_all_at_once():
    refused = refusal(lambda x: torch.linalg.inv(x) + torch.rand_like(x) + torch.linalg.det(x), torch.eye(3))
    assert isinstance(refused.inner_exception, assay.UserError)
    for name in ("torch.compile: operators that are not covered", "linalg_inv_ex", "rand_like", "random", "_linalg_det"):
        assert name in str(refused), str(refused)


def test_gradients_that_cannot_be_had_are_refused():
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    with pytest.raises((torch._dynamo.exc.BackendCompilerFailed, assay.UserError), match="not covered"):
        compiled(nn.Sequential(nn.ConvTranspose2d(3, 2, 3), nn.FractionalMaxPool2d(2, output_size=4)))(x).sum().backward()
    out = compiled(torch.tanh)(x)
    first, = torch.autograd.grad(out.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        first.sum().backward()


def test_what_is_not_on_the_processor_is_refused():
    refused = refusal(torch.sin, torch.ones(3, device="meta"))
    assert isinstance(refused.inner_exception, assay.EnvironmentError)
    assert "is on device 'meta'" in str(refused)


def test_dtypes_and_options_that_are_not_covered_are_refused():
    assert "dtype complex64 is not covered" in str(refusal(lambda x: x * 2, torch.ones(3, dtype=torch.complex64)))
    assert "has no options: fast" in str(refusal(torch.sin, torch.ones(3), options={"fast": True}))


def test_torch_knows_the_backend():
    assert "assay" in torch._dynamo.list_backends()
