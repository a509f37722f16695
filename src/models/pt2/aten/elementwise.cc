// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of each element.
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "models/pt2/aten/erf.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

using Binary = GraphTensor (*)(const GraphTensor&, const GraphTensor&);

template <Binary kFunction>
Result plain_binary(Call& c) {
  return elementwise(c, {"self", "other"}, [](const auto& x) { return kFunction(x[0], x[1]); });
}
// Integers are whole already.
template <Unary kFunction>
Result rounding(Call& c) {
  return elementwise(c, {"self"}, [](const auto& x) {
    return is_floating(x[0].dtype()) ? kFunction(x[0]) : x[0];
  });
}

// self + alpha · other
Result sum_of(Call& c, std::string_view a, std::string_view b, bool is_difference) {
  return elementwise(c, {a, b}, [&](const auto& x) {
    const auto alpha =
        c.has("alpha") ? number_value(c.graph(), c.scalar("alpha"), x[1].dtype()) : x[1].like(1);
    const bool is_one = !c.has("alpha") || c.number("alpha") == 1;
    const auto scaled = is_one ? x[1] : x[1] * alpha;
    return is_difference ? x[0] - scaled : x[0] + scaled;
  });
}
Result add(Call& c) { return sum_of(c, "self", "other", false); }
Result sub(Call& c) { return sum_of(c, "self", "other", true); }
Result rsub(Call& c) { return sum_of(c, "other", "self", true); }

GraphTensor quotient(const GraphTensor& a, const GraphTensor& b) { return a / b; }
Result div(Call& c) {
  return elementwise(
      c, {"self", "other"}, [](const auto& x) { return quotient(x[0], x[1]); }, true);
}
// In f64, so that the quotient is on the right side of whole numbers.
GraphTensor rounded_quotient(const GraphTensor& a, const GraphTensor& b, bool is_floor) {
  if (a.dtype() == DType::kI32) {  // a multiple of b beside a may be none of them
    return rounded_quotient(a.cast(DType::kI64), b.cast(DType::kI64), is_floor).cast(DType::kI32);
  }
  if (!is_floating(a.dtype())) {
    const auto down = integer_quotient(a, b);
    if (is_floor) return down;
    const auto is_up = less(down, down.like(0)) * logical_not(equal(down * b, a));
    return select(is_up, down + 1.0, down);
  }
  const auto x = a.cast(DType::kF64), y = b.cast(DType::kF64);
  if (!is_floor) return rounded_to_zero(x / y).cast(a.dtype());
  // The remainder is exact; without it the quotient is whole but for rounding.
  const auto near = (x - mod(x, y)) / y;
  return select(less(absolute(near), near.like(0x1p51)), rounded_down(near + 0.5), near)
      .cast(a.dtype());
}
Result div_mode(Call& c) {
  const auto mode = c.text("rounding_mode", "");
  if (mode.empty()) return div(c);
  if (mode != "floor" && mode != "trunc") fail("rounding mode '{}'", mode);
  return elementwise(c, {"self", "other"},
                     [&](const auto& x) { return rounded_quotient(x[0], x[1], mode == "floor"); });
}
Result floor_divide(Call& c) {
  return elementwise(c, {"self", "other"},
                     [](const auto& x) { return rounded_quotient(x[0], x[1], true); });
}
Result fmod(Call& c) {
  // With the dividend's sign.
  return elementwise(c, {"self", "other"}, [](const auto& x) {
    const auto dtype =
        x[0].dtype() == DType::kI32 ? DType::kI64 : x[0].dtype();  // −2^31 has no size
    const auto a = x[0].cast(dtype), b = x[1].cast(dtype);
    const auto size = mod(absolute(a), absolute(b));
    return select(less(a, a.like(0)), -size, size).cast(x[0].dtype());
  });
}

