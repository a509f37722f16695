// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A canonical point of the cases about whole models (docs/methods/language_models.md).

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "cases/llm/oracle/plain_config.h"
#include "cases/llm/tolerance.h"
#include "tensor/dtype.h"

namespace assay::cases::llm {

// "bf16" of a config.json that says bfloat16; what it says where that is no dtype of models.
std::string dtype_of_config(const Json& config);

struct ModelPoint {
  // FAMILY-SIZE as `assay llm init` makes it with this dtype and seed, or a folder (it has a
  // slash).
  std::string model;
  DType dtype = DType::kBF16;
  std::int64_t prompt = 0;        // tokens
  std::int64_t tokens = 0;        // after the prompt, one by one
  std::int64_t context = 0;       // that every provider's cache holds
  std::int64_t seed = 0;          // of the tokens, and of the weights that are made
  std::vector<std::int64_t> ids;  // those of the prompt, where they are given and not drawn

  // Throws UserError for a model that is none, of another dtype, or not known to the oracle, for
  // ids that are not as many as the prompt or beyond the vocabulary, and for a context that the
  // tokens do not fit into.
  explicit ModelPoint(const Json& point);

  // Where the model is, or will be. Those that are made live in the cache folder, under a name that
  // says all they depend on.
  std::string folder() const;
  // Makes it, if need be: once, whoever comes first.
  void make_folder() const;
  const Json& config() const { return config_; }

  // The prompt and what follows it, of one set of inputs; every provider reads these. A prompt that
  // something follows is the same in all sets: it is read before anything is timed. Of one that is
  // given and that nothing follows, sets but the first have another last token: an answer that was
  // kept is then a wrong one.
  std::vector<std::int64_t> all_tokens(int set) const;

  // Multiply-adds of `count` tokens behind `cached` others, logits for `heads` of them.
  double multiply_adds(std::int64_t count, std::int64_t cached, std::int64_t heads) const;
  // Bytes that reading tokens at once moves at least: weights once, of experts those that as many
  // tokens can reach, and what was there before.
  double read_bytes(std::int64_t count, std::int64_t cached) const;
  double weight_bytes() const;  // of all weights
  double cache_bytes(std::int64_t tokens) const;

  // Of logits whose mean square is `mean_square`.
  Tolerance tolerance(double mean_square) const;

  // How far roundings move the scores of routers, as a share of them; 0: it has no experts, or too
  // small to choose others.
  double router_noise() const;

 private:
  std::int64_t number(const char* field) const { return config_.at(field).get<std::int64_t>(); }
  double head_products() const;
  // Matrices of all layers, each with so many of its experts.
  double layer_elements(std::int64_t experts) const;
  // What a layer errs by, in the mean square, relative to what it computes.
  double layer_deviation() const;

  Json config_;
  std::vector<PlainLayer> layers_;
  PlainExperts experts_;
};

// Numbers of tokens, e.g. "1,2,3". Throws UserError that names what is none.
std::vector<std::int64_t> token_ids(const std::string& text);

}  // namespace assay::cases::llm
