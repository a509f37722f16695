// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers that shapes are made of, what export asserts of them, and what is refused by name.
#include <array>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

// Exported programs hold within the ranges of their symbols, where these are true.
Result asserted(Call&) { return Nothing{}; }

Result sym_size(Call& c) {
  const auto x = c.tensor("self");
  return x.shape().at(axis_in(c.integer("dim"), x.rank()));
}
Result sym_numel(Call& c) { return product(c.tensor("self").shape()); }

using Arithmetic = Dim (*)(const Dim&, const Dim&);
template <Arithmetic kFunction>
Result of_two(Call& c) {
  return kFunction(c.dim("a"), c.dim("b"));
}
Dim sum_of_dims(const Dim& a, const Dim& b) { return a + b; }
Dim difference_of_dims(const Dim& a, const Dim& b) { return a - b; }
Dim product_of_dims(const Dim& a, const Dim& b) { return a * b; }
Dim quotient_of_dims(const Dim& a, const Dim& b) { return floor_div(a, b); }
Dim remainder_of_dims(const Dim& a, const Dim& b) { return floor_mod(a, b); }
Dim greatest_of_dims(const Dim& a, const Dim& b) { return max(a, b); }
Dim least_of_dims(const Dim& a, const Dim& b) { return min(a, b); }
Result negative_dim(Call& c) { return c.dim("a") * -1; }

constexpr std::string_view kIgnored = "what is asserted is taken to hold";
constexpr auto kSymbols = std::to_array<Operator>({
    {"_operator.add", of_two<sum_of_dims>},
    {"_operator.and_", asserted, kIgnored},
    {"_operator.eq", asserted, kIgnored},
    {"_operator.floordiv", of_two<quotient_of_dims>},
    {"_operator.ge", asserted, kIgnored},
    {"_operator.gt", asserted, kIgnored},
    {"_operator.le", asserted, kIgnored},
    {"_operator.lt", asserted, kIgnored},
    {"_operator.mod", of_two<remainder_of_dims>},
    {"_operator.mul", of_two<product_of_dims>},
    {"_operator.ne", asserted, kIgnored},
    {"_operator.neg", negative_dim},
    {"_operator.sub", of_two<difference_of_dims>},
    {"aten._assert_async.msg", asserted, kIgnored},
    {"aten._assert_scalar.default", asserted, kIgnored},
    {"aten._assert_tensor_metadata.default", asserted, kIgnored},
    {"aten.sym_constrain_range.default", asserted, kIgnored},
    {"aten.sym_constrain_range_for_size.default", asserted, kIgnored},
    {"aten.sym_numel.default", sym_numel},
    {"aten.sym_size.int", sym_size},
    {"torch.sym_max", of_two<greatest_of_dims>},
    {"torch.sym_min", of_two<least_of_dims>},
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
