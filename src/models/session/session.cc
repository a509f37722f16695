// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/session.h"

#include <algorithm>

#include "base/error.h"
#include "base/resident_memory.h"
#include "base/units.h"
#include "models/families/rotary_tables.h"
#include "models/session/sampler.h"

namespace assay::models {

Session::Session(const ModelConfig& config, const ModelWeights& weights, const GraphLimits& limits,
                 compiler::Program program, const compiler::Runtime& runtime)
    : config_(config),
      weights_(weights),
      limits_(limits),
      interrupt_(std::make_unique<std::function<bool()>>()),
      store_(runtime.store),
      executor_(std::move(program), runtime, interruptible()) {
  check_memory();
  for (const auto& buffer : executor_.program().buffers) {
    if (buffer.kind == compiler::Buffer::Kind::kTemporary) continue;
    outer_.push_back(memory_of(buffer));
  }
  check(tokens_ != nullptr && logits_ != nullptr, "the program of a model");
}

compiler::ExecutorOptions Session::interruptible() const {
  compiler::ExecutorOptions options;
  options.before_step = [asked = interrupt_.get()](std::size_t) {
    if (*asked && (*asked)()) throw Interrupted();
  };
  return options;
}

std::byte* Session::own(DType dtype, const std::vector<std::int64_t>& extents) {
  if (store_) {
    const Shape shape(extents);
    return stored(shape.element_count() * static_cast<std::int64_t>(size_of(dtype)));
  }
  return own_.emplace_back(dtype, Shape(extents)).bytes().data();
}

std::byte* Session::stored(std::int64_t bytes) {
  return stored_.emplace_back(store_->allocate(bytes)).get();
}

// What is given is only read; in a store there is a copy of it.
std::byte* Session::own_copy(const TensorView& view) {
  const auto bytes =
      view.shape().element_count() * static_cast<std::int64_t>(size_of(view.dtype()));
  auto* there = stored(bytes);
  store_->put(there, static_cast<const std::byte*>(view.raw_data()), bytes);
  return there;
}

// Memory that is promised and not there would bring down whatever runs here.
void Session::check_memory() const {
  if (store_) return;  // it says itself when it is full
  double bytes = 0;
  for (const auto& buffer : executor_.program().buffers) {
    const bool is_given = buffer.kind == compiler::Buffer::Kind::kInput &&
                          rotary_table_of(buffer.name) == std::nullopt;
    if (is_given || buffer.kind == compiler::Buffer::Kind::kTemporary) continue;
    double elements = 1;
    for (const auto& dim : buffer.shape) elements *= static_cast<double>(dim.at(greatest()));
    bytes += elements * static_cast<double>(size_of(buffer.dtype));
  }
  const double available = available_bytes();
  if (bytes <= available) return;
  throw EnvironmentError(
      fmt::format("not enough memory: a context of {} tokens takes {}, and {} can be had",
                  limits_.context, format_bytes(bytes), format_bytes(available)));
}

// Which use of a rotary embedding an input is a table of, if any.
std::optional<std::size_t> Session::rotary_table_of(const std::string& name) const {
  for (std::size_t i = 0; i < rotary_uses(config_).size(); ++i) {
    if (name == rotary_cosine(i) || name == rotary_sine(i)) return i;
  }
  return std::nullopt;
}

// The largest that everything can become.
compiler::Bindings Session::greatest() const {
  return {{"s", limits_.chunk}, {"p", limits_.context - 1}};
}

std::byte* Session::memory_of(const compiler::Buffer& buffer) {
  std::vector<std::int64_t> extents;
  for (const auto& dim : buffer.shape) extents.push_back(dim.at(greatest()));
  if (buffer.kind == compiler::Buffer::Kind::kState) {
    cache_bytes_ +=
        Shape(extents).element_count() * static_cast<std::int64_t>(size_of(buffer.dtype));
    return own(buffer.dtype, extents);
  }
  if (buffer.kind == compiler::Buffer::Kind::kOutput) {
    check(buffer.name == "logits", "the only output of a model");
    return logits_ = own(buffer.dtype, extents);
  }
  if (buffer.name == "tokens") {
    return tokens_ = own(buffer.dtype, extents);
  }
  if (const auto number = rotary_table_of(buffer.name)) {
    const auto use = rotary_uses(config_)[*number];
    auto tables = rotary_tables(config_.rotaries.at(use.rotary), use.width, limits_.capacity());
    const bool is_cosine = buffer.name == rotary_cosine(*number);
    if (store_) return own_copy((is_cosine ? tables.cosine : tables.sine).view());
    own_.push_back(std::move(is_cosine ? tables.cosine : tables.sine));
    return own_.back().bytes().data();
  }
  if (store_) return own_copy(weights_.view(buffer.name));
  // Kernels take all operands alike; what is an input is only read.
  return static_cast<std::byte*>(
      const_cast<void*>(weights_.view(buffer.name).raw_data()));  // NOLINT
}

void Session::rewind(std::int64_t position) {
  check(position >= 0 && position <= position_, "a position that was reached");
  position_ = position;
}

std::span<const float> Session::extend(std::span<const std::int64_t> tokens) {
  read(tokens);
  if (limits_.all_logits) return all_logits_;
  return logits();
}

void Session::read(std::span<const std::int64_t> tokens) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (count == 0) fail("no tokens to go on from");
  for (const auto token : tokens) {
    if (token < 0 || token >= config_.vocab) {
      fail("tokens of this model are from 0 to {}, not {}", config_.vocab - 1, token);
    }
  }
  if (count > limits_.context - position_) {
    fail("a context of {} tokens, of which {} are taken, does not hold {} more", limits_.context,
         position_, count);
  }
  all_logits_.clear();
  for (std::int64_t begin = 0; begin < count; begin += limits_.chunk) {
    const auto some = std::min(limits_.chunk, count - begin);
    put_tokens(tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(some)));
    executor_.run_there({{"s", some}, {"p", position_}}, outer_);
    position_ += some;
    if (!limits_.all_logits) continue;
    const auto rows = logits_of(some);
    all_logits_.insert(all_logits_.end(), rows.begin(), rows.end());
  }
}

