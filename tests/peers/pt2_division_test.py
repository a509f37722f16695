# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Quotients and remainders of torch's programs against torch itself, bit for bit: every dtype, tensors and numbers; values of
all sizes, exact multiples, both zeros, infinities, NaN and what is below the normal numbers."""

import math
import os
import subprocess
import sys
import unittest
import warnings

ROOT, PROVIDER, FOLDER, ASSAY, COUNT = sys.argv[1:6]
sys.argv[1:6] = []
sys.path.insert(0, os.path.join(ROOT, "tests/peers"))
import torch  # noqa: E402
from pt2_modules import Of  # noqa: E402
from tensor_files import load_file, save_file  # noqa: E402

warnings.filterwarnings("ignore")
COUNT = int(COUNT)  # of each kind of values
FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
NUMBERS = [0.1, -0.1, 3.0, -49.0, 7.3, 1e-5, 0.5, 8, 0.0, -0.0, math.inf, -math.inf, math.nan]
QUOTIENTS = {
    "div": torch.div, "floor_divide": torch.floor_divide, "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}  # fmt: skip
RESTS = {"fmod": torch.fmod, "remainder": torch.remainder}


def edges(dtype):
    of = torch.finfo(dtype)
    sizes = [0.0, 1.0, 0.1, 0.5, 3.0, 7.0, 49.0, math.inf, of.max, of.smallest_normal, of.smallest_normal / 4, of.eps]
    return torch.tensor([*sizes, *(-size for size in sizes), math.nan], dtype=torch.float64).to(dtype)


def values(dtype, random):
    """Any bits at all, numbers near 0, whole numbers, and edges."""
    bits = BITS[dtype.itemsize]
    any_bits = torch.randint(torch.iinfo(bits).min, torch.iinfo(bits).max, (COUNT,), generator=random, dtype=torch.int64)
    near = torch.randn(COUNT, generator=random, dtype=torch.float64) * 10
    whole = torch.randint(-60, 60, (COUNT,), generator=random)
    some = edges(dtype)[torch.randint(0, len(edges(dtype)), (COUNT,), generator=random)]
    return torch.cat([any_bits.to(bits).view(dtype), near.to(dtype), whole.to(dtype), some])


def pairs(dtype):
    random = torch.Generator().manual_seed(11)
    a, b = values(dtype, random), values(dtype, random)
    mixed = b[torch.randperm(len(b), generator=random)]
    multiples = b * torch.randint(-100, 100, b.shape, generator=random).to(dtype)
    left, right = torch.cartesian_prod(edges(dtype), edges(dtype)).T
    return torch.cat([a, a, multiples, b, left]), torch.cat([b, mixed, b, b, right])


def have_a_rest(a, b):
    """Where torch's own loops agree: by vectors a remainder is NaN where the quotient overflows, one by one it is exact."""
    wide = torch.promote_types(a.dtype, torch.float32)
    a, b = a.to(wide), torch.as_tensor(b, dtype=a.dtype).to(wide)
    return (a / b).isfinite() | ~a.isfinite() | ~b.isfinite() | (b == 0)


class DivisionTest(unittest.TestCase):
    def check(self, function, *inputs, where=None):
        """What a function's archive gives, a dict of tensors, is what the function does."""
        archive, given, out = (os.path.join(FOLDER, name) for name in ("module.pt2", "in.safetensors", "out.safetensors"))
        torch.export.save(torch.export.export(Of(function), inputs), archive)
        save_file({f"arguments_{i}": x for i, x in enumerate(inputs)}, given)
        result = subprocess.run([ASSAY, "compile", archive, "--run", "--inputs", given, "--out", out], capture_output=True,
                                text=True, timeout=600, env={**os.environ, "XDG_CACHE_HOME": FOLDER})  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        got = load_file(out)
        for name, want in function(*inputs).items():
            mine = got.pop(f"output.{name}")
            self.assertEqual((mine.dtype, mine.shape), (want.dtype, want.shape), name)
            differ = ~((mine == want) | (mine.isnan() & want.isnan()))
            differ |= (mine.signbit() != want.signbit()) & ~want.isnan()
            if where and name in where:
                differ &= where[name]
            at = differ.nonzero().flatten()[:3].tolist()
            first = [([x[i].item() for x in inputs], "is", mine[i].item(), "not", want[i].item()) for i in at]
            self.assertEqual(first, [], (name, want.dtype, int(differ.sum())))
        self.assertEqual(got, {})

    def test_tensors(self):
        for dtype in FLOATING:
            a, b = pairs(dtype)
            self.check(lambda a, b: {name: f(a, b) for name, f in (QUOTIENTS | RESTS).items()}, a, b,
                       where=dict.fromkeys(RESTS, have_a_rest(a, b)))  # fmt: skip

    def test_numbers(self):
        for dtype in FLOATING:
            a = values(dtype, torch.Generator().manual_seed(12))
            for number in NUMBERS:
                where = dict.fromkeys(RESTS, have_a_rest(a, number))
                self.check(lambda a, by=number: {name: f(a, by) for name, f in (QUOTIENTS | RESTS).items()}, a, where=where)

    def test_tensors_that_are_one_number(self):
        for dtype in FLOATING:
            a = values(dtype, torch.Generator().manual_seed(13))

            def divided(a):
                of_f32 = torch.full((), 0.1, dtype=torch.float32)  # without axes: a is what decides the dtype
                own = torch.full((1,), 0.1, dtype=a.dtype)
                return {"f32": a / of_f32, **{name: f(a, own) for name, f in QUOTIENTS.items()}, "over": 0.1 / a}

            self.check(divided, a)

    def test_whole_numbers(self):
        random = torch.Generator().manual_seed(14)
        for dtype in (torch.int32, torch.int64):
            of = torch.iinfo(dtype)
            some = torch.randint(of.min, of.max, (COUNT,), generator=random, dtype=dtype)
            few = torch.randint(-60, 60, (COUNT,), generator=random, dtype=dtype)
            a, b = torch.cat([some, few, some, few]), torch.cat([few, some, some.flip(0), few.flip(0)])
            self.check(lambda a, b: {"tensors": a / b, "number": a / 49, "f64": a.double() / b.double()}, a, b)

    def test_what_is_made_of_quotients(self):
        def made(a):
            whole = (torch.trunc, torch.floor, torch.ceil, torch.round, torch.frac)
            return {"one": (a / a).floor(), "reciprocal": 1 / a, "size": 1 / a.abs(), "addcdiv": torch.addcdiv(a, a, a.sign() * 3, value=0.7),
                    "mean": a.unsqueeze(1).expand(-1, 49).clone().clamp(-1, 1).round().mean(1), **{f.__name__: f(a) for f in whole}}  # fmt: skip

        for dtype in FLOATING[:2]:
            self.check(made, values(dtype, torch.Generator().manual_seed(15)))


if __name__ == "__main__":
    unittest.main()
