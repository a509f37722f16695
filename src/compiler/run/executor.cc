// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/executor.h"

#include <algorithm>
#include <cstring>

#include "base/attend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "compiler/plain/run_plain.h"

namespace assay::compiler {
namespace {

class PlainKernel : public ReadyKernel {
 public:
  explicit PlainKernel(Kernel kernel) : kernel_(std::move(kernel)) {}
  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    run_plain(kernel_, symbols, operands);
  }

 private:
  Kernel kernel_;
};

constexpr std::int64_t kGuardBytes = 128;
// NaN in every floating-point dtype, and an index outside: behind a temporary, and in one that is
// not written yet.
constexpr std::byte kGuard{0xFF};

}  // namespace

Runtime plain_runtime() {
  Runtime runtime;
  runtime.name = "plain";
  runtime.prepare = [](const Kernel& kernel) { return std::make_unique<PlainKernel>(kernel); };
  return runtime;
}

Executor::Executor(Program program, const Runtime& runtime, ExecutorOptions options)
    : program_(std::move(program)), options_(std::move(options)) {
  if (runtime.remote) {
    remote_ = runtime.remote(program_, options_);
  } else {
    for (const auto& kernel : program_.kernels) kernels_.push_back(runtime.prepare(kernel));
  }
  for (BufferId id = 0; id < program_.buffers.size(); ++id) {
    const auto& buffer = program_.buffers[id];
    if (buffer.kind != Buffer::Kind::kTemporary) {
      outer_.push_back(id);
      continue;
    }
    for (const auto& dim : buffer.shape) dim.add_symbols(plan_symbols_);
  }
}

std::vector<std::string> Executor::kernel_units(const Bindings& symbols) const {
  if (remote_) return remote_->units(symbols);
  std::vector<std::string> units;
  for (const auto& kernel : kernels_) units.push_back(kernel->unit(symbols));
  return units;
}

void Executor::make_room(const Bindings& symbols) {
  // The number of cached tokens grows with every call, and changes nothing here.
  const bool is_same = std::ranges::all_of(plan_symbols_, [&](const std::string& name) {
    return planned_for_.contains(name) && planned_for_.at(name) == symbols.at(name);
  });
  if (is_planned_ && is_same) return;
  plan_ = plan_memory(program_, symbols, options_.canaries ? kGuardBytes : 0);
  planned_for_ = symbols;
  is_planned_ = true;
  if (plan_.arena_bytes > arena_capacity_ || !arena_) {
    arena_capacity_ = std::max<std::int64_t>(plan_.arena_bytes, 64);
    arena_ = aligned_block<std::byte>(static_cast<std::size_t>(arena_capacity_));
  }
}

void Executor::fill_guards() {
  written_.clear();
  std::memset(arena_.get(), static_cast<int>(kGuard), static_cast<std::size_t>(plan_.arena_bytes));
}

// A buffer's guard may be another's elements at another time: it is written before the step and
// looked at after it.
void Executor::check_guards(std::size_t step) const {
  for (const auto id : program_.steps[step].buffers) {
    if (plan_.offsets[id] < 0) continue;
    const auto* end = arena_.get() + plan_.offsets[id] + plan_.bytes[id];
    if (std::all_of(end, end + kGuardBytes, [](std::byte b) { return b == kGuard; })) continue;
    const auto& kernel = program_.kernels[program_.steps[step].kernel];
    throw InternalError(
        fmt::format("step {} ({}) wrote beyond buffer {}", step, kind_of(kernel), id));
  }
}

// What lies in a temporary is what was written there until it is read for the last time.
void Executor::remember_written(const Step& step, std::span<std::byte* const> operands) {
  const auto& kernel = program_.kernels[step.kernel];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto id = step.buffers[i];
    if (!kernel.operands[i].is_written || plan_.offsets[id] < 0) continue;
    written_[id] = content_of(operands[i], id);
  }
}
void Executor::check_unchanged(std::size_t step, std::span<std::byte* const> operands) const {
  const auto& [number, buffers] = program_.steps[step];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto known = written_.find(buffers[i]);
    const bool is_written = program_.kernels[number].operands[i].is_written;
    if (is_written || known == written_.end()) continue;
    if (content_of(operands[i], buffers[i]) == known->second) continue;
    throw InternalError(fmt::format("step {} ({}) reads buffer {}, which another step overwrote",
                                    step, kind_of(program_.kernels[number]), buffers[i]));
  }
}
std::uint32_t Executor::content_of(const std::byte* elements, BufferId id) const {
  return crc32c(
      {reinterpret_cast<const char*>(elements), static_cast<std::size_t>(plan_.bytes[id])});
}

