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
#include "models/pt2/aten/power.h"
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
    const auto scaled = times_number(c, x[1], "alpha");
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
// Of floating point in f64, so that the quotient is on the right side of whole numbers.
GraphTensor floor_quotient(const GraphTensor& a, const GraphTensor& b) {
  if (!is_floating(a.dtype())) return integer_quotient(a, b);
  const auto x = a.cast(DType::kF64), y = b.cast(DType::kF64);
  // The remainder is exact; without it the quotient is whole but for rounding.
  const auto near = (x - mod(x, y)) / y;
  const auto whole =
      select(less(absolute(near), near.like(0x1p51)), rounded_down(near + 0.5), near);
  // By 0 and by infinity it is none: infinite, and 0 or, where signs differ, −1.
  const auto is_below = differs(less(x, x.like(0)), less(y, y.like(0))) * nonzero(x);
  const auto far = rounded_down(x / y - select(is_below, x.like(0.5), x.like(0)));
  const auto has_rest = nonzero(y) * less(absolute(y), y.like(INFINITY));
  return select(has_rest, whole, far).cast(a.dtype());
}
GraphTensor whole_quotient(const GraphTensor& a, const GraphTensor& b) {
  if (is_floating(a.dtype())) {
    return rounded_to_zero(a.cast(DType::kF64) / b.cast(DType::kF64)).cast(a.dtype());
  }
  const auto down = integer_quotient(a, b);
  const auto is_up = less(down, down.like(0)) * differs(down * b, a);
  return select(is_up, down + 1.0, down);
}
// Divisions that integers have too, where torch refuses a divisor that is 0.
Result whole_division(Call& c, Binary function) {
  return elementwise(c, {"self", "other"}, [&](const auto& x) {
    if (!is_floating(x[1].dtype())) c.refuse_zero("other", x[1]);
    return function(x[0], x[1]);
  });
}
Result div_mode(Call& c) {
  const auto mode = c.text("rounding_mode", "");
  if (mode.empty()) return div(c);
  if (mode != "floor" && mode != "trunc") fail("rounding mode '{}'", mode);
  return mode == "floor" ? whole_division(c, floor_quotient) : whole_division(c, whole_quotient);
}
Result floor_divide(Call& c) { return whole_division(c, floor_quotient); }
// The remainder with the dividend's sign.
GraphTensor remainder_like_dividend(const GraphTensor& a, const GraphTensor& b) {
  if (is_floating(a.dtype())) {
    const auto size = mod(absolute(a), absolute(b));
    return select(less(a, a.like(0)), -size, size);
  }
  // Of integers by the other sign's: the size of the least of them is none of them.
  const auto rest = mod(a, b);
  const auto is_other = differs(less(a, a.like(0)), less(b, b.like(0))) * nonzero(rest);
  return select(is_other, rest - b, rest);
}
Result fmod(Call& c) { return whole_division(c, remainder_like_dividend); }
Result remainder(Call& c) { return whole_division(c, mod); }

Result power(Call& c) {
  return elementwise(c, {"self", "exponent"}, [&](const auto& x) {
    const auto known = c.known_number("exponent");
    const auto simple = known ? raised_simply(x[0], *known) : std::nullopt;
    return simple ? *simple : raised(x[0], x[1]);
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
    return x[0] + times_number(c, divides ? x[1] / x[2] : x[1] * x[2], "value");
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
    {"aten.div.Tensor_mode", div_mode},
    {"aten.erf.default", floating_unary<erf_of>},
    {"aten.erfc.default", floating_unary<erfc_of>},
    {"aten.exp.default", floating_unary<exp>},
    {"aten.exp2.default", floating_unary<exp2>},
    {"aten.expm1.default", floating_unary<expm1>},
    {"aten.floor.default", rounding<rounded_down>},
    {"aten.floor_divide.default", floor_divide},
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
    {"aten.remainder.Scalar", remainder},
    {"aten.remainder.Tensor", remainder},
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
