// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax, norms, attention, losses. f16 and bf16 compute in f32 and round once.
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compiler/graph/graph_models.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

GraphTensor in_dtype_asked(const Call& c) {
  const auto x = c.tensor("self");
  if (const auto dtype = c.dtype()) return x.cast(*dtype);
  if (c.flag("half_to_float", false)) return x.cast(DType::kF32);
  return x.cast(c.floating_of(x.dtype()));
}
Result softmax_along(Call& c) {
  const auto x = in_dtype_asked(c);
  if (x.rank() == 0) return x.like(1);
  return softmax(x, signed_axis(axis_in(c.integer("dim"), x.rank())));
}
// Rows of −∞ alone give 0, not NaN.
Result safe_softmax(Call& c) {
  const auto x = in_dtype_asked(c);
  const auto axis = axis_in(c.integer("dim"), x.rank());
  const auto is_empty = equal(max_over(x, {axis}, true), x.like(-INFINITY));
  return select(is_empty, x.like(0), softmax(x, signed_axis(axis)));
}
GraphTensor log_softmax_of(const GraphTensor& x, std::size_t axis) {
  const auto wide = widened(x);
  const auto centred = wide - max_over(wide, {axis}, true);
  return (centred - log(sum_over(exp(centred), {axis}, true))).cast(x.dtype());
}
Result log_softmax(Call& c) {
  const auto x = in_dtype_asked(c);
  if (x.rank() == 0) return x.like(0);
  return log_softmax_of(x, axis_in(c.integer("dim"), x.rank()));
}

