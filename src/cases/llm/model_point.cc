// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/model_point.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "lab/record/case.h"
#include "models/init/init_model.h"
#include "models/init/model_sizes.h"

namespace assay::cases::llm {
namespace {

// Counts changes of what `assay llm init` writes: folders of another number are other models.
constexpr int kWeightsVersion = 1;

bool is_folder(const std::string& model) { return model.find('/') != std::string::npos; }

struct MadeModel {
  models::Family family;
  std::string size;
};
// "qwen3-0.6b", "qwen3-moe-tiny": the longest family that the name begins with.
MadeModel made_model(const std::string& model) {
  MadeModel made;
  std::size_t longest = 0;
  for (const auto family : models::kAllFamilies) {
    const auto begin = std::string(models::name_of(family)) + "-";
    if (!model.starts_with(begin) || begin.size() < longest) continue;
    longest = begin.size();
    made = {family, model.substr(longest)};
  }
  if (longest > 0) return made;
  fail("point: 'model' is FAMILY-SIZE as assay llm init has them, or a folder, not '{}'", model);
}

}  // namespace

std::string dtype_of_config(const Json& config) {
  const auto name = config.value("dtype", config.value("torch_dtype", std::string()));
  return name == "float32" ? "f32" : name == "bfloat16" ? "bf16" : name == "float16" ? "f16" : name;
}

ModelPoint::ModelPoint(const Json& point)
    : model(lab::point_word(point, "model")),
      dtype(dtype_from_name(lab::point_word(point, "dtype"), "dtype")),
      prompt(lab::point_int(point, "prompt")),
      tokens(point.contains("tokens") ? lab::point_int(point, "tokens") : 0),
      context(lab::point_int(point, "context")),
      seed(lab::point_int(point, "seed")),
      ids(point.contains("ids") ? token_ids(lab::point_word(point, "ids"))
                                : std::vector<std::int64_t>()) {
  if (is_folder(model)) {
    config_ = plain_config(model);
    if (const auto found = dtype_of_config(config_); found != name_of(dtype)) {
      fail("point: the model in '{}' is of dtype '{}', not {}", model, found, name_of(dtype));
    }
  } else {
    const auto made = made_model(model);
    config_ = plain_config(models::config_of_size(made.family, made.size, "float32"), model);
  }
  layers_ = plain_layers_of(config_);
  experts_ = plain_experts_of(config_);
  if (!ids.empty() && std::ssize(ids) != prompt) {
    fail("point: 'ids' are {}, 'prompt' says {}", ids.size(), prompt);
  }
  for (const auto id : ids) {
    if (id < number("vocab_size")) continue;
    fail("point: tokens of {} are from 0 to {}, not {}", model, number("vocab_size") - 1, id);
  }
  if (prompt + tokens > context) {
    fail("point: a context of {} does not hold a prompt of {} and {} tokens", context, prompt,
         tokens);
  }
  if (context > number("max_position_embeddings")) {
    fail("point: {} knows a context of at most {}, not {}", model,
         number("max_position_embeddings"), context);
  }
}

std::string ModelPoint::folder() const {
  if (is_folder(model)) return model;
  return fmt::format("{}/models/{}-{}-{}-{}", cache_folder(), model, name_of(dtype), seed,
                     kWeightsVersion);
}

void ModelPoint::make_folder() const {
  namespace fs = std::filesystem;
  const auto folder = this->folder();
  if (fs::exists(folder)) return;
  make_directories(fs::path(folder).parent_path().string());
  const auto unfinished = fmt::format("{}.{}", folder, ::getpid());
  const auto made = made_model(model);
  models::WriteOptions options;
  options.dtype = dtype;
  options.seed = static_cast<std::uint64_t>(seed);
  fs::remove_all(unfinished);
  models::init_model(made.family, made.size, unfinished, options);
  std::error_code error;
  fs::rename(unfinished, folder, error);
  if (!error) return;
  fs::remove_all(unfinished);
  if (!fs::exists(folder)) fail("cannot make '{}': {}", folder, error.message());
}

std::vector<std::int64_t> ModelPoint::all_tokens(int set) const {
  const auto vocab = static_cast<std::uint64_t>(number("vocab_size"));
  std::vector<std::int64_t> all;
  const auto draw = [&](const char* name, std::int64_t count, int of_set) {
    const auto stream = lab::input_stream(seed, name, of_set);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto raw = stream[static_cast<std::uint64_t>(i)];
      all.push_back(static_cast<std::int64_t>(uniform_below(raw, vocab)));
    }
  };
  const int of_prompt = tokens > 0 ? 0 : set;
  draw("prompt", prompt, of_prompt);
  if (!ids.empty()) {
    const auto drawn = all.back();
    all = ids;
    if (of_prompt > 0) all.back() = drawn;
  }
  draw("tokens", tokens, set);
  return all;
}

