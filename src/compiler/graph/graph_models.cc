// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph_models.h"

#include <cmath>

#include "base/error.h"

namespace assay::compiler {
namespace {

GraphTensor as_f32_at_least(const GraphTensor& x) {
  return size_of(x.dtype()) < 4 ? x.cast(DType::kF32) : x;
}
// begin, begin + 1, …, with a begin that may be a symbol.
GraphTensor positions(Graph& graph, const Dim& begin, const Dim& count) {
  return GraphTensor::iota(graph, begin + count).slice(0, begin, begin + count);
}

void check_floating(const char* op, std::initializer_list<GraphTensor> tensors) {
  for (const auto& x : tensors) {
    if (!is_floating(x.dtype())) fail("{}: of floating point, got {}", op, name_of(x.dtype()));
    if (x.dtype() != tensors.begin()->dtype()) {
      fail("{}: {} {} and {} {}: dtypes do not mix, cast one of them", op,
           name_of(tensors.begin()->dtype()), to_string(tensors.begin()->shape()),
           name_of(x.dtype()), to_string(x.shape()));
    }
  }
}

// What a query sees by its position.
std::optional<GraphTensor> seen_by_position(Graph& graph, const AttentionOptions& options,
                                            const Dim& queries, const Dim& keys) {
  if (!options.causal) {
    if (options.window) fail("attention: a window without causal: {}", options.window->to_string());
    return std::nullopt;
  }
  const auto query = positions(graph, options.offset, queries).unsqueeze(1);
  const auto key = GraphTensor::iota(graph, keys);
  auto seen = logical_not(less(query, key));
  if (options.window) seen = seen * less(query, positions(graph, *options.window, keys));
  return seen;
}

}  // namespace

GraphTensor attention(const GraphTensor& q, const GraphTensor& k, const GraphTensor& v,
                      const AttentionOptions& options) {
  check_floating("attention", {q, k, v});
  const auto wrong = [&] {
    fail("attention: shapes {}, {} and {} do not go together", to_string(q.shape()),
         to_string(k.shape()), to_string(v.shape()));
  };
  const auto rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank) wrong();
  const auto& width = q.shape().back();
  if (!(k.shape().back() == width) || !(k.shape()[rank - 2] == v.shape()[rank - 2])) wrong();
  // Grouped queries: heads that share keys stand beside each other.
  auto queries = as_f32_at_least(q), keys = as_f32_at_least(k), values = as_f32_at_least(v);
  const bool is_grouped = rank > 2 && !(q.shape()[rank - 3] == k.shape()[rank - 3]);
  if (is_grouped) {
    const auto heads = q.shape()[rank - 3].constant(), shared = k.shape()[rank - 3].constant();
    if (!heads || !shared || *shared < 1 || *heads % *shared != 0) wrong();
    queries = queries.split(-3, *heads / *shared);
    keys = keys.unsqueeze(-3);
    values = values.unsqueeze(-3);
  }
  double scale = 1;
  if (options.scale) {
    scale = *options.scale;
  } else {
    if (!width.constant()) fail("attention: a scale for a width of '{}'", width.to_string());
    scale = 1 / std::sqrt(static_cast<double>(*width.constant()));
  }
  auto scores = matmul(queries, keys.transpose()) * scale;
  auto& graph = q.graph();
  const auto unseen = scores.like(-INFINITY);
  if (options.mask) {
    auto mask = *options.mask;
    if (is_grouped && mask.rank() >= 3) {
      const auto& extent = mask.shape()[mask.rank() - 3];
      mask =
          extent.is(1) ? mask.unsqueeze(-3) : mask.split(-3, queries.shape()[queries.rank() - 3]);
    }
    scores = mask.dtype() == DType::kBool ? select(mask, scores, unseen)
                                          : scores + mask.cast(scores.dtype());
  }
  const auto seen = seen_by_position(graph, options, q.shape()[rank - 2], k.shape()[rank - 2]);
  if (seen) scores = select(*seen, scores, unseen);
  auto out = matmul(softmax(scores), values);
  if (is_grouped) {
    auto shape = q.shape();
    shape.back() = v.shape().back();
    out = out.reshape(shape);
  }
  return out.cast(q.dtype());
}

