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

template <Binary kFunction, Numbers kNumbers = Numbers::kRounded>
Result plain_binary(Call& c) {
  return elementwise(
      c, {"self", "other"}, [](const auto& x) { return kFunction(x[0], x[1]); }, false, kNumbers);
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
  const auto dtype = c.result_dtype({a, b});
  return elementwise(c, {a, b}, [&](const auto& x) {
    const bool is_plain = !c.has("alpha") || c.known_number("alpha") == 1;
    const auto scaled = is_plain ? x[1] : x[1] * widened(c.operand("alpha", dtype));
    return is_difference ? x[0] - scaled : x[0] + scaled;
  });
}
Result add(Call& c) { return sum_of(c, "self", "other", false); }
Result sub(Call& c) { return sum_of(c, "self", "other", true); }
Result rsub(Call& c) { return sum_of(c, "other", "self", true); }

// self and other as f wants them, in the dtype that f computes in; its result in theirs.
GraphTensor divided(Call& c, DType dtype, DType by, DType inside, Binary f) {
  const auto a = c.operand("self", dtype).cast(inside), b = c.operand("other", by).cast(inside);
  // Integers have divisions too, where torch refuses a divisor that is 0.
  if (!is_floating(dtype)) c.refuse_zero("other", b);
  return f(a, b).cast(dtype);
}
// Whether there is one divisor for all: torch then computes sixteen bits in f32, whatever the
// rounding, and does not round it to them.
bool has_one_divisor(const Call& c) {
  return !c.is_tensor("other") || product(c.tensor("other").shape()).is(1);
}
Result div(Call& c) {
  const auto dtype = c.floating_of(c.result_dtype({"self", "other"})), wide = wide_of(dtype);
  return divided(c, dtype, has_one_divisor(c) ? wide : dtype, wide,
                 [](const auto& a, const auto& b) { return a / b; });
}
// The remainder with the dividend's sign.
GraphTensor remainder_like_dividend(const GraphTensor& a, const GraphTensor& b) {
  const auto is_below = less(a, a.like(0));
  if (is_floating(a.dtype())) {
    const auto size = mod(select(is_below, -a, a), absolute(b));
    return select(is_below, -size, size);
  }
  // Of integers by the other sign's: the size of the least of them is none of them.
  const auto rest = mod(a, b);
  const auto is_other = differs(is_below, less(b, b.like(0))) * nonzero(rest);
  return select(is_other, rest - b, rest);
}
// Of floating point as torch has it, rounding for rounding: without its remainder, which is exact,
// the dividend is nearly a multiple, and the quotient nearly whole.
GraphTensor floor_quotient(const GraphTensor& a, const GraphTensor& b) {
  if (!is_floating(a.dtype())) return integer_quotient(a, b);
  const auto zero = a.like(0), plain = a / b, rest = remainder_like_dividend(a, b);
  const auto is_below = differs(less(b, zero), less(rest, zero)) * nonzero(rest);
  const auto towards_zero = (a - rest) / b;
  const auto near = select(is_below, towards_zero - 1.0, towards_zero);
  const auto down = rounded_down(near);
  const auto whole = select(less(a.like(0.5), near - down), down + 1.0, down);
  // A zero has the quotient's sign. What is infinite is no multiple: NaN.
  const auto is_nonzero = less(near, zero) + less(zero, near);
  return select(nonzero(b), select(is_nonzero, whole, plain * 0.0), plain);
}
GraphTensor whole_quotient(const GraphTensor& a, const GraphTensor& b) {
  if (is_floating(a.dtype())) return rounded_to_zero(a / b);
  const auto down = integer_quotient(a, b);
  const auto is_up = less(down, down.like(0)) * differs(down * b, a);
  return select(is_up, down + 1.0, down);
}
// By many divisors sixteen bits are rounded to at every step.
Result whole_division(Call& c, Binary f) {
  const auto dtype = c.result_dtype({"self", "other"});
  const auto inside = has_one_divisor(c) ? wide_of(dtype) : dtype;
  return divided(c, dtype, inside, inside, f);
}
Result div_mode(Call& c) {
  const auto mode = c.text("rounding_mode", "");
  if (mode.empty()) return div(c);
  if (mode != "floor" && mode != "trunc") fail("rounding mode '{}'", mode);
  return mode == "floor" ? whole_division(c, floor_quotient) : whole_division(c, whole_quotient);
}
Result floor_divide(Call& c) { return whole_division(c, floor_quotient); }
Result rest_of(Call& c, Binary f) {
  const auto dtype = c.result_dtype({"self", "other"});
  return divided(c, dtype, dtype, wide_of(dtype), f);
}
Result fmod(Call& c) { return rest_of(c, remainder_like_dividend); }
Result remainder(Call& c) { return rest_of(c, mod); }

Result power(Call& c) {
  return elementwise(c, {"self", "exponent"}, [&](const auto& x) {
    const auto known = c.known_number("exponent");
    const auto simple = known ? raised_simply(x[0], *known) : std::nullopt;
    return simple ? *simple : raised(x[0], x[1]);
  });
}

GraphTensor negative(const GraphTensor& x) { return -x; }
// Without the sign of −0.
GraphTensor magnitude(const GraphTensor& x) {
  return is_floating(x.dtype()) ? absolute(x) + 0.0 : absolute(x);
}
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
  return select(is_up, -(-down - 1.0), down);  // of −1 it is −0
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
// self + value · a · b, or value · a / b.
Result addc(Call& c, bool divides) {
  return elementwise(c, {"self", "tensor1", "tensor2"}, [&](const auto& x) {
    const auto scaled = times_number(c, x[1], "value");
    return x[0] + (divides ? scaled / x[2] : scaled * x[2]);
  });
}
Result lerp(Call& c) {
  return elementwise(
      c, {"self", "end", "weight"}, [](const auto& x) { return x[0] + x[2] * (x[1] - x[0]); },
      false, Numbers::kWide);
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
    {"aten.abs.default", plain_unary<magnitude>},
    {"aten.add.Scalar", add},
    {"aten.add.Tensor", add},
    {"aten.addcdiv.default", [](Call& c) { return addc(c, true); }},
    {"aten.addcmul.default", [](Call& c) { return addc(c, false); }},
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
    {"aten.mul.Scalar", plain_binary<operator*, Numbers::kWide>},
    {"aten.mul.Tensor", plain_binary<operator*, Numbers::kWide>},
    {"aten.multiply.Tensor", plain_binary<operator*, Numbers::kWide>},
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
