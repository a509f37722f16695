// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model at work on one text: its program, its caches, and how many tokens are in them.

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/run/executor.h"
#include "models/families/model_graph.h"

namespace assay::models {

// Thrown where somebody wanted it.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Session {
 public:
  // Config and weights live as long. The program is one of model_graph(config, weights, limits).
  Session(const ModelConfig& config, const ModelWeights& weights, const GraphLimits& limits,
          compiler::Program program, const compiler::Runtime& runtime);

  // Puts tokens behind those that are there, `limits.chunk` at a time. Returns the logits of what
  // follows on the last (with all_logits: on each of them, row by row), valid until the next call.
  // Throws UserError, and changes nothing, for no tokens, for one that the vocabulary does not
  // have, and for more than the context holds; Interrupted, with whole chunks read, when that is
  // asked for.
  std::span<const float> extend(std::span<const std::int64_t> tokens);

  // The same in two parts: logits stay where they are computed until they are asked for. Of the
  // last token of what was read; none with all_logits.
  void read(std::span<const std::int64_t> tokens);
  std::span<const float> logits();
  // The first of the likeliest tokens, as a greedy Sampler picks it: on a device so many bytes less
  // to copy. Throws as Sampler::pick() does.
  std::int64_t likeliest();

  // Asked before each step of the program whether to go on no further.
  void interrupt_when(std::function<bool()> asked) { *interrupt_ = std::move(asked); }

  // Tokens that are there.
  std::int64_t position() const { return position_; }
  std::int64_t vocab() const { return config_.vocab; }
  const GraphLimits& limits() const { return limits_; }
  // Forgets them all.
  void reset() { position_ = 0; }
  // Forgets those from number `position` on; there are as many.
  void rewind(std::int64_t position);

  // How long each step of the program takes with `count` new tokens behind `cached` that are there:
  // medians of `calls` calls, after one more. Forgets all tokens. Throws UserError for numbers
  // beyond the limits.
  std::vector<double> step_seconds(std::int64_t count, std::int64_t cached, int calls = 5);

  std::int64_t cache_bytes() const { return cache_bytes_; }
  const compiler::Executor& executor() const { return executor_; }

 private:
  compiler::ExecutorOptions interruptible() const;
  std::byte* own(DType dtype, const std::vector<std::int64_t>& extents);
  std::byte* stored(std::int64_t bytes);
  std::byte* own_copy(const TensorView& view);
  void put_tokens(std::span<const std::int64_t> tokens);
  std::span<const float> logits_of(std::int64_t rows);
  void check_memory() const;
  std::optional<std::size_t> rotary_table_of(const std::string& name) const;
  compiler::Bindings greatest() const;
  std::byte* memory_of(const compiler::Buffer& buffer);

  const ModelConfig& config_;
  const ModelWeights& weights_;
  const GraphLimits limits_;
  std::unique_ptr<std::function<bool()>> interrupt_;  // where the executor finds it
  const std::shared_ptr<compiler::Store> store_;      // where all of it lies; null: in this process
  compiler::Executor executor_;
  std::deque<Tensor> own_;
  std::vector<std::shared_ptr<std::byte>> stored_;  // or there
  std::vector<std::byte*> outer_;
  std::byte* tokens_ = nullptr;
  std::byte* logits_ = nullptr;
  std::vector<float> taken_;  // of the store's logits
  std::vector<float> all_logits_;
  std::int64_t position_ = 0, cache_bytes_ = 0;
};

}  // namespace assay::models