// The last axes that are normalised together, as one.
std::vector<std::size_t> normalised_axes(const Call& c, const GraphTensor& x) {
  const auto count = c.dims("normalized_shape").size();
  if (count > x.rank() || count == 0) fail("{} axes of {}", count, to_string(x.shape()));
  std::vector<std::size_t> axes;
  for (auto i = x.rank() - count; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}
// What is normalised, with the mean and the reciprocal deviation that the way back wants, which
// torch rounds to the input's dtype.
struct Normed {
  GraphTensor result, mean, spread;
};
std::vector<GraphTensor> all_of(const Normed& normed) {
  const auto dtype = normed.result.dtype();
  return {normed.result, normed.mean.cast(dtype), normed.spread.cast(dtype)};
}

Normed layer_normed(const Call& c) {
  const auto input = c.tensor("input");
  const auto axes = normalised_axes(c, input);
  const auto x = widened(input);
  const auto mean = mean_over(x, axes, true);
  const auto centred = x - mean;
  const auto spread = recip(sqrt(mean_over(centred * centred, axes, true) + c.number("eps", 1e-5)));
  auto y = centred * spread;
  if (const auto weight = c.tensor_or_none("weight")) y = y * widened(*weight);
  if (const auto bias = c.tensor_or_none("bias")) y = y + widened(*bias);
  return {y.cast(input.dtype()), mean, spread};
}
Result layer_norm_of(Call& c) { return layer_normed(c).result; }
Result native_layer_norm(Call& c) { return all_of(layer_normed(c)); }
Result rms_norm_of(Call& c) {
  const auto input = c.tensor("input");
  const auto axes = normalised_axes(c, input);
  const auto x = widened(input);
  const double least = input.dtype() == DType::kF64   ? std::numeric_limits<double>::epsilon()
                       : input.dtype() == DType::kF16 ? 0x1p-10
                                                      : std::numeric_limits<float>::epsilon();
  auto y = x * recip(sqrt(mean_over(x * x, axes, true) + c.number("eps", least)));
  if (const auto weight = c.tensor_or_none("weight")) y = y * widened(*weight);
  return y.cast(input.dtype());
}
Normed group_normed(const Call& c) {
  const auto input = c.tensor("input");
  const auto groups = c.integer(c.has("num_groups") ? "num_groups" : "group");
  if (input.rank() < 2 || groups < 1) fail("{} groups of {}", groups, to_string(input.shape()));
  const auto x = widened(input);
  const auto rows =
      x.reshape({x.shape()[0], groups, floor_div(product(x.shape()), x.shape()[0] * groups)});
  const auto mean = mean_over(rows, {2}, true);
  const auto centred = rows - mean;
  const auto spread = recip(sqrt(mean_over(centred * centred, {2}, true) + c.number("eps", 1e-5)));
  auto y = (centred * spread).reshape(x.shape());
  const auto of_channel = [&](const GraphTensor& each) {
    auto value = widened(each);
    for (std::size_t i = 2; i < x.rank(); ++i) value = value.unsqueeze(-1);
    return value;
  };
  if (const auto weight = c.tensor_or_none("weight")) y = y * of_channel(*weight);
  if (const auto bias = c.tensor_or_none("bias")) y = y + of_channel(*bias);
  const std::vector<Dim> each{x.shape()[0], groups};
  return {y.cast(input.dtype()), mean.reshape(each), spread.reshape(each)};
}
Result group_norm_of(Call& c) { return group_normed(c).result; }
Result native_group_norm(Call& c) { return all_of(group_normed(c)); }

struct BatchNorm {
  GraphTensor result, mean, spread;
  std::optional<GraphTensor> running_mean, running_variance;  // afterwards
};
BatchNorm batch_norm_of(const Call& c, bool is_training) {
  const auto input = c.tensor("input");
  if (input.rank() < 2) fail("a batch of {}", to_string(input.shape()));
  const auto x = widened(input);
  const auto of_channel = [&](const GraphTensor& each) {
    auto value = widened(each);
    for (std::size_t i = 2; i < x.rank(); ++i) value = value.unsqueeze(-1);
    return value;
  };
  std::vector<std::size_t> axes{0};
  for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back(i);
  const auto kept_mean = c.tensor_or_none("running_mean"), kept = c.tensor_or_none("running_var");
  is_training = is_training || !kept_mean || !kept;
  const auto mean = is_training ? mean_over(x, axes, false) : widened(*kept_mean);
  const auto variance = is_training ? variance_over(x, axes, 0, false) : widened(*kept);
  const auto spread = recip(sqrt(variance + c.number("eps", 1e-5)));
  auto y = (x - of_channel(mean)) * of_channel(spread);
  if (const auto weight = c.tensor_or_none("weight")) y = y * of_channel(*weight);
  if (const auto bias = c.tensor_or_none("bias")) y = y + of_channel(*bias);
  BatchNorm norm{y.cast(input.dtype()), mean, spread, kept_mean, kept};
  if (!is_training || !kept_mean || !kept) return norm;
  // Running statistics have the unbiased variance.
  const double momentum = c.number("momentum", 0.1);
  const auto moved = [&](const GraphTensor& before, const GraphTensor& now) {
    return (widened(before) * (1 - momentum) + now * momentum).cast(before.dtype());
  };
  norm.running_mean = moved(*kept_mean, mean);
  norm.running_variance = moved(*kept, variance_over(x, axes, 1, false));
  return norm;
}
Result batch_norm(Call& c) {
  const bool is_training = c.flag("training", false);
  const auto norm = batch_norm_of(c, is_training);
  if (is_training && c.has("running_mean") && c.has("running_var")) {
    c.write("running_mean", *norm.running_mean);
    c.write("running_var", *norm.running_variance);
  }
  return norm.result;
}
Result batch_norm_functional(Call& c) {
  const auto norm = batch_norm_of(c, c.flag("training", false));
  std::vector<GraphTensor> results{norm.result, norm.mean, norm.spread};
  if (norm.running_mean) results.push_back(*norm.running_mean);
  if (norm.running_variance) results.push_back(*norm.running_variance);
  return results;
}
Result batch_norm_inference(Call& c) { return batch_norm_of(c, false).result; }

// A query that sees no key at all gets 0, which is torch's choice.
Result attention_of(Call& c) {
  if (c.number("dropout_p", 0) != 0) fail("dropout in training is random: export after eval()");
  const auto q = c.tensor("query"), k = c.tensor("key"), v = c.tensor("value");
  AttentionOptions options;
  if (c.has("scale")) options.scale = c.number("scale");
  options.causal = c.flag("is_causal", false);
  const auto mask = c.tensor_or_none("attn_mask");
  options.mask = mask;
  if (mask && mask->dtype() != DType::kBool && mask->dtype() != wide_of(q.dtype())) {
    options.mask = mask->cast(wide_of(q.dtype()));
  }
  const auto result = attention(q, k, v, options);
  if (!mask) return result;
  const auto last = axis_in(-1, mask->rank());
  const auto seen = mask->dtype() == DType::kBool ? *mask : less(mask->like(-INFINITY), *mask);
  const auto is_blind = logical_not(sum_over(seen, {last}, true));
  return select(is_blind, result.like(0), result);
}
Result attention_and_more(Call& c) { return std::vector{std::get<GraphTensor>(attention_of(c))}; }

GraphTensor reduced_loss(const Call& c, const GraphTensor& loss) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < loss.rank(); ++i) axes.push_back(i);
  const auto kind = c.integer("reduction", 1);
  return kind == 0 ? loss : kind == 1 ? mean_over(loss, axes, false) : sum_over(loss, axes, false);
}
Result squared_error(Call& c) {
  const auto self = c.tensor("self");
  const auto difference = widened(self) - widened(c.tensor("target"));
  return reduced_loss(c, difference * difference).cast(self.dtype());
}
// − the logarithm at each row's class, [n, classes] and [n]; rows of `ignore_index` are left out.
std::vector<GraphTensor> class_loss(Call& c, const GraphTensor& logs) {
  if (c.has("weight")) fail("weights of classes are not covered");
  if (c.number("label_smoothing", 0) != 0) fail("smoothed labels are not covered");
  const auto target = c.tensor("target");
  if (is_floating(target.dtype())) fail("targets that are probabilities are not covered");
  if (logs.rank() != 2 || target.rank() != 1) {
    fail("a loss of {} for {} is not covered, only of [n, classes] for [n]",
         to_string(logs.shape()), to_string(target.shape()));
  }
  const auto classes = GraphTensor::iota(c.graph(), logs.shape()[1], target.dtype());
  const auto is_it = equal(classes, target.unsqueeze(1));
  const auto own = select(is_it, logs, logs.like(0)).sum(1);
  const auto ignored = integer_constant(c.graph(), target.dtype(), c.integer("ignore_index", -100));
  const auto counts = differs(target, ignored);
  c.refuse_outside(select(counts, target, target.like(0)), logs.shape()[1], false);
  const auto loss = select(counts, -own, own.like(0));
  const auto weight = counts.cast(logs.dtype()).sum(0);
  const auto kind = c.integer("reduction", 1);
  if (kind == 0) return {loss, weight};
  return {kind == 1 ? loss.sum(0) / weight : loss.sum(0), weight};
}
Result nll_loss(Call& c) { return class_loss(c, c.tensor("self")); }
Result cross_entropy(Call& c) {
  const auto x = c.tensor("self");
  const auto logs = log_softmax_of(widened(x), axis_in(-1, x.rank()));
  return class_loss(c, logs).front().cast(x.dtype());
}

