// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>

#include "base/error.h"
#include "base/philox.h"
#include "cases/llm/oracle/plain_experts.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

// All tensors of a folder, whatever file each is in.
class StoredTensors {
 public:
  explicit StoredTensors(const std::string& folder) : folder_(folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors") files_.emplace_back(entry.path().string());
    }
  }
  const TensorView& operator()(const std::string& name) const {
    for (const auto& file : files_) {
      if (file.contains(name)) return file.view(name);
    }
    fail("{}: no tensor '{}'", folder_, name);
  }

 private:
  std::string folder_;
  std::deque<SafetensorsFile> files_;
};

PlainMatrix rows_of(const TensorView& table, std::span<const std::int64_t> rows) {
  PlainMatrix some(static_cast<std::int64_t>(rows.size()), table.extent(1));
  for (std::int64_t i = 0; i < some.rows; ++i) {
    const auto at = rows[static_cast<std::size_t>(i)];
    const PlainMatrix row(table.slice(0, at, at + 1));
    std::copy_n(row.row(0), some.columns, some.row(i));
  }
  return some;
}
PlainMatrix columns_of(const PlainMatrix& x, std::int64_t begin, std::int64_t count) {
  PlainMatrix some(x.rows, count);
  for (std::int64_t i = 0; i < x.rows; ++i) std::copy_n(x.row(i) + begin, count, some.row(i));
  return some;
}
void grow(PlainMatrix& x, const PlainMatrix& by) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += by.values[i];
}
void multiply(PlainMatrix& x, double by) {
  for (auto& value : x.values) value *= by;
}
// The same numbers in rows of another length.
PlainMatrix in_rows_of(const PlainMatrix& x, std::int64_t columns) {
  PlainMatrix y(x.rows * x.columns / columns, columns);
  y.values = x.values;
  return y;
}
double rounded_to(DType dtype, double x) {
  return dtype == DType::kBF16  ? static_cast<double>(BFloat16(x))
         : dtype == DType::kF16 ? static_cast<double>(Half(x))
         : dtype == DType::kF32 ? static_cast<double>(static_cast<float>(x))
                                : x;
}

class PlainModel {
 public:
  PlainModel(const std::string& folder, const RouterNoise& noise)
      : config_(plain_config(folder)),
        family_(plain_family(config_)),
        experts_(plain_experts_of(config_)),
        layers_(plain_layers_of(config_)),
        epsilon_(json_field<double>(config_, "rms_norm_eps", "config.json")),
        tensor_(folder),
        noise_(noise) {}

  PlainMatrix logits(std::span<const std::int64_t> tokens, std::int64_t first) const {
    const auto& embeddings = tensor_("model.embed_tokens.weight");
    auto x = rows_of(embeddings, tokens);
    // The factor is a number of the model's dtype.
    if (family_.is_gemma) {
      multiply(x, rounded_to(embeddings.dtype(), std::sqrt(static_cast<double>(x.columns))));
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) add_layer(i, x);
    std::vector<std::int64_t> last;
    for (std::int64_t i = first; i < x.rows; ++i) last.push_back(i);
    const auto y = normed(x.chosen(last), tensor_("model.norm.weight"));
    const bool is_tied = config_.value("tie_word_embeddings", family_.is_gemma);
    auto said = plain_linear(y, is_tied ? embeddings : tensor_("lm_head.weight"));
    const auto cap = config_.find("final_logit_softcapping");
    if (cap != config_.end() && cap->is_number()) {
      const auto most = cap->get<double>();
      for (auto& value : said.values) value = most * std::tanh(value / most);
    }
    return said;
  }

 private:
  const TensorView& weight(std::size_t layer, const std::string& name) const {
    return tensor_(fmt::format("model.layers.{}.{}", layer, name));
  }
  PlainMatrix normed(const PlainMatrix& x, const TensorView& g) const {
    return plain_rms_norm(x, g, epsilon_, family_.norm_adds_one ? 1 : 0);
  }
  PlainMatrix gated(const PlainMatrix& rows, const TensorView& gate, const TensorView& up,
                    const TensorView& down) const {
    const auto inner =
        plain_gate(plain_linear(rows, gate), plain_linear(rows, up), family_.is_gemma);
    return plain_linear(inner, down);
  }

  // x grows by what attention and the feed-forward part make of it.
  void add_layer(std::size_t number, PlainMatrix& x) const {
    auto seen = attended(number, normed(x, weight(number, "input_layernorm.weight")));
    const auto& after = weight(number, "post_attention_layernorm.weight");
    if (!family_.is_gemma) {
      grow(x, seen);
      const auto h = normed(x, after);
      grow(x, layers_[number].has_experts ? through_experts(number, h, h) : dense(number, h));
      return;
    }
    const auto norm = [&](const char* name, const PlainMatrix& y) {
      return normed(y, weight(number, fmt::format("{}.weight", name)));
    };
    grow(x, normed(seen, after));
    auto y = dense(number, norm("pre_feedforward_layernorm", x));
    if (layers_[number].has_experts) {
      y = norm("post_feedforward_layernorm_1", y);
      const auto mixed = through_experts(number, x, norm("pre_feedforward_layernorm_2", x));
      grow(y, norm("post_feedforward_layernorm_2", mixed));
    }
    grow(x, norm("post_feedforward_layernorm", y));
    if (family_.is_gemma4) multiply(x, PlainMatrix(weight(number, "layer_scalar")).values.at(0));
  }

