// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <numbers>

#include "base/error.h"
#include "base/input_file.h"
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

// Angles by which pairs of a head turn at each position.
double rotary_frequency(const Json& rope, std::int64_t pair, std::int64_t width) {
  const double theta = rope.at("rope_theta").get<double>();
  const double frequency =
      std::pow(theta, -2 * static_cast<double>(pair) / static_cast<double>(width));
  if (rope.at("rope_type") != "llama3") return frequency;
  const double waves = rope.at("original_max_position_embeddings").get<double>() * frequency /
                       (2 * std::numbers::pi);  // within the original context
  const double low = rope.at("low_freq_factor").get<double>();
  const double high = rope.at("high_freq_factor").get<double>();
  const double kept = std::clamp((waves - low) / (high - low), 0.0, 1.0);
  return frequency * (kept + (1 - kept) / rope.at("factor").get<double>());
}

class PlainModel {
 public:
  explicit PlainModel(const std::string& folder)
      : config_(plain_config(folder)),
        tensor_(folder),
        heads_(config_.at("num_attention_heads")),
        kv_heads_(config_.at("num_key_value_heads")),
        width_(config_.at("head_dim")),
        epsilon_(config_.at("rms_norm_eps")) {}

  PlainMatrix logits(std::span<const std::int64_t> tokens, std::int64_t first) const {
    const auto count = static_cast<std::int64_t>(tokens.size());
    auto x = rows_of(tensor_("model.embed_tokens.weight"), tokens);
    PlainMatrix cos(count, width_ / 2), sin(count, width_ / 2);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t l = 0; l < width_ / 2; ++l) {
        const double angle =
            static_cast<double>(i) * rotary_frequency(config_.at("rope_parameters"), l, width_);
        cos.row(i)[l] = std::cos(angle);
        sin.row(i)[l] = std::sin(angle);
      }
    }
    for (std::int64_t i = 0; i < config_.at("num_hidden_layers"); ++i) add_layer(i, cos, sin, x);
    std::vector<std::int64_t> last;
    for (std::int64_t i = first; i < count; ++i) last.push_back(i);
    const auto y = plain_rms_norm(x.chosen(last), tensor_("model.norm.weight"), epsilon_);
    const bool is_tied = config_.value("tie_word_embeddings", false);
    return plain_linear(y, tensor_(is_tied ? "model.embed_tokens.weight" : "lm_head.weight"));
  }

 private:
  static PlainMatrix rows_of(const TensorView& table, std::span<const std::int64_t> rows) {
    PlainMatrix some(static_cast<std::int64_t>(rows.size()), table.extent(1));
    for (std::int64_t i = 0; i < some.rows; ++i) {
      const auto at = rows[static_cast<std::size_t>(i)];
      const PlainMatrix row(table.slice(0, at, at + 1));
      std::copy_n(row.row(0), some.columns, some.row(i));
    }
    return some;
  }
  // x grows by what attention and the feed-forward part make of it.
  void add_layer(std::int64_t number, const PlainMatrix& cos, const PlainMatrix& sin,
                 PlainMatrix& x) const {
    const auto weight = [&](const char* name) -> const TensorView& {
      return tensor_(fmt::format("model.layers.{}.{}.weight", number, name));
    };
    const auto grow = [&x](const PlainMatrix& by) {
      for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += by.values[i];
    };
    const auto h = plain_rms_norm(x, weight("input_layernorm"), epsilon_);
    auto q = plain_linear(h, weight("self_attn.q_proj"));
    auto k = plain_linear(h, weight("self_attn.k_proj"));
    const auto v = plain_linear(h, weight("self_attn.v_proj"));
    if (config_.at("model_type") == "qwen3") {
      q = heads_normed(q, weight("self_attn.q_norm"));
      k = heads_normed(k, weight("self_attn.k_norm"));
    }
    plain_rotary(q, cos, sin, width_);
    plain_rotary(k, cos, sin, width_);
    PlainMatrix seen(x.rows, heads_ * width_);
    for (std::int64_t head = 0; head < heads_; ++head) {
      const auto shared = head / (heads_ / kv_heads_);
      const auto y = plain_attention(head_of(q, head), head_of(k, shared), head_of(v, shared), 0);
      for (std::int64_t i = 0; i < x.rows; ++i)
        std::copy_n(y.row(i), width_, seen.row(i) + head * width_);
    }
    grow(plain_linear(seen, weight("self_attn.o_proj")));
    const auto f = plain_rms_norm(x, weight("post_attention_layernorm"), epsilon_);
    grow(plain_linear(plain_gate(plain_linear(f, weight("mlp.gate_proj")),
                                 plain_linear(f, weight("mlp.up_proj"))),
                      weight("mlp.down_proj")));
  }
  PlainMatrix head_of(const PlainMatrix& x, std::int64_t head) const {
    PlainMatrix one(x.rows, width_);
    for (std::int64_t i = 0; i < x.rows; ++i)
      std::copy_n(x.row(i) + head * width_, width_, one.row(i));
    return one;
  }
  PlainMatrix heads_normed(const PlainMatrix& x, const TensorView& weight) const {
    PlainMatrix heads(x.rows * x.columns / width_, width_);
    heads.values = x.values;
    auto y = plain_rms_norm(heads, weight, epsilon_);
    PlainMatrix rows(x.rows, x.columns);
    rows.values = std::move(y.values);
    return rows;
  }

  Json config_;
  StoredTensors tensor_;
  std::int64_t heads_, kv_heads_, width_;
  double epsilon_;
};

}  // namespace

Json plain_config(const std::string& folder) {
  const auto path = folder + "/config.json";
  auto config = parse_json(read_input_file(path), path);
  const auto family = config.value("model_type", std::string());
  if (family != "llama" && family != "qwen3") {
    fail("{}: the suite knows the answers of llama and qwen3, not of '{}'", path, family);
  }
  // Older files leave the width of heads to be computed, and say rotary embeddings in other words.
  if (!config.contains("head_dim")) {
    config["head_dim"] = json_field<std::int64_t>(config, "hidden_size", path) /
                         json_field<std::int64_t>(config, "num_attention_heads", path);
  }
  if (!config.contains("rope_parameters")) {
    config["rope_parameters"] = {{"rope_type", "default"}};
    if (const auto scaling = config.find("rope_scaling");
        scaling != config.end() && scaling->is_object()) {
      config["rope_parameters"] = *scaling;
    }
    config["rope_parameters"]["rope_theta"] = json_field<double>(config, "rope_theta", path);
  }
  return config;
}

PlainMatrix plain_logits(const std::string& folder, std::span<const std::int64_t> tokens,
                         std::int64_t first) {
  return PlainModel(folder).logits(tokens, first);
}

}  // namespace assay::cases::llm
