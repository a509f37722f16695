// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/families/model_graph.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compiler/graph/graph_models.h"

namespace assay::models {
namespace {

using compiler::Dim;
using compiler::Graph;
using compiler::GraphTensor;

// Activations are kept in the embeddings' dtype and computed in f32.
class ModelBuilder {
 public:
  ModelBuilder(Graph& graph, const ModelConfig& config, const ModelWeights& weights,
               const GraphLimits& limits)
      : graph_(graph),
        c_(config),
        weights_(weights),
        limits_(limits),
        dtype_(weights.dtype()),
        s_(graph.symbol("s", 1, limits.chunk)),
        p_(graph.symbol("p", 0, limits.context - 1)) {}

  void make() {
    auto x = embedded();
    std::vector<std::pair<GraphTensor, GraphTensor>> caches;
    for (std::size_t i = 0; i < c_.layers.size(); ++i) {
      Layer layer{i, c_.layers[i]};
      const auto h = normed(x, weight(layer, "input_layernorm.weight"));
      auto [seen, k, v] = attended(layer, h);
      x = plus(x, c_.norms_after ? normed(seen, weight(layer, "post_attention_layernorm.weight"))
                                 : seen);
      x = plus(x, fed_forward(layer, x));
      if (c_.scales_layers) x = narrow(wide(x) * wide(weight(layer, "layer_scalar")));
      caches.emplace_back(k, v);
    }
    if (!limits_.all_logits) x = x.slice(0, s_ - 1, s_);
    const auto last = normed(x, input("model.norm.weight"));
    auto logits =
        linear(last, input(c_.has_tied_head ? "model.embed_tokens.weight" : "lm_head.weight"));
    if (c_.logit_cap) logits = tanh(logits * (1 / *c_.logit_cap)) * *c_.logit_cap;
    logits.set_output("logits");
    for (std::size_t i = 0; i < caches.size(); ++i) {
      caches[i].first.set_output("next." + key_cache(i), key_cache(i));
      caches[i].second.set_output("next." + value_cache(i), value_cache(i));
    }
  }

 private:
  struct Layer {
    std::size_t number;
    const LayerConfig& config;
  };

  static GraphTensor wide(const GraphTensor& x) { return x.cast(DType::kF32); }
  GraphTensor narrow(const GraphTensor& x) const { return x.cast(dtype_); }
  GraphTensor plus(const GraphTensor& a, const GraphTensor& b) const {
    return narrow(wide(a) + wide(b));
  }
  GraphTensor input(const std::string& name) const {
    const auto& view = weights_.view(name);
    const auto& extents = view.shape().extents();
    return GraphTensor::input(graph_, name, view.dtype(),
                              std::vector<Dim>(extents.begin(), extents.end()));
  }
  GraphTensor weight(const Layer& layer, std::string_view name) const {
    return input(layer_tensor(layer.number, name));
  }
  GraphTensor number(double value) const {
    return GraphTensor::constant(graph_, DType::kI64, value);
  }

  // x Wᵀ in f32.
  static GraphTensor linear(const GraphTensor& x, const GraphTensor& w) {
    return matmul(wide(x), wide(w).transpose());
  }
  GraphTensor normed(const GraphTensor& x, const GraphTensor& w) const {
    const auto scale = c_.norm_adds_one ? wide(w) + 1.0 : wide(w);
    return narrow(rms_norm(wide(x), scale, c_.norm_epsilon));
  }
  // Without weights, in f32.
  GraphTensor levelled(const GraphTensor& x) const {
    const auto w = wide(x);
    return w * recip(sqrt((w * w).mean(-1, true) + c_.norm_epsilon));
  }
  GraphTensor gated(const GraphTensor& gate, const GraphTensor& up) const {
    return narrow(c_.gates_with_gelu ? geglu(gate, up) : swiglu(gate, up));
  }

  GraphTensor embedded() const {
    const auto tokens = GraphTensor::input(graph_, "tokens", DType::kI64, {s_});
    const auto x = rows(input("model.embed_tokens.weight"), tokens);
    if (!c_.scales_embeddings) return x;
    // The factor is one of the activations' dtype, too.
    const auto factor = x.like(std::sqrt(static_cast<double>(c_.hidden)));
    return narrow(wide(x) * wide(factor));
  }

