# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Small torch modules that are exported, imported and held to what torch itself computes."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim

CASES = {}


def case(dtypes=("f32", "bf16"), dynamic=None):
    """A function that returns a module and its arguments. Seeded: every call gives the same."""

    def add(make):
        CASES[make.__name__] = (make, dtypes, dynamic)
        return make

    return add


class Of(nn.Module):
    """A module that is one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def random(*shape):
    return torch.randn(*shape)


@case(("f32", "bf16", "f16", "f64"))
def perceptron():
    class Perceptron(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(19, 40), nn.Linear(40, 23, bias=False)

        def forward(self, x):
            y = self.first(x)
            return self.second(F.gelu(y) + F.gelu(y, approximate="tanh")) + F.silu(self.second(F.relu(y)))

    return Perceptron(), (random(7, 19),)


@case()
def norms():
    class Norms(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.rms, self.group = nn.LayerNorm(24), nn.RMSNorm(24), nn.GroupNorm(3, 6)
            self.two = nn.LayerNorm((6, 24), elementwise_affine=False)
            for p in self.parameters():
                nn.init.normal_(p)

        def forward(self, x):
            return self.layer(x), self.rms(x), self.group(x), self.two(x)

    return Norms(), (random(5, 6, 24),)


@case()
def attention():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = nn.MultiheadAttention(24, 4, batch_first=True)

        def forward(self, x, seen):
            q, k, v = (x.unflatten(-1, (n, -1)).transpose(1, 2) for x, n in zip(x.split((24, 12, 12), -1), (4, 2, 2)))
            grouped = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            wide = k.repeat_interleave(2, 1)
            masked = F.scaled_dot_product_attention(q, wide, wide, attn_mask=seen, scale=0.3)
            added = F.scaled_dot_product_attention(q, wide, wide, attn_mask=torch.where(seen, 0.5, -1.0).to(x.dtype))
            return self.heads(x[..., :24], x[..., :24], x[..., 24:])[0], grouped, masked, added

    seen = torch.rand(9, 9) < 0.7
    seen[3] = False  # one query sees nothing
    return Attention(), (random(2, 9, 48), seen)


@case()
def embedding_with_tied_head():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(31, 16, padding_idx=3), nn.Linear(16, 31, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens):
            return self.head(self.embed(tokens) * 0.25)

    return Tied(), (torch.randint(0, 31, (3, 8)),)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8)
        self.second, self.third = nn.Conv2d(8, 8, 3, groups=4, dilation=2), nn.Conv1d(8, 5, 4, padding="same")
        nn.init.uniform_(self.norm.weight, 0.5, 2)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.norm(self.first(x))), 3, stride=2, padding=1)
        y = self.second(F.pad(y, (2, 2, 2, 2)))
        return self.third(y.flatten(2)), F.adaptive_avg_pool2d(y, 1), F.avg_pool2d(y, 2)


@case()
def convolutions_in_use():
    module = Convolutions()
    module.norm.running_mean.normal_()
    module.norm.running_var.uniform_(0.5, 2)
    return module.eval(), (random(2, 3, 17, 16),)


@case(("f32",))
def batch_norm_in_training():
    return Convolutions().train(), (random(4, 3, 17, 16),)


@case(("f32", "bf16"))
def index_put():
    def function(x, mask, rows, columns, same):
        a, b, c = x.clone(), x.clone(), x.clone()
        a[mask] = 1.5
        b[rows] = 0.25
        b[-1] = x[0]
        b[:, columns] = -2.0
        c[rows, columns] = x[0, 0]
        d = x.index_put((rows[:, None], columns), x[:3, :3])
        e = x.index_put((rows, columns), x[0, :3], accumulate=True)
        f = x.index_put((rows[same], columns[same]), x[1], accumulate=True)  # several to a place
        f = f.index_put((mask,), x[0, 0], accumulate=True)
        masked = torch.where(mask[0], x, x[2]).masked_fill(mask, float("-inf"))
        return a, b, c, d, e, f, x[rows], x[:, columns, None], x[rows, columns], masked

    x = random(6, 5)
    return Of(function), (x, x > 0.3, torch.tensor([1, 4, 2]), torch.tensor([0, 3, -1]), torch.tensor([2, 0, 2, 2, 0]))


@case(("f32",))
def histogram():
    def function(x):
        return torch.histc(x, 7, -1.0, 1.0), torch.histc(x, 10), torch.histc(x, 4, -2, 3)

    x = random(300)
    x[:5] = torch.tensor([-1.0, 1.0, 0.0, 3.0, -2.0])
    return Of(function), (x,)


@case(("bf16",))  # torch exports it of no other dtype
def grouped_mm():
    def function(x, experts, ends):
        flat = experts.reshape(24, 64)
        return (torch._grouped_mm(x, experts, ends), torch._grouped_mm(x.view(3, 8, 16), experts),
                torch._grouped_mm(x.t().contiguous(), flat, ends), torch._grouped_mm(experts, x.t().contiguous().repeat(2, 1), ends))  # fmt: skip

    return Of(function), (random(24, 16), random(3, 16, 32), torch.tensor([5, 5, 24], dtype=torch.int32))


@case(("f32",))
def clamp_integers():
    def function(a, b):
        low = torch.iinfo(torch.int64).min
        return (a.clamp(-3, 4), a.clamp(min=2), a.clamp(max=-1), b.clamp(-2, 5), a.clamp(-1.5, 2.5),
                torch.minimum(a, a.flip(0)), a.clamp(low, 3), torch.clamp(a, a.min(), a.max() - 1),
                a.amin(), a.abs(), a.sign(), -a, torch.maximum(b, b + 1))  # fmt: skip

    big = torch.iinfo(torch.int64)
    a = torch.tensor([big.min, big.max, -5, -1, 0, 3, 4, 7])
    return Of(function), (a, torch.arange(-4, 8, dtype=torch.int32))


@case(("f32",))
def integer_arithmetic():
    def function(a, b, c):
        return (a // b, a % b, torch.div(a, b, rounding_mode="trunc"), torch.fmod(a, b), a * b - c, a / b, a**3,
                c // 3, a.sum(), a.prod(), a.float().mean(), (a > b) & (c > 0), a == b, ~(a < b), a.to(torch.int32) + c,
                (a * 1.5).round(), a.cumsum(0), a.max(), a.argmin(), torch.arange(2, 20, 3), a.remainder(-4))  # fmt: skip

    a, b = torch.randint(-50, 50, (40,)), torch.randint(1, 9, (40,)) * (1 - 2 * torch.randint(0, 2, (40,)))
    return Of(function), (a, b, torch.randint(-9, 9, (40,), dtype=torch.int32))


@case(("f32",))
def integers_at_their_ends():
    """Of 32 bits: quotients whose multiples wrap around, numbers that no such integer is, the least without a size."""

    def function(a, b):
        return (
            a // b, torch.div(a, b, rounding_mode="trunc"), torch.fmod(a, b), torch.remainder(a, b), a // 7,
            a + 2**31, a - (2**31 + 5), a.pow(0), (a.float() * 1e-9).pow(0),
        )  # fmt: skip

    ends = [-(2**31), -(2**31) + 1, -2_000_000_000, -16_777_217, -7, 0, 5, 16_777_217, 2_000_000_000, 2**31 - 1]
    by = [5, 7, 1_500_000_000, -1, 3, 2, -3, 1, -3, 2**31 - 1]
    return Of(function), (torch.tensor(ends, dtype=torch.int32), torch.tensor(by, dtype=torch.int32))


@case(("f32",))
def integer_powers():
    """Exact where they fit, and around where they do not; of what is negative the whole part."""

    def function(a, b, c):
        return 10**a, 3**a, (-2) ** a, b**a, c.pow(c.abs() % 23), b.pow(70), (b.to(torch.int32)) ** 31, (b - 1) ** b

    a = torch.tensor([0, 1, 2, 15, 18, 31, 33, 35, 40, 63, 64, 65, 100, 1000, 0, 7])
    b = torch.tensor([0, 1, -1, 7, 11, -3, 5, 3, 2, -2, 6, 10, -7, 1, -1, -5])
    return Of(function), (a, b, torch.arange(-40, 40))


ROWS = Dim("rows", min=2, max=64)


@case(("f32",), dynamic={"x": {0: 2 * ROWS}, "y": {0: ROWS}})
def sizes_that_follow_from_others():
    class Halves(nn.Module):
        def forward(self, x, y):
            return x.reshape(2, -1, 3).sum(0) * y

    return Halves(), (random(8, 3), random(4, 3))


@case()
def cache_that_is_written():
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.project = nn.Linear(12, 12)
            self.register_buffer("keys", torch.zeros(2, 16, 12))
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))

        def forward(self, x, place):
            y = self.project(x)
            self.keys.index_copy_(1, place, y)
            self.keys[:, 0] = y[:, 0] * 2
            self.keys[..., 3:5].mul_(0.5)
            self.count.add_(x.shape[1])
            scores = (y @ self.keys.transpose(1, 2)).masked_fill(torch.arange(16) > place.max(), float("-inf"))
            return scores.softmax(-1) @ self.keys

    return Cache(), (random(2, 3, 12), torch.tensor([4, 5, 6]))


@case(("f32",))
def inputs_that_are_written():
    def function(x, y):
        x.mul_(2)
        row = x[1]
        row.add_(y)
        x.t()[2:4].fill_(7.0)
        view = x.view(-1)
        view[::5] = -1.0
        y.copy_(row * 3)
        return x.sum() + row.sum()

    return Of(function), (random(4, 6), random(6))


@case(dynamic={"x": {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, "n": None})
def dynamic_batch_and_length():
    class Dynamic(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = nn.Linear(12, 36), nn.Linear(12, 12)

        def forward(self, x, n):
            batch, length, _ = x.shape
            q, k, v = self.inner(x).view(batch, length, 3, 2, 6).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, 12)
            both = torch.cat([x, self.outer(y)], 1) * n
            position = torch.arange(length)[:, None] * length
            return both, both.mean(1), position + batch, x.reshape(-1, 12).amax(0), length * 2

    return Dynamic(), (random(3, 5, 12), torch.tensor(1.5))


@case(("f32",))
def ordering():
    def function(x, i):
        values, places = x[1:].topk(3)  # without equal ones, whose order is nobody's
        down, order = x.sort(dim=0, descending=True, stable=True)
        least, at = x.min(1)
        chosen = torch.gather(x, 1, i)
        put = x.scatter(1, i, -chosen).scatter(1, i[:, :1], 9.0)
        return (values, places, down, order, least, at, x.argmax(0), chosen, put, x.scatter_add(1, i, chosen), x.cumsum(1),
                x.index_add(0, i[:2, 0], chosen.new_ones(2, 8)), F.one_hot(i, 8), x.index_select(1, i[0]), x.flip(0, 1),
                x.roll(3, 1), x.tril(-1), x.triu(2), torch.where(x > 0, x, 0.5), x.norm(), x.var(0), x.std(), x.logsumexp(1),
                x.argsort(1), x.prod(0), x.any(1), (x > -9).all(), torch.bucketize(x, x.new_tensor([-1, 0, 0.5])),
                torch.stack([x, -x], 1), x.unfold(1, 3, 2), x.diagonal(1), x.repeat(2, 1), torch.cat([x, x[:1]]))  # fmt: skip

    x = random(6, 8)
    x[0, 2:5] = 0.25  # equal ones
    x[1, 3] = float("nan")
    return Of(function), (x, torch.stack([torch.randperm(8)[:4] for _ in range(6)]))


@case()
def einsums():
    def function(a, b, c):
        return (torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bjk,kl->il", a, b, c), torch.einsum("bij->ji", a),
                torch.einsum("bii->bi", a[:, :4, :4]), torch.einsum("...j,jk", a, b[0]), torch.einsum("i,j->ij", c[0], c[:, 0]),
                a @ b, torch.matmul(a, b[0, :, 0]), torch.baddbmm(a @ b, a, b, alpha=0.5), torch.outer(c[0], c[1]))  # fmt: skip

    return Of(function), (random(3, 4, 5) / 2, random(3, 5, 6) / 2, random(6, 7) / 2)


@case()
def recurrent_cells():
    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru, self.lstm = nn.GRUCell(6, 8), nn.LSTMCell(6, 8)

        def forward(self, x):
            h = x.new_zeros(x.shape[1], 8)
            state = (h, h)
            for step in x.unbind(0):
                h = self.gru(step, h)
                state = self.lstm(step, state)
            return h, state

    return Cells(), (random(4, 3, 6),)


@case(("f32", "bf16", "f16", "f64"))
def elementwise():
    def function(x, y):
        p = x.abs() + 0.5
        return (x.exp(), p.log(), x.sin(), x.cos(), p.sqrt(), p.rsqrt(), x.sigmoid(), x.tanh(), x.erf(), x / p, 1 / p, x - 2 * y,
                x.floor(), x.ceil(), x.round(), x.trunc(), x // 0.7, x % 0.7, torch.fmod(x, 0.7), p**1.7, p**y, x**3, p**-2, 2**x,
                F.softplus(x), F.elu(x), F.leaky_relu(x, 0.1), F.hardswish(x), F.mish(x), F.logsigmoid(x), F.glu(x[:, 1:]), F.prelu(x, x.new_full((33,), 0.2)), x.clamp(-0.5, 0.5),
                torch.maximum(x, y), torch.minimum(x, y), x.lerp(y, 0.25), torch.addcmul(x, x, y, value=0.5), x.square(),
                F.softmax(x, 0), F.log_softmax(x, 1), x.mean(), x.sum(0), F.mse_loss(x, y), p.log1p(), p.log2())  # fmt: skip

    return Of(function), (random(5, 33), random(5, 33))


@case(("f32",))
def what_is_not_finite():
    def function(x):
        return (x.relu(), x.clamp(-1, 1), torch.maximum(x, x.flip(0)), torch.minimum(x, x.flip(0)), x.isnan(), x.isinf(),
                x.isfinite(), x.abs(), x.floor(), x.round(), x > 0, x == x, x != x, x <= 1, x.sigmoid(), x.nan_to_num(), x.max(),
                x.amin(), x.argmax(), x.sort()[0], F.softmax(x[:4], 0), torch.where(x > 0, x, -x), x.masked_fill(x.isnan(), 2.0), x.exp())  # fmt: skip

    return Of(function), (torch.tensor([1.0, -2.5, 0.0, float("-inf"), 3.5, float("inf"), float("nan"), -0.5]),)


@case(("f32",))
def promotion():
    def function(f, h, i, b, z):
        return (f + i, h + i, h + f[0], h * 1.5, i + 1.5, i * True, b + 1, b + b, i / 2, z + i, h + z, i + z, b * f, f > i, f.double() + h,
                torch.where(b, i, 0.5), i.clamp(0, 2.5), b.sum(), b.to(torch.int32) + b, h.to(torch.float16) + h, torch.cat([i, f]),
                i.float().to(torch.bfloat16), i.pow(2), i.pow(2.0), b.any(), f.to(torch.int64), (f * 100).to(torch.bool))  # fmt: skip

    i = torch.arange(-3, 3)
    return Of(function), (random(6), random(6).to(torch.bfloat16), i, i > 0, torch.tensor(2.25, dtype=torch.float64))


@case(("f32",), dynamic={"x": {0: Dim("rows", min=2, max=50)}, "options": {"bias": None, "many": [None, None]}, "times": None, "name": None})
def trees_and_constants():
    class Trees(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.tensor([[0.5, 1.5, -2.0]])
            self.register_buffer("steps", torch.arange(3), persistent=False)

        def forward(self, x, options, times, name):
            with torch.no_grad():
                z = x * self.table + torch.tensor([1, 2, 3])
            return {"z": (z * times, x.shape[0]), "sum": options["bias"] + self.steps, "list": [options["many"][1], None, x]}

    options = {"bias": random(3), "many": [random(2), torch.tensor([True, False])]}
    return Trees(), (random(4, 3), options, 3, "unused")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.RMSNorm(width, eps=1e-5), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gate, self.up, self.down = nn.Linear(width, 40), nn.Linear(width, 40), nn.Linear(40, width)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.inner(self.norm1(x)).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        turned = torch.cat([-k[..., 1::2], k[..., ::2]], -1)
        y = F.scaled_dot_product_attention(q, k + 0.1 * turned, v, is_causal=True)
        x = x + self.outer(y.transpose(1, 2).reshape(b, s, d))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * F.gelu(self.up(y)))


@case(dynamic={"tokens": {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}})
def transformer_of_two_layers():
    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.blocks = nn.Embedding(50, 32), nn.ModuleList(Block(32, 4) for _ in range(2))
            self.norm = nn.LayerNorm(32)

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x)
            return self.norm(x) @ self.embed.weight.t()

    return Transformer(), (torch.randint(0, 50, (2, 11)),)


try:
    import transformers
except ImportError:
    print("without transformers: its models are left out")
else:
    SIZES = dict(vocab_size=60, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=64, attn_implementation="sdpa", use_cache=False)  # fmt: skip

    class First(nn.Module):
        """The first of what a model gives, its logits or its last states."""

        def __init__(self, model):
            super().__init__()
            self.model = model.eval()

        def forward(self, x):
            return self.model(x)[0]

    @case(("f32",))
    def llama_of_transformers():
        return First(transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))), (torch.randint(0, 60, (2, 9)),)

    @case(("f32",))
    def experts_of_transformers():
        config = transformers.Qwen3MoeConfig(**SIZES, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
        return First(transformers.Qwen3MoeForCausalLM(config)), (torch.randint(0, 60, (2, 9)),)

    @case(("f32",))
    def vision_of_transformers():
        config = transformers.ViTConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=4)
        return First(transformers.ViTModel(config)), (random(2, 3, 16, 16),)
