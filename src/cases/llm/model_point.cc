// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/model_point.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "cases/llm/oracle/plain_model.h"
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
// "qwen3-0.6b"; families that the oracle knows.
MadeModel made_model(const std::string& model) {
  const auto dash = model.find('-');
  const auto family = model.substr(0, dash);
  if (dash == std::string::npos || (family != "llama" && family != "qwen3")) {
    fail("point: 'model' is llama-SIZE, qwen3-SIZE or a folder, not '{}'", model);
  }
  return {models::family_from_name(family), model.substr(dash + 1)};
}

std::string dtype_of_config(const Json& config) {
  const auto name = config.value("dtype", config.value("torch_dtype", std::string()));
  return name == "float32" ? "f32" : name == "bfloat16" ? "bf16" : name == "float16" ? "f16" : name;
}

}  // namespace

ModelPoint::ModelPoint(const Json& point)
    : model(lab::point_word(point, "model")),
      dtype(dtype_from_name(lab::point_word(point, "dtype"), "dtype")),
      prompt(lab::point_int(point, "prompt")),
      tokens(point.contains("tokens") ? lab::point_int(point, "tokens") : 0),
      context(lab::point_int(point, "context")),
      seed(lab::point_int(point, "seed")) {
  if (is_folder(model)) {
    config_ = plain_config(model);
    if (const auto found = dtype_of_config(config_); found != name_of(dtype)) {
      fail("point: the model in '{}' is of dtype '{}', not {}", model, found, name_of(dtype));
    }
  } else {
    const auto made = made_model(model);
    config_ = models::config_of_size(made.family, made.size, "float32");
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
  draw("prompt", prompt, tokens > 0 ? 0 : set);
  draw("tokens", tokens, set);
  return all;
}

double ModelPoint::layer_products() const {
  const auto hidden = static_cast<double>(number("hidden_size"));
  const auto ffn = static_cast<double>(number("intermediate_size"));
  const auto q = static_cast<double>(number("num_attention_heads") * number("head_dim"));
  const auto kv = static_cast<double>(number("num_key_value_heads") * number("head_dim"));
  const auto layers = static_cast<double>(number("num_hidden_layers"));
  return layers * hidden * (2 * q + 2 * kv + 3 * ffn);
}
double ModelPoint::head_products() const {
  return static_cast<double>(number("hidden_size") * number("vocab_size"));
}

double ModelPoint::multiply_adds(std::int64_t count, std::int64_t cached,
                                 std::int64_t heads) const {
  const auto n = static_cast<double>(count);
  // Token i sees cached + i + 1 keys, for scores and for values.
  const auto q = static_cast<double>(number("num_attention_heads") * number("head_dim") *
                                     number("num_hidden_layers"));
  const double attention = 2 * q * n * (static_cast<double>(cached) + (n + 1) / 2);
  return n * layer_products() + static_cast<double>(heads) * head_products() + attention;
}

double ModelPoint::weight_bytes() const {
  const bool is_tied = config_.value("tie_word_embeddings", false);
  const double matrices = layer_products() + (is_tied ? 1 : 2) * head_products();
  return matrices * static_cast<double>(size_of(dtype));
}

double ModelPoint::token_bytes(std::int64_t cached) const {
  const auto kv = static_cast<double>(2 * number("num_key_value_heads") * number("head_dim") *
                                      number("num_hidden_layers"));
  const double elements = layer_products() + head_products() + kv * static_cast<double>(cached + 1);
  return elements * static_cast<double>(size_of(dtype));
}

// As BlockPoint::tolerance() has it of one layer, 29 roundings to the dtype and sums of the lengths
// below, relative to the size of what is computed: errors of layers add up as independent ones do,
// and logits are as far off as the state that they are made of.
Tolerance ModelPoint::tolerance(double mean_square) const {
  const double u = unit_roundoff(dtype), u32 = unit_roundoff(DType::kF32);
  const auto root = [&](const char* field) {
    return std::sqrt(static_cast<double>(number(field)));
  };
  const double sums = 4 * (2 * root("hidden_size") + root("head_dim") +
                           std::sqrt(static_cast<double>(prompt + tokens))) +
                      3 * root("hidden_size") + root("intermediate_size");
  const double layers = root("num_hidden_layers");
  const double largest = 3.5 * std::sqrt(29.0) * u + 8 * u32 * sums;
  const double mean = std::sqrt(29.0 / 3) * u + 8 * u32 * sums / 6;
  const double size = layers * std::sqrt(mean_square);
  return {2 * u, largest * size, mean * size};
}

}  // namespace assay::cases::llm