GraphTensor rotary(const GraphTensor& x, const GraphTensor& cosine, const GraphTensor& sine) {
  check_floating("rotary", {x});
  check_floating("rotary", {cosine, sine});
  const auto half = floor_div(x.rank() == 0 ? Dim(0) : x.shape().back(), 2);
  if (x.rank() < 2 || !(half * 2 == x.shape().back()) || cosine.rank() == 0 ||
      !(cosine.shape().back() == half) || !(sine.shape() == cosine.shape())) {
    fail("rotary: shapes {}, {} and {} do not go together", to_string(x.shape()),
         to_string(cosine.shape()), to_string(sine.shape()));
  }
  const auto pairs = as_f32_at_least(x).split(-1, half);
  const auto turned = turned_pairs(pairs, cosine.cast(pairs.dtype()).unsqueeze(-2),
                                   sine.cast(pairs.dtype()).unsqueeze(-2));
  return turned.reshape(x.shape()).cast(x.dtype());
}
GraphTensor turned_pairs(const GraphTensor& pairs, const GraphTensor& cosine,
                         const GraphTensor& sine) {
  if (pairs.rank() < 2 || !pairs.shape()[pairs.rank() - 2].is(2)) {
    fail("turned_pairs: of two halves, got {}", to_string(pairs.shape()));
  }
  // Each half beside the other one, whose sign is − for the first.
  const auto sign =
      (GraphTensor::iota(pairs.graph(), 2) * 2.0 + -1.0).cast(pairs.dtype()).unsqueeze(1);
  return pairs * cosine + pairs.reverse(-2) * sign * sine;
}

GraphTensor swiglu(const GraphTensor& a, const GraphTensor& b) {
  check_floating("swiglu", {a, b});
  return (silu(as_f32_at_least(a)) * as_f32_at_least(b)).cast(a.dtype());
}
GraphTensor geglu(const GraphTensor& a, const GraphTensor& b) {
  check_floating("geglu", {a, b});
  return (gelu_tanh(as_f32_at_least(a)) * as_f32_at_least(b)).cast(a.dtype());
}

std::pair<GraphTensor, GraphTensor> top_k(const GraphTensor& x, std::int64_t count) {
  if (x.rank() == 0) fail("top_k: of a tensor without axes");
  const auto& n = x.shape().back();
  if (count < 1 || (n.constant() && *n.constant() < count)) {
    fail("top_k: {} of {}", count, to_string(x.shape()));
  }
  auto& graph = x.graph();
  // How many come before each: those above it, and equal ones to its left.
  const auto mine = x.unsqueeze(-1), other = x.unsqueeze(-2);
  const auto place = GraphTensor::iota(graph, n);
  const auto is_left = less(place.unsqueeze(0), place.unsqueeze(1));
  const auto is_before =
      less(mine, other) + logical_not(less(mine, other) + less(other, mine)) * is_left;
  const auto rank = is_before.cast(DType::kI64).sum(-1);
  // [… , count, n]: the one of that rank.
  const auto slot = GraphTensor::iota(graph, count).unsqueeze(1);
  const auto is_it = logical_not(less(rank.unsqueeze(-2), slot) + less(slot, rank.unsqueeze(-2)));
  const auto index = select(is_it, place, place.like(0)).sum(-1);
  const auto least = is_floating(x.dtype()) ? -INFINITY : x.dtype() == DType::kBool ? 0 : -0x1p62;
  const auto values = select(is_it, x.unsqueeze(-2), x.like(least)).max(-1);
  return {values, index};
}

GraphTensor expert_matmul(const GraphTensor& x, const GraphTensor& weights,
                          const GraphTensor& expert) {
  check_floating("expert_matmul", {x});
  check_floating("expert_matmul", {weights});
  if (x.rank() != 2 || weights.rank() != 3 || expert.rank() != 1 ||
      !(x.shape()[1] == weights.shape()[1]) || !(x.shape()[0] == expert.shape()[0])) {
    fail("expert_matmul: shapes {}, {} and {} do not go together", to_string(x.shape()),
         to_string(weights.shape()), to_string(expert.shape()));
  }
  const auto &k = weights.shape()[1], &n = weights.shape()[2];
  const auto experts = weights.shape()[0].constant(), size = (k * n).constant();
  if (!experts || !size) {
    fail("expert_matmul: experts of constant shape, got {}", to_string(weights.shape()));
  }
  const auto first =
      max(min(expert, expert.like(static_cast<double>(*experts - 1))), expert.like(0));
  const auto within = GraphTensor::iota(x.graph(), k * n, expert.dtype()).reshape({k, n});
  const auto index = first.unsqueeze(-1).unsqueeze(-1) * static_cast<double>(*size) + within;
  // [r, n, k]: every row's own matrix, in the form that rules find without making it.
  const auto own = gather(weights, index);
  const auto products = as_f32_at_least(x).unsqueeze(-2) * as_f32_at_least(own).transpose();
  return products.sum(-1).cast(x.dtype());
}

}  // namespace assay::compiler