  // heads × s × width, turned by position.
  GraphTensor turned(const Layer& layer, const GraphTensor& heads) const {
    const RotaryUse use{layer.config.rotary, layer.config.head_width};
    const auto uses = rotary_uses(c_);
    const auto table = static_cast<std::size_t>(std::ranges::find(uses, use) - uses.begin());
    const auto of_positions = [&](const std::string& name) {
      return GraphTensor::input(graph_, name, DType::kF32, {limits_.capacity(), use.width / 2})
          .slice(0, p_, p_ + s_);
    };
    return rotary(heads, of_positions(rotary_cosine(table)), of_positions(rotary_sine(table)));
  }
  // The cache with new rows behind the p that are there; what can be seen of it.
  GraphTensor written(const std::string& name, const Layer& layer, const GraphTensor& rows) const {
    const auto d = layer.config.head_width, heads = layer.config.kv_heads;
    const auto cache = GraphTensor::input(graph_, name, dtype_, {heads, limits_.capacity(), d});
    const auto head = GraphTensor::iota(graph_, heads).unsqueeze(1).unsqueeze(1);
    const auto token = GraphTensor::iota(graph_, p_ + s_).slice(0, p_, p_ + s_).unsqueeze(1);
    const auto row = head * number(static_cast<double>(limits_.capacity())) + token;
    const auto index = row * number(static_cast<double>(d)) + GraphTensor::iota(graph_, d);
    return scatter(cache, index, rows);
  }
  struct Attended {
    GraphTensor out, keys, values;  // the latter two whole caches
  };
  Attended attended(const Layer& layer, const GraphTensor& h) const {
    const auto& l = layer.config;
    const auto d = l.head_width;
    const auto projected = [&](const char* name) {
      return narrow(linear(h, weight(layer, name))).split(1, d);
    };
    auto q = projected("self_attn.q_proj.weight"), k = projected("self_attn.k_proj.weight");
    auto v = l.keys_are_values ? k : projected("self_attn.v_proj.weight");
    if (c_.norms_queries_keys) {
      q = normed(q, weight(layer, "self_attn.q_norm.weight"));
      k = normed(k, weight(layer, "self_attn.k_norm.weight"));
    }
    if (c_.norms_values) v = narrow(levelled(v));
    const std::vector<std::size_t> heads_first = {1, 0, 2};
    q = turned(layer, q.permute(heads_first));
    k = written(key_cache(layer.number), layer, turned(layer, k.permute(heads_first)));
    v = written(value_cache(layer.number), layer, v.permute(heads_first));
    compiler::AttentionOptions options;
    options.scale = c_.attention_scale;
    options.causal = true;
    options.offset = p_;
    if (l.window) options.window = Dim(*l.window);
    const auto seen = attention(q, k.slice(1, 0, p_ + s_), v.slice(1, 0, p_ + s_), options)
                          .permute(heads_first)
                          .reshape({s_, l.heads * d});
    return {narrow(linear(seen, weight(layer, "self_attn.o_proj.weight"))), k, v};
  }

  GraphTensor fed_forward(const Layer& layer, const GraphTensor& x) const {
    const auto& l = layer.config;
    const auto norm = [&](const GraphTensor& y, const char* name) {
      return normed(y, weight(layer, name));
    };
    const auto h = norm(
        x, c_.norms_after ? "pre_feedforward_layernorm.weight" : "post_attention_layernorm.weight");
    if (!l.has_dense) return separate_experts(layer, h);
    auto y = dense(layer, h);
    if (l.has_experts) {
      const auto inner = norm(x, "pre_feedforward_layernorm_2.weight");
      y = plus(norm(y, "post_feedforward_layernorm_1.weight"),
               norm(experts_beside_dense(layer, x, inner), "post_feedforward_layernorm_2.weight"));
    }
    return c_.norms_after ? norm(y, "post_feedforward_layernorm.weight") : y;
  }
  GraphTensor dense(const Layer& layer, const GraphTensor& h) const {
    const auto inner = gated(linear(h, weight(layer, "mlp.gate_proj.weight")),
                             linear(h, weight(layer, "mlp.up_proj.weight")));
    return narrow(linear(inner, weight(layer, "mlp.down_proj.weight")));
  }