double ModelPoint::layer_elements(std::int64_t experts) const {
  const auto hidden = static_cast<double>(number("hidden_size"));
  const auto ffn = static_cast<double>(number("intermediate_size"));
  double all = 0;
  for (const auto& layer : layers_) {
    const auto kv = layer.kv_heads * layer.width * (layer.keys_are_values ? 1 : 2);
    all += static_cast<double>(2 * layer.heads * layer.width + kv);
    if (layer.has_dense) all += 3 * ffn;
    if (layer.has_experts) {
      all += static_cast<double>(experts_.count + 3 * experts_.ffn * experts);
    }
  }
  return hidden * all;
}
double ModelPoint::head_products() const {
  return static_cast<double>(number("hidden_size") * number("vocab_size"));
}

double ModelPoint::multiply_adds(std::int64_t count, std::int64_t cached,
                                 std::int64_t heads) const {
  // Token i sees cached + i + 1 keys or as many as a window has, for scores and for values.
  double attention = 0;
  for (const auto& layer : layers_) {
    double keys = 0;
    for (auto i = cached + 1; i <= cached + count; ++i) {
      keys += static_cast<double>(layer.window > 0 ? std::min(i, layer.window) : i);
    }
    attention += 2 * keys * static_cast<double>(layer.heads * layer.width);
  }
  return static_cast<double>(count) * layer_elements(experts_.chosen) +
         static_cast<double>(heads) * head_products() + attention;
}

double ModelPoint::weight_bytes() const {
  const bool is_tied = config_.value("tie_word_embeddings", false);
  const double matrices = layer_elements(experts_.count) + (is_tied ? 1 : 2) * head_products();
  return matrices * static_cast<double>(size_of(dtype));
}

double ModelPoint::cache_bytes(std::int64_t count) const {
  std::int64_t elements = 0;
  for (const auto& layer : layers_) elements += 2 * layer.kv_heads * layer.width;
  return static_cast<double>(elements * count) * static_cast<double>(size_of(dtype));
}

double ModelPoint::read_bytes(std::int64_t count, std::int64_t cached) const {
  const auto reached = std::min(experts_.count, count * experts_.chosen);
  const double weights = layer_elements(reached) + head_products();
  return weights * static_cast<double>(size_of(dtype)) + cache_bytes(cached + count);
}

// As BlockPoint::tolerance() has it of one layer, 29 roundings to the dtype, and four more of the
// two norms that Gemma has behind attention and feed-forward parts.
double ModelPoint::layer_deviation() const {
  const double roundings = plain_family(config_).is_gemma ? 33 : 29;
  return std::sqrt(roundings / 3) * unit_roundoff(dtype);
}

// Sums of the lengths below, relative to the size of what is computed: errors of layers add up as
// independent ones do, and logits are as far off as the state that they are made of.
Tolerance ModelPoint::tolerance(double mean_square) const {
  const double u = unit_roundoff(dtype), u32 = unit_roundoff(DType::kF32);
  const auto root = [&](const char* field) {
    return std::sqrt(static_cast<double>(number(field)));
  };
  const double sums = 4 * (2 * root("hidden_size") + root("head_dim") +
                           std::sqrt(static_cast<double>(prompt + tokens))) +
                      3 * root("hidden_size") + root("intermediate_size");
  const double layers = root("num_hidden_layers");
  const double largest = 3.5 * std::sqrt(3.0) * layer_deviation() + 8 * u32 * sums;
  const double mean = layer_deviation() + 8 * u32 * sums / 6;
  const double size = layers * std::sqrt(mean_square);
  return {2 * u, largest * size, mean * size};
}

// The state that a router sees has gone through half the layers, on the average; a right program
// errs by half of what it may.
double ModelPoint::router_noise() const {
  if (experts_.count == 0 || dtype == DType::kF32) return 0;
  return layer_deviation() / 2 * std::sqrt(static_cast<double>(layers_.size()) / 2);
}

std::vector<std::int64_t> token_ids(const std::string& text) {
  std::vector<std::int64_t> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    std::int64_t id = -1;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, id);
    if (error != std::errc() || rest != text.data() + end || id < 0) {
      fail("point: 'ids' are numbers of tokens with commas between, not '{}'",
           text.substr(at, end - at));
    }
    ids.push_back(id);
    at = end + 1;
  }
  return ids;
}

}  // namespace assay::cases::llm