constexpr std::string_view kRows = "[n, classes] for [n], without weights";
constexpr auto kNormalisation = std::to_array<Operator>({
    {"aten._log_softmax.default", log_softmax},
    {"aten._native_batch_norm_legit_functional.default", batch_norm_functional},
    {"aten._native_batch_norm_legit_no_training.default", batch_norm_inference, "the result alone"},
    {"aten._safe_softmax.default", safe_softmax},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", attention_and_more,
     "the result alone"},
    {"aten._softmax.default", softmax_along},
    {"aten.batch_norm.default", batch_norm, "also in training: writes running statistics"},
    {"aten.cross_entropy_loss.default", cross_entropy, kRows},
    {"aten.group_norm.default", group_norm_of},
    {"aten.layer_norm.default", layer_norm_of},
    {"aten.log_softmax.int", log_softmax},
    {"aten.mse_loss.default", squared_error},
    {"aten.native_group_norm.default", native_group_norm},
    {"aten.native_layer_norm.default", native_layer_norm},
    {"aten.nll_loss_forward.default", nll_loss, kRows},
    {"aten.nll_loss_nd.default", nll_loss, kRows},
    {"aten.rms_norm.default", rms_norm_of},
    {"aten.scaled_dot_product_attention.default", attention_of, "causal, masked, grouped queries"},
    {"aten.softmax.int", softmax_along},
});

}  // namespace

std::span<const Operator> normalisation_operators() { return kNormalisation; }

}  // namespace assay::models::pt2