// x^n by squaring.
GraphTensor whole_power(const GraphTensor& x, std::int64_t n) {
  if (n == 0) return x.like(1).broadcast_to(x.shape());
  auto result = x.like(1), square = x;
  bool is_first = true;
  for (auto left = n; left > 0; left /= 2) {
    if (left % 2 == 1) result = is_first ? square : result * square;
    if (left % 2 == 1) is_first = false;
    if (left > 1) square = square * square;
  }
  return result;
}
// Of integers, which wrap around: by squaring, as far as the exponent's lower sixteen bits go. From
// there on 0 and ±1 stay what they are, and even numbers are 0.
GraphTensor integer_power(const GraphTensor& base, const GraphTensor& exponent) {
  constexpr int kBits = 16;
  const auto is_odd_of = [](const GraphTensor& n) { return equal(mod(n, n.like(2)), n.like(1)); };
  const auto is_odd = is_odd_of(exponent);
  const auto one = base.like(1), zero = base.like(0);
  const auto most = select(is_odd, exponent.like(0xFFFF), exponent.like(0xFFFE));
  auto left = max(min(exponent, most), exponent.like(0)).cast(DType::kF64);
  auto power = select(is_odd_of(left), base, one), square = base;
  for (int bit = 1; bit < kBits; ++bit) {
    square = square * square;
    left = rounded_down(left * 0.5);
    power = select(is_odd_of(left), power * square, power);
  }
  // Of 1/x the whole part.
  const auto of_minus_one = select(is_odd, -one, one);
  const auto inverse = select(equal(base, one), one, select(equal(base, -one), of_minus_one, zero));
  return select(less(exponent, exponent.like(0)), inverse, power);
}
// In f64: the logarithm's error counts as often as the exponent says.
GraphTensor general_power(const GraphTensor& base, const GraphTensor& exponent) {
  if (!is_floating(base.dtype())) return integer_power(base, exponent);
  const auto x = base.cast(DType::kF64), y = exponent.cast(DType::kF64);
  const auto size = exp2(y * log2(absolute(x)));
  const auto is_whole = equal(rounded_down(y), y), is_odd = equal(mod(y, y.like(2)), y.like(1));
  const auto negative = select(is_whole, select(is_odd, -size, size), size.like(NAN));
  const auto power = select(less(x, x.like(0)), negative, size);
  const auto one = equal(y, y.like(0)) + equal(x, x.like(1));
  return select(one, power.like(1), power).cast(base.dtype());
}
Result power(Call& c) {
  constexpr double kMostFactors = 64;
  return elementwise(c, {"self", "exponent"}, [&](const auto& x) {
    const bool is_number = !c.is_tensor("exponent");
    const auto scalar = is_number ? c.scalar("exponent") : Number(false);
    const auto* symbol = std::get_if<Dim>(&scalar);
    if (!is_number || (symbol != nullptr && !symbol->constant())) return general_power(x[0], x[1]);
    const double n = c.number("exponent");
    if (n == 0.5) return sqrt(x[0]);
    if (n == -0.5) return recip(sqrt(x[0]));
    if (n == std::floor(n) && std::abs(n) <= kMostFactors) {
      const auto size = whole_power(x[0], static_cast<std::int64_t>(std::abs(n)));
      if (n >= 0) return size;
      if (is_floating(x[0].dtype())) return recip(size);
    }
    return general_power(x[0], x[1]);
  });
}

GraphTensor negative(const GraphTensor& x) { return -x; }
GraphTensor sign(const GraphTensor& x) {
  if (x.dtype() == DType::kBool) return x;
  const auto zero = x.like(0);
  const auto of = less(zero, x).cast(x.dtype()) - less(x, zero).cast(x.dtype());
  return is_floating(x.dtype()) ? select(is_nan(x), zero, of) : of;
}
GraphTensor ceiling(const GraphTensor& x) { return -rounded_down(-x); }
GraphTensor rounded_to_even(const GraphTensor& x) {
  const auto down = rounded_down(x);
  const auto rest = x - down;  // exact
  const auto half = x.like(0.5);
  const auto is_up = less(half, rest) + equal(rest, half) * nonzero(mod(down, x.like(2)));
  return select(is_up, down + 1.0, down);
}
GraphTensor fraction(const GraphTensor& x) { return x - rounded_to_zero(x); }
Result round(Call& c) {
  if (c.integer("decimals", 0) != 0) fail("round to decimals");
  return rounding<rounded_to_even>(c);
}

