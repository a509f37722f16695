// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/timing.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"

namespace assay::compiler {

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
TimedProgram::TimedProgram(Program program, const Runtime& runtime, const Trial& trial)
    : executor_(std::move(program), runtime), store_(runtime.store), symbols_(trial.symbols) {
  if (store_) {
    place_in_store(trial);
    return;
  }
  for (const auto& buffer : executor_.program().buffers) {
    switch (buffer.kind) {
      case Buffer::Kind::kTemporary:
        continue;
      case Buffer::Kind::kInput:
        // Kernels take all operands alike; what is an input is only read.
        pointers_.push_back(
            const_cast<std::byte*>(trial.inputs.at(buffer.name).bytes().data()));  // NOLINT
        continue;
      case Buffer::Kind::kState:
        tensors_.push_back(Tensor::copy(trial.inputs.at(buffer.name).view()));
        break;
      case Buffer::Kind::kOutput: {
        std::vector<std::int64_t> extents;
        for (const auto& dim : buffer.shape) extents.push_back(dim.at(symbols_));
        tensors_.emplace_back(buffer.dtype, Shape(extents));
        break;
      }
    }
    pointers_.push_back(tensors_.back().bytes().data());
  }
}

void TimedProgram::place_in_store(const Trial& trial) {
  for (const auto& buffer : executor_.program().buffers) {
    if (buffer.kind == Buffer::Kind::kTemporary) continue;
    const auto bytes =
        product(buffer.shape).at(symbols_) * static_cast<std::int64_t>(size_of(buffer.dtype));
    stored_.push_back(store_->allocate(bytes));
    pointers_.push_back(stored_.back().get());
    if (buffer.kind == Buffer::Kind::kOutput) continue;
    store_->put(pointers_.back(), trial.inputs.at(buffer.name).bytes().data(), bytes);
  }
}

double TimedProgram::call() {
  if (store_) store_->wait();
  const auto begin = monotonic_ns();
  executor_.run_there(symbols_, pointers_);
  if (store_) store_->wait();
  return static_cast<double>(monotonic_ns() - begin) * 1e-9;
}
void TimedProgram::calibrate(double call_seconds, double least_seconds) {
  calls_ = std::clamp(static_cast<int>(std::ceil(least_seconds / std::max(call_seconds, 1e-9))), 1,
                      10'000);
}
double TimedProgram::trial() {
  std::vector<double> seconds;
  for (int i = 0; i < calls_; ++i) seconds.push_back(call());
  return middle_of(std::move(seconds));
}
std::vector<double> TimedProgram::step_seconds() {
  std::vector<std::vector<double>> all(executor_.program().steps.size());
  for (int i = 0; i < 5; ++i) {
    std::vector<double> seconds;
    executor_.run_timed_there(symbols_, pointers_, seconds);
    for (std::size_t k = 0; k < all.size(); ++k) all[k].push_back(seconds[k]);
  }
  std::vector<double> medians;
  for (auto& values : all) medians.push_back(middle_of(std::move(values)));
  return medians;
}

Duel duel(TimedProgram& first, TimedProgram& second, int trials, double limit) {
  constexpr double kLeastSeconds = 1e-3;
  constexpr int kLeastTrials = 3;
  first.call();
  second.call();
  const double warm = first.call(), other = second.call();
  if (other > limit * warm && second.call() > limit * first.call())
    return {warm, {}, limit, limit, limit, limit};
  first.calibrate(warm, kLeastSeconds);
  second.calibrate(other, kLeastSeconds);
  std::vector<double> a, b, ratios;
  for (int i = 0; i < trials; ++i) {
    a.push_back(first.trial());
    b.push_back(second.trial());
    ratios.push_back(b.back() / a.back());
    if (i > 0 && middle_of(b) > limit * middle_of(a))
      return {middle_of(a), {}, limit, limit, limit, limit};
    // Slower every time: nothing is learnt from more.
    if (i + 1 >= kLeastTrials && std::ranges::min(b) > std::ranges::max(a)) break;
  }
  std::ranges::sort(ratios);
  const auto count = ratios.size(), left_out = count / 9;
  return {middle_of(a),          middle_of(b),     ratios[count / 2],
          ratios[3 * count / 4], ratios[left_out], ratios[count - 1 - left_out]};
}

}  // namespace assay::compiler
