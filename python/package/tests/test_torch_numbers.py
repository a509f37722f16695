# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of Python beside tensors of sixteen bits, where torch rounds some of them: torch.compile(…, backend="assay")."""

import pytest

torch = pytest.importorskip("torch", reason="no module torch: `make peers` installs it")

FUNCTIONS = {
    "remainder": lambda x, s: x % s, "fmod": torch.fmod, "floor_divide": torch.floor_divide,
    "quotient": lambda x, s: x / s, "product": lambda x, s: x * s, "sum": lambda x, s: x + s, "difference": lambda x, s: x - s,
    "taken_from": lambda x, s: s - x, "share_of_sum": lambda x, s: torch.add(x, x, alpha=s),
    "floor": lambda x, s: torch.div(x, s, rounding_mode="floor"),
    "equal": lambda x, s: x == s, "differs": lambda x, s: x != s, "less": lambda x, s: x < s, "at_most": lambda x, s: x <= s,
    "greater": lambda x, s: x > s, "at_least": lambda x, s: x >= s, "clamp": lambda x, s: x.clamp(-s, s),
    "chosen": lambda x, s: torch.where(x > 0, x, s), "between": lambda x, s: torch.lerp(x, x.flip(0), s),
}

# What the compiler computes by other operations, rounded to the same in all but a few places.
NEAR = ("quotient", "share_of_sum", "between")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_are_rounded_where_torch_rounds_them(name, dtype):
    torch.manual_seed(3)
    for number in (0.3, 1.7, 3.3):
        torch._dynamo.reset()  # or torch takes a number that changes for a tensor
        near = torch.tensor(number, dtype=dtype)
        x = torch.cat([(8 * torch.randn(500)).to(dtype), near[None], torch.nextafter(near, 9 * near)[None], torch.nextafter(near, -near)[None]])
        expected = FUNCTIONS[name](x, number)
        got = torch.compile(lambda x: FUNCTIONS[name](x, number), backend="assay", fullgraph=True)(x)  # noqa: B023
        assert got.dtype == expected.dtype
        if name in NEAR:
            torch.testing.assert_close(got, expected, rtol=torch.finfo(dtype).eps, atol=0)
            assert (got != expected).sum() <= len(x) // 20
        else:
            assert torch.equal(got, expected), (number, x[got != expected][:5], got[got != expected][:5])