  struct Chosen {
    GraphTensor experts, weights;  // [s, chosen]: numbers i64; f32
  };
  // By their scores' softmax.
  Chosen chosen(const GraphTensor& scores) const {
    auto [weights, experts] = top_k(softmax(wide(scores)), c_.experts.chosen);
    if (c_.experts.renormalises) weights = weights * recip(weights.sum(-1, true));
    return {experts, weights};
  }
  // Every token through each of its experts, and the weighted sum of that.
  GraphTensor through_experts(const GraphTensor& h, const Chosen& chosen,
                              const GraphTensor& gate_up, const GraphTensor& down) const {
    const auto top = c_.experts.chosen, ffn = c_.experts.ffn;
    const auto rows = s_ * top;
    const auto expert = chosen.experts.reshape({rows});
    const auto repeated = h.unsqueeze(1).expand(1, top).reshape({rows, c_.hidden});
    const auto both = expert_matmul(wide(repeated), gate_up.transpose(1, 2), expert);
    const auto inner = gated(both.slice(1, 0, ffn), both.slice(1, ffn, 2 * ffn));
    const auto parts =
        expert_matmul(wide(inner), down.transpose(1, 2), expert).reshape({s_, top, c_.hidden});
    return narrow((parts * chosen.weights.unsqueeze(-1)).sum(1));
  }
  GraphTensor separate_experts(const Layer& layer, const GraphTensor& h) const {
    const auto& e = c_.experts;
    auto route = chosen(narrow(linear(h, weight(layer, "mlp.gate.weight"))));
    // Where they lie: down, gate and up of one expert, then of the next.
    const auto all = input(experts_tensor(layer.number));
    const auto gate_up = all.slice(1, 1, 3).reshape({e.count, 2 * e.ffn, c_.hidden});
    const auto down = all.slice(1, 0, 1).reshape({e.count, c_.hidden, e.ffn});
    route.experts = gather(input(experts_order(layer.number)), route.experts);
    return through_experts(h, route, gate_up, down);
  }
  // The router sees what the dense branch sees before its norm.
  GraphTensor experts_beside_dense(const Layer& layer, const GraphTensor& x,
                                   const GraphTensor& inner) const {
    const auto scaled = narrow(levelled(x) * wide(weight(layer, "router.scale")) *
                               (1 / std::sqrt(static_cast<double>(c_.hidden))));
    auto route = chosen(narrow(linear(scaled, weight(layer, "router.proj.weight"))));
    route.weights =
        route.weights * wide(gather(weight(layer, "router.per_expert_scale"), route.experts));
    return through_experts(inner, route, weight(layer, "experts.gate_up_proj"),
                           weight(layer, "experts.down_proj"));
  }

  Graph& graph_;
  const ModelConfig& c_;
  const ModelWeights& weights_;
  const GraphLimits& limits_;
  const DType dtype_;
  const Dim s_, p_;
};

}  // namespace

Graph model_graph(const ModelConfig& config, const ModelWeights& weights,
                  const GraphLimits& limits) {
  if (limits.context < 1 || limits.context > config.max_positions) {
    fail("the model knows a context of 1 to {} tokens, not {}", config.max_positions,
         limits.context);
  }
  if (limits.chunk < 1 || limits.chunk > limits.context) {
    fail("tokens are read 1 to {} at a time, not {}", limits.context, limits.chunk);
  }
  Graph graph;
  ModelBuilder(graph, config, weights, limits).make();
  return graph;
}

std::string key_cache(std::size_t layer) { return fmt::format("cache.{}.keys", layer); }
std::string value_cache(std::size_t layer) { return fmt::format("cache.{}.values", layer); }

std::vector<RotaryUse> rotary_uses(const ModelConfig& config) {
  std::vector<RotaryUse> uses;
  for (const auto& layer : config.layers) {
    const RotaryUse use{layer.rotary, layer.head_width};
    if (std::ranges::find(uses, use) == uses.end()) uses.push_back(use);
  }
  return uses;
}
std::string rotary_cosine(std::size_t table) { return fmt::format("rotary.{}.cosine", table); }
std::string rotary_sine(std::size_t table) { return fmt::format("rotary.{}.sine", table); }

}  // namespace assay::models
