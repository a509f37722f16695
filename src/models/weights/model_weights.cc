// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights/model_weights.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace assay::models {
namespace {

// Where elements would be that are not there.
alignas(64) constexpr std::byte kNoElements[64] = {};

constexpr const char* kExpertParts[] = {"down_proj", "gate_proj", "up_proj"};

std::string expert_part(std::size_t layer, std::int64_t expert, const char* part) {
  return layer_tensor(layer, fmt::format("mlp.experts.{}.{}.weight", expert, part));
}
bool has_separate_experts(const ModelConfig& config, const LayerConfig& layer) {
  return layer.has_experts && config.family == Family::kQwen3Moe;
}

void take_layer_weights(const ModelConfig& config, std::size_t number, const TakeWeight& take) {
  const auto& layer = config.layers[number];
  const auto h = config.hidden, d = layer.head_width;
  const auto add = [&](std::string_view name, std::initializer_list<std::int64_t> shape) {
    take(layer_tensor(number, name), Shape(shape));
  };
  add("input_layernorm.weight", {h});
  add("self_attn.q_proj.weight", {layer.heads * d, h});
  add("self_attn.k_proj.weight", {layer.kv_heads * d, h});
  if (!layer.keys_are_values) add("self_attn.v_proj.weight", {layer.kv_heads * d, h});
  add("self_attn.o_proj.weight", {h, layer.heads * d});
  if (config.norms_queries_keys) {
    add("self_attn.q_norm.weight", {d});
    add("self_attn.k_norm.weight", {d});
  }
  add("post_attention_layernorm.weight", {h});
  if (config.norms_after) {
    add("pre_feedforward_layernorm.weight", {h});
    add("post_feedforward_layernorm.weight", {h});
  }
  if (layer.has_dense) {
    add("mlp.gate_proj.weight", {config.ffn, h});
    add("mlp.up_proj.weight", {config.ffn, h});
    add("mlp.down_proj.weight", {h, config.ffn});
  }
  const auto& experts = config.experts;
  if (has_separate_experts(config, layer)) {
    add("mlp.gate.weight", {experts.count, h});
    for (std::int64_t e = 0; e < experts.count; ++e) {
      take(expert_part(number, e, "down_proj"), Shape({h, experts.ffn}));
      take(expert_part(number, e, "gate_proj"), Shape({experts.ffn, h}));
      take(expert_part(number, e, "up_proj"), Shape({experts.ffn, h}));
    }
  } else if (layer.has_experts) {
    add("router.proj.weight", {experts.count, h});
    add("router.scale", {h});
    add("router.per_expert_scale", {experts.count});
    add("experts.gate_up_proj", {experts.count, 2 * experts.ffn, h});
    add("experts.down_proj", {experts.count, h, experts.ffn});
    add("post_feedforward_layernorm_1.weight", {h});
    add("post_feedforward_layernorm_2.weight", {h});
    add("pre_feedforward_layernorm_2.weight", {h});
  }
  if (config.scales_layers) add("layer_scalar", {1});
}

// Where a tensor can be in the files of a model with parts: two programs, two ways.
const WeightFiles::Stored* find_stored(const WeightFiles& files, const ModelConfig& config,
                                       const std::string& name) {
  if (!config.is_part) return files.find(name);
  const auto* stored = files.find("language_model." + name);
  if (stored != nullptr || !name.starts_with("model.")) return stored;
  return files.find("model.language_model." + name.substr(6));
}
// The name without what such files put before it; empty for a tensor of another part.
std::string name_in_part(const std::string& name) {
  if (name.starts_with("language_model.")) return name.substr(15);
  if (name.starts_with("model.language_model.")) return "model." + name.substr(21);
  return {};
}

const std::byte* bytes_of(const TensorView& view) {
  return static_cast<const std::byte*>(view.raw_data());
}
bool is_same(const TensorView& a, const TensorView& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), static_cast<std::size_t>(a.byte_count())) == 0;
}

}  // namespace

std::string layer_tensor(std::size_t layer, std::string_view rest) {
  return fmt::format("model.layers.{}.{}", layer, rest);
}
std::string experts_tensor(std::size_t layer) { return layer_tensor(layer, "mlp.experts"); }
std::string experts_order(std::size_t layer) { return layer_tensor(layer, "mlp.experts.order"); }

void for_each_stored_weight(const ModelConfig& config, const TakeWeight& take) {
  take("model.embed_tokens.weight", Shape({config.vocab, config.hidden}));
  for (std::size_t i = 0; i < config.layers.size(); ++i) take_layer_weights(config, i, take);
  take("model.norm.weight", Shape({config.hidden}));
  if (!config.has_tied_head) take("lm_head.weight", Shape({config.vocab, config.hidden}));
}

