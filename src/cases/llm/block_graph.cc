// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "cases/llm/point_graphs.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::cases::llm {
namespace {

using compiler::Dim;
using compiler::Graph;
using compiler::GraphTensor;

class BlockGraph {
 public:
  BlockGraph(Graph& graph, const BlockPoint& point) : graph_(graph), p_(point) {
    for (const auto& input : p_.inputs) {
      const std::vector<Dim> shape(input.shape.begin(), input.shape.end());
      in_.emplace(input.name, GraphTensor::input(graph, input.name, p_.dtype, shape));
    }
  }

  void make() const {
    if (p_.block == "transformer") return make_layer();
    const auto y = [&] {
      if (p_.block == "norm_matmul") return linear(normed(in("x"), "g1"), "w");
      if (p_.block == "mlp") return mlp(in("x"));
      if (p_.block == "attention") return attention(in("q"), in("k"), in("v"));
      return experts(in("x"));
    }();
    narrow(y).set_output("y");
  }

 private:
  const GraphTensor& in(const char* name) const { return in_.at(name); }
  static GraphTensor wide(const GraphTensor& x) { return x.cast(DType::kF32); }
  GraphTensor narrow(const GraphTensor& x) const { return x.cast(p_.dtype); }
  GraphTensor position(const Dim& n) const { return GraphTensor::iota(graph_, n); }

  GraphTensor normed(const GraphTensor& x, const char* weight) const {
    return narrow(rms_norm(wide(x), wide(in(weight)), kNormEpsilon));
  }
  // x Wᵀ in f32.
  GraphTensor linear(const GraphTensor& x, const char* weight) const {
    return matmul(wide(x), wide(in(weight)).transpose());
  }
  GraphTensor mlp(const GraphTensor& x) const {
    return linear(narrow(silu(linear(x, "wg")) * linear(x, "wu")), "wd");
  }

  // q (heads × tokens × width) over k and v (kv_heads × keys × width), in f32.
  GraphTensor attention(const GraphTensor& q, const GraphTensor& k, const GraphTensor& v) const {
    const auto& s = p_.size;
    const auto grouped = wide(q).split(0, s.heads / s.kv_heads);  // kv_heads × group × …
    const auto scores = matmul(grouped, wide(k).unsqueeze(1).transpose()) *
                        (1 / std::sqrt(static_cast<double>(s.head_width)));
    const auto last_seen =
        position(p_.tokens).unsqueeze(1) +
        GraphTensor::constant(graph_, DType::kI64, static_cast<double>(p_.cached));
    const auto is_hidden = less(last_seen, position(p_.keys()));
    const auto seen =
        select(is_hidden, scores.like(-std::numeric_limits<double>::infinity()), scores);
    return matmul(softmax(seen), wide(v).unsqueeze(1)).reshape({s.heads, p_.tokens, s.head_width});
  }
  // x (tokens × heads·width) turned by its positions, as heads × tokens × width.
  GraphTensor rotated(const GraphTensor& x) const {
    const auto d = p_.size.head_width;
    const auto heads = x.split(1, d).permute({1, 0, 2});
    const auto first = heads.slice(2, 0, d / 2), second = heads.slice(2, d / 2, d);
    const auto cos = wide(in("cos")), sin = wide(in("sin"));
    return narrow(compiler::concat({first * cos - second * sin, second * cos + first * sin}, 2));
  }
  // A cache (kv_heads × keys × width) with new rows behind the cached ones.
  GraphTensor written(const GraphTensor& cache, const GraphTensor& rows) const {
    const auto d = p_.size.head_width;
    const auto number = [&](std::int64_t value) {
      return GraphTensor::constant(graph_, DType::kI64, static_cast<double>(value));
    };
    const auto head = position(p_.size.kv_heads).unsqueeze(1).unsqueeze(1);
    const auto token = position(p_.tokens).unsqueeze(1);
    const auto row = head * number(p_.keys()) + token + number(p_.cached);
    return scatter(cache, row * number(d) + position(d), rows);
  }
  void make_layer() const {
    const auto d = p_.size.head_width;
    const auto x = in("x");
    const auto h = normed(x, "g1");
    const auto values = narrow(linear(h, "wv")).split(1, d).permute({1, 0, 2});
    const auto k = written(in("kcache"), rotated(linear(h, "wk")));
    const auto v = written(in("vcache"), values);
    const auto seen = narrow(attention(rotated(linear(h, "wq")), k, v))
                          .permute({1, 0, 2})
                          .reshape({p_.tokens, p_.size.heads * d});
    const auto after = narrow(wide(x) + linear(seen, "wo"));
    narrow(wide(after) + mlp(normed(after, "g2"))).set_output("y");
    k.set_output("k", "kcache");
    v.set_output("v", "vcache");
  }

  // Which place an expert's score has among a token's, 0 for the largest, and what that makes of
  // the `top` best: their numbers and weights.
  GraphTensor experts(const GraphTensor& x) const {
    const auto& s = p_.size;
    const auto scores = linear(x, "wr");
    const auto place = less(scores.unsqueeze(-1), scores.unsqueeze(-2)).cast(DType::kI64).sum(-1);
    const auto is_at =
        equal(place.unsqueeze(1), position(s.top).unsqueeze(1));  // token, top, expert
    const auto expert = (is_at.cast(DType::kI64) * position(s.experts)).sum(-1);
    const auto kept = (is_at.cast(DType::kF32) * scores.unsqueeze(1)).sum(-1);
    const auto inner =
        narrow(silu(chosen(x.unsqueeze(1), expert, "wg")) * chosen(x.unsqueeze(1), expert, "wu"));
    return (chosen(inner, expert, "wd") * softmax(kept).unsqueeze(-1)).sum(1);
  }
  // x (token × top or 1 × k) times the matrices (n × k) of the chosen experts.
  GraphTensor chosen(const GraphTensor& x, const GraphTensor& expert, const char* weight) const {
    const auto& w = in(weight);
    const auto n = w.shape()[1], k = w.shape()[2];
    const auto table = w.reshape({w.shape()[0], n * k});
    const auto rows_of = rows(table, expert).reshape({p_.tokens, p_.size.top, n, k});
    return (wide(rows_of) * wide(x).unsqueeze(2)).sum(-1);
  }

  Graph& graph_;
  const BlockPoint& p_;
  std::map<std::string, GraphTensor> in_;
};

}  // namespace

Graph block_graph(const BlockPoint& point) {
  Graph graph;
  BlockGraph(graph, point).make();
  return graph;
}

}  // namespace assay::cases::llm