GraphTensor log10_of(const GraphTensor& x) {
  return log2(x) * (std::numbers::ln2 / std::numbers::ln10);
}
GraphTensor tangent(const GraphTensor& x) { return sin(x) / cos(x); }
GraphTensor hyperbolic_cosine(const GraphTensor& x) { return (exp(x) + exp(-x)) * 0.5; }
GraphTensor hyperbolic_sine(const GraphTensor& x) { return tanh(x) * hyperbolic_cosine(x); }
GraphTensor reciprocal_root(const GraphTensor& x) { return recip(sqrt(x)); }
GraphTensor square(const GraphTensor& x) { return x * x; }
// Bounds take part in promotion; integers stay exact.
Result clamp(Call& c) {
  std::vector<std::string_view> names{"self"};
  if (c.has("min")) names.push_back("min");
  if (c.has("max")) names.push_back("max");
  return elementwise(c, names, [&](const auto& x) {
    auto result = x[0];
    std::size_t next = 1;
    if (c.has("min")) result = max(result, x[next++]);
    if (c.has("max")) result = min(result, x[next]);
    return result;
  });
}
// self + value · a · b, and a / b.
Result addc(Call& c, bool divides) {
  return elementwise(c, {"self", "tensor1", "tensor2"}, [&](const auto& x) {
    const auto product = divides ? x[1] / x[2] : x[1] * x[2];
    return x[0] + (c.has("value") ? product * c.number("value") : product);
  });
}
Result lerp(Call& c) {
  return elementwise(c, {"self", "end", "weight"},
                     [](const auto& x) { return x[0] + x[2] * (x[1] - x[0]); });
}
Result nan_to_num(Call& c) {
  return elementwise(c, {"self"}, [&](const auto& x) {
    const auto& v = x[0];
    if (!is_floating(v.dtype())) return v;
    const auto dtype = c.tensor("self").dtype();
    const double most = dtype == DType::kF64    ? std::numeric_limits<double>::max()
                        : dtype == DType::kF16  ? 65504
                        : dtype == DType::kBF16 ? 0x1.FEp127
                                                : std::numeric_limits<float>::max();
    const auto high = v.like(c.number("posinf", most)), low = v.like(c.number("neginf", -most));
    const auto finite =
        select(equal(v, v.like(INFINITY)), high, select(equal(v, v.like(-INFINITY)), low, v));
    return select(is_nan(v), v.like(c.number("nan", 0)), finite);
  });
}
Result identity(Call& c) { return c.tensor(c.has("self") ? "self" : "input"); }
constexpr auto kElementwise = std::to_array<Operator>({
    {"aten.abs.default", plain_unary<absolute>},
    {"aten.add.Scalar", add},
    {"aten.add.Tensor", add},
    {"aten.addcdiv.default", [](Call& c) {
  return addc(c, true); }},
    {"aten.addcmul.default", [](Call& c) {
  return addc(c, false); }},
    {"aten.ceil.default", rounding<ceiling>},
    {"aten.clamp.Tensor", clamp},
    {"aten.clamp.default", clamp, "integers exactly"},
    {"aten.clamp_max.Tensor", clamp},
    {"aten.clamp_max.default", clamp},
    {"aten.clamp_min.Tensor", clamp},
    {"aten.clamp_min.default", clamp},
    {"aten.cos.default", floating_unary<cos>},
    {"aten.cosh.default", floating_unary<hyperbolic_cosine>},
    {"aten.div.Scalar", div},
    {"aten.div.Scalar_mode", div_mode},
    {"aten.div.Tensor", div},
    {"aten.div.Tensor_mode", div_mode, "integers below 2^52"},
    {"aten.erf.default", floating_unary<erf_of>},
    {"aten.erfc.default", floating_unary<erfc_of>},
    {"aten.exp.default", floating_unary<exp>},
    {"aten.exp2.default", floating_unary<exp2>},
    {"aten.expm1.default", floating_unary<expm1>},
    {"aten.floor.default", rounding<rounded_down>},
    {"aten.floor_divide.default", floor_divide, "integers below 2^52"},
    {"aten.fmod.Scalar", fmod},
    {"aten.fmod.Tensor", fmod},
    {"aten.frac.default", rounding<fraction>},
    {"aten.lerp.Scalar", lerp},
    {"aten.lerp.Tensor", lerp},
    {"aten.log.default", floating_unary<log>},
    {"aten.log10.default", floating_unary<log10_of>},
    {"aten.log1p.default", floating_unary<log1p>},
    {"aten.log2.default", floating_unary<log2>},
    {"aten.maximum.default", plain_binary<max>},
    {"aten.max.other", plain_binary<max>},
    {"aten.min.other", plain_binary<min>},
    {"aten.minimum.default", plain_binary<min>},
    {"aten.mul.Scalar", plain_binary<operator*>},
    {"aten.mul.Tensor", plain_binary<operator*>},
    {"aten.multiply.Tensor", plain_binary<operator*>},
    {"aten.nan_to_num.default", nan_to_num},
    {"aten.neg.default", plain_unary<negative>},
    {"aten.pow.Scalar", power, "through f64; integers wrap, exponents below 65536"},
    {"aten.pow.Tensor_Scalar", power},
    {"aten.pow.Tensor_Tensor", power, "through f64; integers wrap, exponents below 65536"},
    {"aten.reciprocal.default", floating_unary<recip>},
    {"aten.remainder.Scalar", plain_binary<mod>},
    {"aten.remainder.Tensor", plain_binary<mod>},
    {"aten.round.default", round},
    {"aten.rsqrt.default", floating_unary<reciprocal_root>},
    {"aten.rsub.Scalar", rsub},
    {"aten.rsub.Tensor", rsub},
    {"aten.sgn.default", plain_unary<sign>},
    {"aten.sign.default", plain_unary<sign>},
    {"aten.sin.default", floating_unary<sin>},
    {"aten.sinh.default", floating_unary<hyperbolic_sine>},
    {"aten.sqrt.default", floating_unary<sqrt>},
    {"aten.square.default", plain_unary<square>},
    {"aten.sub.Scalar", sub},
    {"aten.sub.Tensor", sub},
    {"aten.tan.default", floating_unary<tangent>},
    {"aten.tanh.default", floating_unary<tanh>},
    {"aten.trunc.default", rounding<rounded_to_zero>},
    {"aten.true_divide.Tensor", div},
    {"aten.positive.default", identity, "", true},
});

}  // namespace

std::span<const Operator> elementwise_operators() { return kElementwise; }

}  // namespace assay::models::pt2
