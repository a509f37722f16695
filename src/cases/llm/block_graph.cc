// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "cases/llm/point_graphs.h"
#include "compiler/graph/graph_models.h"

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
      if (p_.block == "attention") return attended(in("q"), in("k"), in("v"));
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

  // One token sees all keys that there are.
  GraphTensor attended(const GraphTensor& q, const GraphTensor& k, const GraphTensor& v) const {
    return attention(q, k, v, {.causal = p_.tokens > 1, .offset = p_.cached});
  }
  // x (tokens × heads·width) turned by its positions, as heads × tokens × width.
  GraphTensor turned(const GraphTensor& x) const {
    return rotary(x.split(1, p_.size.head_width).permute({1, 0, 2}), in("cos"), in("sin"));
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
    const auto k = written(in("kcache"), turned(narrow(linear(h, "wk"))));
    const auto v = written(in("vcache"), values);
    const auto seen = attended(turned(narrow(linear(h, "wq"))), k, v)
                          .permute({1, 0, 2})
                          .reshape({p_.tokens, p_.size.heads * d});
    const auto after = narrow(wide(x) + linear(seen, "wo"));
    narrow(wide(after) + mlp(normed(after, "g2"))).set_output("y");
    k.set_output("k", "kcache");
    v.set_output("v", "vcache");
  }

  // The `top` best of each token's scores; a row for each of them goes through its expert.
  GraphTensor experts(const GraphTensor& x) const {
    const auto& s = p_.size;
    const auto rows = p_.tokens * s.top;
    const auto [scores, chosen] = top_k(linear(x, "wr"), s.top);
    const auto expert = chosen.reshape({rows});
    const auto repeated = x.unsqueeze(1).expand(1, s.top).reshape({rows, s.hidden});
    const auto inner = swiglu(expert_matmul(repeated, in("wg"), expert),
                              expert_matmul(repeated, in("wu"), expert));
    const auto parts =
        wide(expert_matmul(inner, in("wd"), expert)).reshape({p_.tokens, s.top, s.hidden});
    return (parts * softmax(scores).unsqueeze(-1)).sum(1);
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
