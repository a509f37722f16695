// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/step_times.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/hash.h"
#include "compiler/choose/timing.h"
#include "compiler/program/program_json.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {
namespace {

std::int64_t bytes_of(DType dtype, const std::vector<Dim>& shape, const Bindings& symbols) {
  return product(shape).at(symbols) * static_cast<std::int64_t>(size_of(dtype));
}

// Ordinary numbers, the same few again and again.
Tensor numbers(DType dtype, std::int64_t count) {
  constexpr std::int64_t kFew = 4099;
  Graph graph;
  Node node;
  node.op = Op::kInput;
  node.dtype = dtype;
  node.shape = {kFew};
  node.name = "x";
  graph.add(std::move(node));
  const auto few = make_trial(graph, {}, InputStyle::kOrdinary, 1);
  const auto from = few.inputs.at("x").bytes();
  Tensor all(dtype, Shape({count}));
  const auto to = all.bytes();
  for (std::size_t at = 0; at < to.size(); at += from.size()) {
    std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
  }
  return all;
}

bool has_indices(const Kernel& kernel) {
  return std::ranges::any_of(kernel.operands, [](const Kernel::Formal& formal) {
    return formal.dtype == DType::kI32 || formal.dtype == DType::kI64;
  });
}

}  // namespace

// A kernel with operands of its own, but for those that are the program's inputs.
class StepTimes::Bench {
 public:
  Bench(StepTimes& of, const Known& known)
      : of_(of), known_(known), kernel_(of.runtime_.prepare(known.kernel)) {
    for (std::size_t i = 0; i < known.kernel.operands.size(); ++i) {
      const auto& formal = known.kernel.operands[i];
      own_.push_back(known.is_input[i]
                         ? Tensor(formal.dtype, Shape({0}))
                         : numbers(formal.dtype, product(formal.shape).at(of.symbols_)));
    }
    first_ = call();
  }
  double first() const { return first_; }
  // How often it is called in one trial, so that the clock can tell.
  void calibrate() {
    constexpr double kLeastSeconds = 2e-4;
    calls_ =
        std::clamp(static_cast<int>(std::ceil(kLeastSeconds / std::max(call(), 1e-9))), 1, 1000);
  }
  double trial() {
    std::vector<double> seconds;
    for (int i = 0; i < calls_; ++i) seconds.push_back(call());
    return middle_of(std::move(seconds));
  }

 private:
  double call() {
    std::vector<std::byte*> operands;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto& formal = known_.kernel.operands[i];
      operands.push_back(known_.is_input[i] ? part_of_pool(formal) : own_[i].bytes().data());
    }
    const auto begin = monotonic_ns();
    kernel_->run(of_.symbols_, operands);
    return static_cast<double>(monotonic_ns() - begin) * 1e-9;
  }
  std::byte* part_of_pool(const Kernel::Formal& formal) {
    const auto pool = of_.pools_.at(formal.dtype).bytes();
    auto& next = of_.next_[formal.dtype];
    const auto bytes = bytes_of(formal.dtype, formal.shape, of_.symbols_);
    if (next + bytes > static_cast<std::int64_t>(pool.size())) next = 0;
    auto* at = pool.data() + next;
    next += (bytes + 63) / 64 * 64;
    return at;
  }

  StepTimes& of_;
  const Known& known_;
  std::unique_ptr<ReadyKernel> kernel_;
  std::vector<Tensor> own_;
  double first_ = 0;
  int calls_ = 1;
};

StepTimes::StepTimes(const Runtime& runtime, Bindings symbols)
    : runtime_(runtime), symbols_(std::move(symbols)) {}
StepTimes::~StepTimes() = default;

StepTimes::Counts StepTimes::counts_of(const Program& program) {
  if (pools_.empty()) {
    std::map<DType, std::int64_t> counts;
    for (const auto& buffer : program.buffers) {
      if (buffer.kind != Buffer::Kind::kInput) continue;
      // Each begins on a line of its own.
      counts[buffer.dtype] += product(buffer.shape).at(symbols_) + 64;
    }
    for (const auto& [dtype, count] : counts) pools_.emplace(dtype, numbers(dtype, count));
  }
  std::vector<std::string> texts;
  for (const auto& kernel : program.kernels) {
    auto json = kernel_to_json(kernel);
    json.erase("rules");
    texts.push_back(canonical_json(json));
  }
  Counts counts;
  for (const auto& step : program.steps) {
    std::vector<bool> is_input;
    std::string key = texts[step.kernel];
    for (const auto id : step.buffers) {
      is_input.push_back(program.buffers[id].kind == Buffer::Kind::kInput);
      key += is_input.back() ? 'i' : '-';
    }
    key = short_hash(key);
    known_.try_emplace(key, Known{program.kernels[step.kernel], std::move(is_input), {}});
    ++counts[key];
  }
  return counts;
}

void StepTimes::measure(const std::set<std::string>& keys, int trials, double limit) {
  std::map<std::string, std::unique_ptr<Bench>> benches;
  for (const auto& key : keys) {
    auto& known = known_.at(key);
    auto bench = std::make_unique<Bench>(*this, known);
    known.seconds = bench->first();
    if (bench->first() > limit) continue;
    bench->calibrate();
    benches.emplace(key, std::move(bench));
  }
  std::map<std::string, std::vector<double>> seconds;
  for (int trial = 0; trial < trials; ++trial) {
    for (auto& [key, bench] : benches) seconds[key].push_back(bench->trial());
  }
  for (auto& [key, all] : seconds) known_.at(key).seconds = middle_of(std::move(all));
}

double StepTimes::sum_of(const Counts& counts) const {
  double sum = 0;
  for (const auto& [key, count] : counts) sum += count * known_.at(key).seconds.value();
  return sum;
}

std::optional<double> StepTimes::difference(const Program& best, const Program& candidate,
                                            const Limits& limits) {
  auto removed = counts_of(best), added = counts_of(candidate);
  for (auto& [key, count] : added) {
    const auto other = removed.find(key);
    if (other == removed.end()) continue;
    const int common = std::min(count, other->second);
    count -= common;
    other->second -= common;
  }
  std::set<std::string> all, unknown;
  for (const auto* counts : {&removed, &added}) {
    for (const auto& [key, count] : *counts) {
      if (count == 0) continue;
      all.insert(key);
      if (!known_.at(key).seconds) unknown.insert(key);
      if (has_indices(known_.at(key).kernel)) return std::nullopt;
    }
  }
  std::erase_if(removed, [](const auto& entry) { return entry.second == 0; });
  std::erase_if(added, [](const auto& entry) { return entry.second == 0; });
  const auto slower = [&] { return sum_of(added) - sum_of(removed); };
  constexpr int kTrials = 3, kTrialsInTurns = 5;
  measure(unknown, kTrials, limits.slow);
  // Known from different moments; now from one.
  if (slower() < -limits.faster) measure(all, kTrialsInTurns, limits.slow);
  return slower();
}

}  // namespace assay::compiler
