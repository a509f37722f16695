// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A canonical point of the cases about whole models (docs/methods/language_models.md).

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "cases/llm/tolerance.h"
#include "tensor/dtype.h"

namespace assay::cases::llm {

struct ModelPoint {
  // FAMILY-SIZE as `assay llm init` makes it with this dtype and seed, or a folder (it has a
  // slash).
  std::string model;
  DType dtype = DType::kBF16;
  std::int64_t prompt = 0;   // tokens
  std::int64_t tokens = 0;   // after the prompt, one by one
  std::int64_t context = 0;  // that every provider's cache holds
  std::int64_t seed = 0;     // of the tokens, and of the weights that are made

  // Throws UserError for a model that is none, of another dtype, or not known to the oracle, and
  // for a context that the tokens do not fit into.
  explicit ModelPoint(const Json& point);

  // Where the model is, or will be. Those that are made live in the cache folder, under a name that
  // says all they depend on.
  std::string folder() const;
  // Makes it, if need be: once, whoever comes first.
  void make_folder() const;
  const Json& config() const { return config_; }

  // The prompt and what follows it, of one set of inputs; every provider reads these. A prompt that
  // something follows is the same in all sets: it is read before anything is timed.
  std::vector<std::int64_t> all_tokens(int set) const;

  // Of one token, without the head and without looking back; of the head.
  double layer_products() const;
  double head_products() const;
  // Multiply-adds of `count` tokens behind `cached` others, logits for `heads` of them.
  double multiply_adds(std::int64_t count, std::int64_t cached, std::int64_t heads) const;
  // Bytes that reading one token moves at least: weights once, and what it looks back at.
  double token_bytes(std::int64_t cached) const;
  double weight_bytes() const;

  // Of logits whose mean square is `mean_square`.
  Tolerance tolerance(double mean_square) const;

 private:
  std::int64_t number(const char* field) const { return config_.at(field).get<std::int64_t>(); }
  Json config_;
};

}  // namespace assay::cases::llm