void Session::put_tokens(std::span<const std::int64_t> tokens) {
  const auto bytes = std::as_bytes(tokens);
  if (store_) {
    store_->put(tokens_, bytes.data(), std::ssize(bytes));
  } else {
    std::ranges::copy(bytes, tokens_);
  }
}

std::span<const float> Session::logits_of(std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows * config_.vocab);
  if (!store_) return {reinterpret_cast<const float*>(logits_), count};
  taken_.resize(count);
  const auto bytes = std::as_writable_bytes(std::span(taken_));
  store_->take(bytes.data(), logits_, std::ssize(bytes));
  return taken_;
}

std::span<const float> Session::logits() {
  check(!limits_.all_logits, "logits of the last token alone");
  return logits_of(1);
}

std::int64_t Session::likeliest() {
  check(!limits_.all_logits, "logits of the last token alone");
  if (!store_) return likeliest_of(logits());
  const auto token = store_->greatest(logits_, config_.vocab);
  // What is wrong is told by who looks at all of them.
  return token >= 0 ? token : likeliest_of(logits());
}

std::vector<double> Session::step_seconds(std::int64_t count, std::int64_t cached, int calls) {
  if (count < 1 || count > limits_.chunk) {
    fail("new tokens are from 1 to {}, not {}", limits_.chunk, count);
  }
  if (cached < 0 || cached >= limits_.context) {
    fail("cached tokens are from 0 to {}, not {}", limits_.context - 1, cached);
  }
  reset();
  put_tokens(std::vector<std::int64_t>(static_cast<std::size_t>(count), 0));
  const compiler::Bindings symbols = {{"s", count}, {"p", cached}};
  executor_.run_there(symbols, outer_);
  std::vector<std::vector<double>> seconds(executor_.program().steps.size());
  for (int call = 0; call < calls; ++call) {
    std::vector<double> once;
    executor_.run_timed_there(symbols, outer_, once);
    for (std::size_t i = 0; i < once.size(); ++i) seconds[i].push_back(once[i]);
  }
  std::vector<double> medians;
  for (auto& of_step : seconds) {
    const auto middle = of_step.begin() + static_cast<std::ptrdiff_t>(of_step.size() / 2);
    std::nth_element(of_step.begin(), middle, of_step.end());
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace assay::models
