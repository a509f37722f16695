# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile(…, backend="assay") against torch itself: results, gradients, training, refusals."""

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


def test_strided_views_and_constants():
    table = torch.arange(4.0)
    base = torch.randn(6, 8)
    for x in (base.T[:, :4], base[::2, ::2], base.flip(0)[:, 2:6]):
        torch.testing.assert_close(compiled(lambda x: x.reshape(-1, 4) * table + torch.tensor([1.0, 2.0, 3.0, 4.0]))(x),
                                   x.reshape(-1, 4) * table + torch.tensor([1.0, 2.0, 3.0, 4.0]))


def test_results_that_are_views_of_each_other():
    """AOTAutograd makes them of what we return, which is row-major whatever torch's own strides are."""
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
