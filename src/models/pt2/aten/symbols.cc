// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of Python: whole ones, which shapes are made of, and real ones, which runs compute of
// them; what export asserts of both; and what is refused by name.
#include <array>
#include <functional>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/aten/power.h"
#include "models/pt2/operators.h"
#include "models/pt2/tensor_meta.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

// Exported programs hold within the ranges of their symbols, where these are true.
Result asserted(Call&) { return Nothing{}; }

Result asserted_of_tensor(Call& c) {
  c.refuse_false("self", c.text("assert_msg", "what is asserted does not hold"));
  return Nothing{};
}

Result sym_size(Call& c) {
  const auto x = c.tensor("self");
  return x.shape().at(axis_in(c.integer("dim"), x.rank()));
}
Result sym_numel(Call& c) { return product(c.tensor("self").shape()); }

bool is_whole(const Number& number) { return std::holds_alternative<Dim>(number); }
GraphTensor real(const Call& c, const Number& number) {
  return number_value(c.graph(), number, DType::kF64);
}

// Exactly of whole numbers, in f64 of others.
template <typename Function>
Result of_two(Call& c) {
  const auto a = c.scalar("a"), b = c.scalar("b");
  if (is_whole(a) && is_whole(b)) return Function()(c.dim("a"), c.dim("b"));
  return Computed{Function()(real(c, a), real(c, b))};
}
struct Remainder {
  Dim operator()(const Dim& a, const Dim& b) const { return floor_mod(a, b); }
  GraphTensor operator()(const GraphTensor& a, const GraphTensor& b) const { return mod(a, b); }
};
struct Greatest {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return max(a, b);
  }
};
struct Least {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return min(a, b);
  }
};
Result whole_quotient_of_two(Call& c) { return floor_div(c.dim("a"), c.dim("b")); }
Result quotient_of_two(Call& c) {
  return Computed{real(c, c.scalar("a")) / real(c, c.scalar("b"))};
}
Result negative_number(Call& c) {
  const auto a = c.scalar("a");
  return is_whole(a) ? Result(c.dim("a") * -1) : Result(Computed{-real(c, a)});
}
Result power_of_number(Call& c) {
  constexpr std::int64_t kMostFactors = 8;
  const auto a = c.scalar("a"), b = c.scalar("b");
  const auto exponent = c.known_number("b");
  if (is_whole(a) && is_whole(b) && exponent && *exponent >= 0 && *exponent <= kMostFactors) {
    Dim power = 1;
    for (std::int64_t i = 0; i < c.integer("b"); ++i) power *= c.dim("a");
    return power;
  }
  const auto simple = exponent ? raised_simply(real(c, a), *exponent) : std::nullopt;
  return Computed{simple ? *simple : raised(real(c, a), real(c, b))};
}
Result root_of_number(Call& c) { return Computed{sqrt(real(c, c.scalar("a")))}; }
Result real_number(Call& c) { return Computed{real(c, c.scalar("a"))}; }
// Of a number that runs compute: sizes must be known before, and the archive has an expression.
Result whole_number(Call& c) {
  const auto* name = c.has("x") ? "x" : "a";
  if (is_whole(c.scalar(name))) return c.dim(name);
  if (!c.declared().size) fail("a whole number of argument '{}' that sizes do not decide", name);
  return size_from(*c.declared().size);
}

constexpr std::string_view kIgnored = "what is asserted is taken to hold";
constexpr auto kSymbols = std::to_array<Operator>({
    {"_operator.add", of_two<std::plus<>>},
    {"_operator.and_", asserted, kIgnored},
    {"_operator.eq", asserted, kIgnored},
    {"_operator.floordiv", whole_quotient_of_two},
    {"_operator.ge", asserted, kIgnored},
    {"_operator.gt", asserted, kIgnored},
    {"_operator.le", asserted, kIgnored},
    {"_operator.lt", asserted, kIgnored},
    {"_operator.mod", of_two<Remainder>},
    {"_operator.mul", of_two<std::multiplies<>>},
    {"_operator.ne", asserted, kIgnored},
    {"_operator.neg", negative_number},
    {"_operator.pow", power_of_number},
    {"_operator.sub", of_two<std::minus<>>},
    {"_operator.truediv", quotient_of_two},
    {"aten._assert_async.default", asserted_of_tensor},
    {"aten._assert_async.msg", asserted_of_tensor},
    {"aten._assert_scalar.default", asserted, kIgnored},
    {"aten._assert_tensor_metadata.default", asserted, kIgnored},
    {"aten.sym_constrain_range.default", asserted, kIgnored},
    {"aten.sym_constrain_range_for_size.default", asserted, kIgnored},
    {"aten.sym_numel.default", sym_numel},
    {"aten.sym_size.int", sym_size},
    {"math.ceil", whole_number},
    {"math.floor", whole_number},
    {"math.trunc", whole_number},
    {"torch._sym_sqrt", root_of_number},
    {"torch.sym_float", real_number},
    {"torch.sym_int", whole_number},
    {"torch.sym_max", of_two<Greatest>},
    {"torch.sym_min", of_two<Least>},
    {"torch.sym_not", asserted, kIgnored},
});

constexpr std::string_view kDataDependent = "a shape or a number that depends on data";
constexpr std::string_view kRandom = "random";
constexpr std::string_view kComplex = "complex numbers";
constexpr std::string_view kQuantised = "quantised tensors";
constexpr std::string_view kControl = "control flow that depends on data";
constexpr auto kRefused = std::to_array<Refused>({
    {"aten._local_scalar_dense.default", kDataDependent},
    {"aten._unique2.default", kDataDependent},
    {"aten.bernoulli.p", kRandom},
    {"aten.bincount.default", kDataDependent},
    {"aten.complex.default", kComplex},
    {"aten.dequantize.self", kQuantised},
    {"aten.item.default", kDataDependent},
    {"aten.masked_select.default", kDataDependent},
    {"aten.multinomial.default", kRandom},
    {"aten.nonzero.default", kDataDependent},
    {"aten.nonzero_numpy.default", kDataDependent},
    {"aten.polar.default", kComplex},
    {"aten.quantize_per_tensor.default", kQuantised},
    {"aten.rand.default", kRandom},
    {"aten.rand_like.default", kRandom},
    {"aten.randint.low", kRandom},
    {"aten.randn.default", kRandom},
    {"aten.randn_like.default", kRandom},
    {"aten.randperm.default", kRandom},
    {"aten.unique_dim.default", kDataDependent},
    {"aten.view_as_complex.default", kComplex},
    {"aten.view_as_real.default", kComplex},
    {"aten._fft_r2c.default", kComplex},
    {"aten._fft_c2c.default", kComplex},
    {"aten.fft_fft.default", kComplex},
    {"aten.fft_rfft.default", kComplex},
    {"quantized_decomposed.dequantize_per_tensor.default", kQuantised},
    {"quantized_decomposed.quantize_per_tensor.default", kQuantised},
    {"higher_order.cond", kControl},
    {"higher_order.while_loop", kControl},
});

}  // namespace

std::span<const Operator> symbol_operators() { return kSymbols; }
std::span<const Refused> refused_operators() { return kRefused; }

}  // namespace assay::models::pt2