ModelWeights ModelWeights::of_shapes(const ModelConfig& config, DType dtype) {
  ModelWeights weights;
  const auto add = [&](const std::string& name, DType of, const Shape& shape) {
    const TensorView view(of, kNoElements, shape);
    if (of == dtype) weights.bytes_ += view.byte_count();
    weights.views_.emplace(name, view);
  };
  for_each_stored_weight(config, [&](const std::string& name, const Shape& shape) {
    if (name.find(".mlp.experts.") == std::string::npos) add(name, dtype, shape);
  });
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (!has_separate_experts(config, config.layers[i])) continue;
    const auto& experts = config.experts;
    add(experts_tensor(i), dtype, Shape({experts.count, 3, experts.ffn * config.hidden}));
    add(experts_order(i), DType::kI64, Shape({experts.count}));
  }
  return weights;
}

ModelWeights::ModelWeights(const ModelConfig& config, const std::string& folder)
    : files_(std::in_place, folder) {
  for_each_stored_weight(config, [&](const std::string& name, const Shape& shape) {
    const auto* stored = find_stored(*files_, config, name);
    if (stored == nullptr) fail("{}: tensor '{}' is missing", files_->list_path(), name);
    const auto& view = stored->view;
    const auto dtype = view.dtype();
    if (dtype != DType::kF32 && dtype != DType::kBF16 && dtype != DType::kF16) {
      fail("{}: tensor '{}': expected f32, bf16 or f16, got {}", *stored->file, name,
           assay::name_of(dtype));
    }
    if (!(view.shape() == shape)) {
      fail("{}: tensor '{}': expected shape {}, got {}", *stored->file, name, shape.to_string(),
           view.shape().to_string());
    }
    bytes_ += view.byte_count();
    views_.emplace(name, view);
  });
  for (const auto& [stored_name, stored] : files_->tensors()) {
    const auto name = config.is_part ? name_in_part(stored_name) : stored_name;
    if (name.empty() || views_.contains(name)) continue;
    // What some programs write although it follows from the rest.
    if (config.has_tied_head && name == "lm_head.weight") {
      if (is_same(stored.view, views_.at("model.embed_tokens.weight"))) continue;
      fail(
          "{}: tensor '{}' is not model.embed_tokens.weight, though config.json says "
          "tie_word_embeddings",
          *stored.file, fit(printable(stored_name), 80));
    }
    if (name.ends_with(".rotary_emb.inv_freq")) continue;
    fail("{}: tensor '{}' belongs to no part of the model", *stored.file,
         fit(printable(stored_name), 80));
  }
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (has_separate_experts(config, config.layers[i])) gather_experts(config, i);
  }
}

void ModelWeights::gather_experts(const ModelConfig& config, std::size_t layer) {
  const auto count = config.experts.count, size = config.hidden * config.experts.ffn;
  const auto part = [&](std::int64_t expert, std::size_t i) -> const TensorView& {
    return views_.at(expert_part(layer, expert, kExpertParts[i]));
  };
  const auto dtype = part(0, 0).dtype();
  const auto part_bytes = size * static_cast<std::int64_t>(size_of(dtype));
  std::vector<std::int64_t> by_place(static_cast<std::size_t>(count));
  std::iota(by_place.begin(), by_place.end(), 0);
  std::ranges::sort(by_place, std::less<>(), [&](std::int64_t e) { return bytes_of(part(e, 0)); });
  const auto* first = bytes_of(part(by_place[0], 0));
  bool lies_so = true;
  for (std::int64_t place = 0; place < count; ++place) {
    const auto expert = by_place[static_cast<std::size_t>(place)];
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& view = part(expert, i);
      if (view.dtype() != dtype) {
        const auto name = expert_part(layer, expert, kExpertParts[i]);
        fail("{}: tensor '{}' is {}, others of its layer are {}", *files_->find(name)->file, name,
             assay::name_of(view.dtype()), assay::name_of(dtype));
      }
      const auto at = (3 * place + static_cast<std::int64_t>(i)) * part_bytes;
      lies_so = lies_so && bytes_of(view) == first + at;
    }
  }
  const Shape shape({count, 3, size});
  if (lies_so) {
    views_.emplace(experts_tensor(layer), TensorView(dtype, first, shape));
  } else {
    std::iota(by_place.begin(), by_place.end(), 0);
    auto& copy = own_.emplace_back(dtype, shape);
    auto* to = copy.bytes().data();
    for (std::int64_t expert = 0; expert < count; ++expert) {
      for (std::size_t i = 0; i < 3; ++i, to += part_bytes) {
        std::memcpy(to, bytes_of(part(expert, i)), static_cast<std::size_t>(part_bytes));
      }
    }
    copied_bytes_ += copy.byte_count();
    views_.emplace(experts_tensor(layer), copy.view());
  }
  auto& order = own_.emplace_back(DType::kI64, Shape({count}));
  for (std::int64_t place = 0; place < count; ++place) {
    order.as<std::int64_t>()[static_cast<std::size_t>(by_place[static_cast<std::size_t>(place)])] =
        place;
  }
  views_.emplace(experts_order(layer), order.view());
}

const TensorView& ModelWeights::view(const std::string& name) const {
  const auto at = views_.find(name);
  check(at != views_.end(), "a weight that the config names");
  return at->second;
}

DType ModelWeights::dtype() const { return view("model.embed_tokens.weight").dtype(); }

}  // namespace assay::models