  PlainMatrix attended(std::size_t number, const PlainMatrix& h) const {
    const auto& layer = layers_[number];
    const auto width = layer.width;
    auto q = plain_linear(h, weight(number, "self_attn.q_proj.weight"));
    auto k = plain_linear(h, weight(number, "self_attn.k_proj.weight"));
    auto v = layer.keys_are_values ? k : plain_linear(h, weight(number, "self_attn.v_proj.weight"));
    if (family_.norms_heads) {
      const auto by_head = [&](const PlainMatrix& x, const char* name) {
        return in_rows_of(normed(in_rows_of(x, width), weight(number, name)), x.columns);
      };
      q = by_head(q, "self_attn.q_norm.weight");
      k = by_head(k, "self_attn.k_norm.weight");
    }
    if (family_.is_gemma4)
      v = in_rows_of(plain_levelled(in_rows_of(v, width), epsilon_), v.columns);
    PlainMatrix cos(h.rows, width / 2), sin(h.rows, width / 2);
    for (std::int64_t l = 0; l < width / 2; ++l) {
      const double frequency = rotary_frequency(layer.rope, l, width);
      for (std::int64_t i = 0; i < h.rows; ++i) {
        cos.row(i)[l] = std::cos(static_cast<double>(i) * frequency);
        sin.row(i)[l] = std::sin(static_cast<double>(i) * frequency);
      }
    }
    plain_rotary(q, cos, sin, width);
    plain_rotary(k, cos, sin, width);
    PlainMatrix seen(h.rows, layer.heads * width);
    for (std::int64_t head = 0; head < layer.heads; ++head) {
      const auto shared = head / (layer.heads / layer.kv_heads);
      const auto y =
          plain_attention(columns_of(q, head * width, width), columns_of(k, shared * width, width),
                          columns_of(v, shared * width, width), 0, layer.scale, layer.window);
      for (std::int64_t i = 0; i < h.rows; ++i)
        std::copy_n(y.row(i), width, seen.row(i) + head * width);
    }
    return plain_linear(seen, weight(number, "self_attn.o_proj.weight"));
  }

  PlainMatrix dense(std::size_t number, const PlainMatrix& h) const {
    return gated(h, weight(number, "mlp.gate_proj.weight"), weight(number, "mlp.up_proj.weight"),
                 weight(number, "mlp.down_proj.weight"));
  }

  // Experts make something of h; the router looks at `routed`.
  PlainMatrix through_experts(std::size_t number, const PlainMatrix& routed,
                              const PlainMatrix& h) const {
    auto routes = plain_routes(scores(number, routed), experts_.chosen, experts_.renormalises);
    if (family_.separate_experts) {
      return plain_mixture(h, routes, h.columns, [&](std::int64_t e, const PlainMatrix& rows) {
        const auto part = [&](const char* name) -> const TensorView& {
          return weight(number, fmt::format("mlp.experts.{}.{}_proj.weight", e, name));
        };
        return gated(rows, part("gate"), part("up"), part("down"));
      });
    }
    const PlainMatrix scales(weight(number, "router.per_expert_scale"));
    for (auto& route : routes) {
      for (auto& [expert, share] : route) {
        share *= scales.values.at(static_cast<std::size_t>(expert));
      }
    }
    const auto& both = weight(number, "experts.gate_up_proj");
    const auto& down = weight(number, "experts.down_proj");
    return plain_mixture(h, routes, h.columns, [&](std::int64_t e, const PlainMatrix& rows) {
      const auto of_expert = both.select(0, e);
      const auto ffn = experts_.ffn;
      return gated(rows, of_expert.slice(0, 0, ffn), of_expert.slice(0, ffn, 2 * ffn),
                   down.select(0, e));
    });
  }

  PlainMatrix scores(std::size_t number, const PlainMatrix& x) const {
    auto all = family_.separate_experts ? plain_linear(x, weight(number, "mlp.gate.weight"))
                                        : plain_linear(scaled_for_router(number, x),
                                                       weight(number, "router.proj.weight"));
    if (noise_.deviation == 0) return all;
    const Philox stream(noise_.draw, number);
    std::uint64_t next = 0;
    for (std::int64_t i = 0; i < all.rows; ++i) {
      double squares = 0;
      for (std::int64_t e = 0; e < all.columns; ++e) squares += all.row(i)[e] * all.row(i)[e];
      const double size = std::sqrt(squares / static_cast<double>(all.columns));
      const double most = std::sqrt(3.0) * noise_.deviation * size;  // of uniform numbers
      for (std::int64_t e = 0; e < all.columns; ++e) {
        all.row(i)[e] += uniform(stream[next++], -most, most);
      }
    }
    return all;
  }
  PlainMatrix scaled_for_router(std::size_t number, const PlainMatrix& x) const {
    auto y = plain_rms_norm(x, weight(number, "router.scale"), epsilon_);
    multiply(y, 1 / std::sqrt(static_cast<double>(x.columns)));
    return y;
  }

  Json config_;
  PlainFamily family_;
  PlainExperts experts_;
  std::vector<PlainLayer> layers_;
  double epsilon_;
  StoredTensors tensor_;
  RouterNoise noise_;
};

}  // namespace

PlainMatrix plain_logits(const std::string& folder, std::span<const std::int64_t> tokens,
                         std::int64_t first, const RouterNoise& noise) {
  return PlainModel(folder, noise).logits(tokens, first);
}

}  // namespace assay::cases::llm