template <typename Around>
void Executor::run_steps(const Bindings& symbols, std::span<std::byte* const> outer,
                         Around&& around) {
  check(outer.size() == outer_.size(), "a pointer for each buffer that is not a temporary");
  make_room(symbols);
  if (options_.canaries) fill_guards();
  std::vector<std::byte*> pointers(program_.buffers.size(), nullptr);
  for (std::size_t i = 0; i < outer.size(); ++i) pointers[outer_[i]] = outer[i];
  for (std::size_t id = 0; id < pointers.size(); ++id) {
    if (plan_.offsets[id] >= 0) pointers[id] = arena_.get() + plan_.offsets[id];
  }
  std::vector<std::byte*> operands;
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const auto& step = program_.steps[i];
    operands.clear();
    for (const auto id : step.buffers) operands.push_back(pointers[id]);
    if (options_.canaries) {
      for (const auto id : step.buffers) {
        if (plan_.offsets[id] < 0) continue;
        std::memset(pointers[id] + plan_.bytes[id], static_cast<int>(kGuard), kGuardBytes);
      }
    }
    if (options_.canaries) check_unchanged(i, operands);
    attend();
    if (options_.before_step) options_.before_step(i);
    around(i, [&] { kernels_[step.kernel]->run(symbols, operands); });
    if (options_.canaries) {
      check_guards(i);
      remember_written(step, operands);
    }
  }
}

void Executor::run(const Bindings& symbols, std::span<std::byte* const> outer) {
  if (remote_) return remote_->run(symbols, outer, true);
  run_steps(symbols, outer, [](std::size_t, auto&& act) { act(); });
}

void Executor::run_timed(const Bindings& symbols, std::span<std::byte* const> outer,
                         std::vector<double>& seconds) {
  seconds.resize(program_.steps.size());
  if (remote_) return remote_->run_timed(symbols, outer, true, seconds);
  run_steps(symbols, outer, [&](std::size_t step, auto&& act) {
    const auto begin = monotonic_ns();
    act();
    seconds[step] += static_cast<double>(monotonic_ns() - begin) * 1e-9;
  });
}

void Executor::run_there(const Bindings& symbols, std::span<std::byte* const> outer) {
  if (!remote_) return run(symbols, outer);
  remote_->run(symbols, outer, false);
}

void Executor::run_timed_there(const Bindings& symbols, std::span<std::byte* const> outer,
                               std::vector<double>& seconds) {
  if (!remote_) return run_timed(symbols, outer, seconds);
  seconds.resize(program_.steps.size());
  remote_->run_timed(symbols, outer, false, seconds);
}

RunResult run_program(Executor& executor, const std::map<std::string, TensorView>& inputs,
                      const Bindings& symbols) {
  const auto& program = executor.program();
  for (const auto& [name, interval] : program.symbols) {
    const auto found = symbols.find(name);
    if (found == symbols.end()) fail("symbol '{}' has no value", name);
    if (found->second < interval.low || found->second > interval.high) {
      fail("symbol '{}' is from {} to {}, got {}", name, interval.low, interval.high,
           found->second);
    }
  }
  RunResult result;
  std::vector<std::byte*> outer;
  for (const auto& buffer : program.buffers) {
    if (buffer.kind == Buffer::Kind::kTemporary) continue;
    std::vector<std::int64_t> extents;
    for (const auto& dim : buffer.shape) extents.push_back(dim.at(symbols));
    if (buffer.kind == Buffer::Kind::kOutput) {
      const auto at =
          result.outputs.emplace(buffer.name, Tensor(buffer.dtype, Shape(extents))).first;
      outer.push_back(at->second.bytes().data());
      continue;
    }
    const auto found = inputs.find(buffer.name);
    if (found == inputs.end()) fail("input '{}' is missing", buffer.name);
    const auto& given = found->second;
    if (given.dtype() != buffer.dtype || !(given.shape() == Shape(extents))) {
      fail("input '{}' is {} {}, expected {} {}", buffer.name, name_of(given.dtype()),
           given.shape().to_string(), name_of(buffer.dtype), Shape(extents).to_string());
    }
    if (buffer.kind == Buffer::Kind::kState) {
      const auto at = result.states.emplace(buffer.name, Tensor::copy(given)).first;
      outer.push_back(at->second.bytes().data());
    } else {
      // Kernels take all operands alike; what is an input is only read.
      outer.push_back(static_cast<std::byte*>(const_cast<void*>(given.raw_data())));  // NOLINT
    }
  }
  executor.run(symbols, outer);
  return result;
}

}  // namespace assay::compiler
