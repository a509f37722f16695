// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs, run: kernel after kernel over one arena. How a kernel is computed is a runtime's, which
// is a value.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "compiler/program/program.h"
#include "compiler/run/memory_plan.h"
#include "tensor/tensor.h"

namespace assay::compiler {

// A kernel that is ready to run, any number of times, with any values of its symbols.
class ReadyKernel {
 public:
  virtual ~ReadyKernel() = default;
  // Operands are row-major without gaps, aligned to 64 bytes where they are the arena's.
  virtual void run(const Bindings& symbols, std::span<std::byte* const> operands) = 0;
  // What multiplies, for people; empty where there is nothing to tell.
  virtual std::string unit(const Bindings&) { return {}; }
};

// Memory that is not this process's, where a runtime's programs keep what they work on. Throws
// EnvironmentError where it ends, or what it belongs to fails.
class Store {
 public:
  virtual ~Store() = default;
  // Aligned to 256 bytes. It is given back with its last owner, and the store lives as long.
  virtual std::shared_ptr<std::byte> allocate(std::int64_t bytes) = 0;
  // Behind all work so far; returns when `from` may be changed.
  virtual void put(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  // Waits for all work so far.
  virtual void take(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  virtual void wait() = 0;
  // The place of the first of the greatest of so many f32 there; where one is NaN or +∞, −1 − the
  // place of the first such.
  virtual std::int64_t greatest(const std::byte* values, std::int64_t count) = 0;
};

// A whole program on a runtime that has a store.
class RemoteProgram {
 public:
  virtual ~RemoteProgram() = default;
  // `outer` lie in the store, and the call may return before anything is done; or, where
  // `is_here`, in this process: what is read is copied there, and back what is written.
  virtual void run(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here) = 0;
  virtual void run_timed(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here,
                         std::vector<double>& seconds) = 0;
  virtual std::vector<std::string> units(const Bindings& symbols) = 0;
  virtual std::int64_t arena_bytes() const = 0;
};

struct ExecutorOptions;
struct Runtime {
  std::string name;
  std::function<std::unique_ptr<ReadyKernel>(const Kernel&)> prepare;
  // How many ways it has of computing a kernel: Kernel::variant is below that.
  std::function<std::uint32_t(const Kernel&)> variants = [](const Kernel&) { return 1U; };
  int threads = 1;  // that a kernel has at most
  // Numbers of rows from which on it computes products in another way.
  std::vector<std::int64_t> row_borders;
  // What its kernels use of the processor, where that can be chosen: speeds are of that.
  std::string units;
  // Of a runtime whose memory is elsewhere; both or none. Its kernels by themselves take operands
  // of this process.
  std::shared_ptr<Store> store;
  std::function<std::unique_ptr<RemoteProgram>(const Program&, const ExecutorOptions&)> remote;
};
// Plain loops (compiler/plain).
Runtime plain_runtime();

struct ExecutorOptions {
  // Guards around temporaries, which are looked at after every kernel; temporaries full of NaN
  // before the first; and what was written is still there when it is read.
  bool canaries = false;
  // Called before each step, with its number: who wants to know which kernel brings everything
  // down.
  std::function<void(std::size_t)> before_step;
};

class Executor {
 public:
  Executor(Program program, const Runtime& runtime, ExecutorOptions options = {});

  // The program's buffers without its temporaries, in order: pointers to their elements. Inputs are
  // only read. Throws InternalError that names the step whose kernel wrote outside of its buffers.
  void run(const Bindings& symbols, std::span<std::byte* const> outer);
  // The same, kernel by kernel: seconds of each step are added to `seconds`.
  void run_timed(const Bindings& symbols, std::span<std::byte* const> outer,
                 std::vector<double>& seconds);
  // The same where `outer` lie in the runtime's store, if it has one: nothing is copied, and the
  // first may return before all is done (Store::wait()).
  void run_there(const Bindings& symbols, std::span<std::byte* const> outer);
  void run_timed_there(const Bindings& symbols, std::span<std::byte* const> outer,
                       std::vector<double>& seconds);

  const Program& program() const { return program_; }
  // Of each of the program's kernels.
  std::vector<std::string> kernel_units(const Bindings& symbols) const;
  std::int64_t arena_bytes() const { return remote_ ? remote_->arena_bytes() : plan_.arena_bytes; }

 private:
  template <typename Around>
  void run_steps(const Bindings& symbols, std::span<std::byte* const> outer, Around&& around);
  void make_room(const Bindings& symbols);
  void fill_guards();
  void check_guards(std::size_t step) const;
  void remember_written(const Step& step, std::span<std::byte* const> operands);
  void check_unchanged(std::size_t step, std::span<std::byte* const> operands) const;
  std::uint32_t content_of(const std::byte* elements, BufferId id) const;

  Program program_;
  ExecutorOptions options_;
  std::vector<std::unique_ptr<ReadyKernel>> kernels_;
  std::unique_ptr<RemoteProgram> remote_;  // then there are no kernels here
  std::vector<BufferId> outer_;            // those that are not temporaries
  std::set<std::string> plan_symbols_;     // that temporaries' sizes depend on
  Bindings planned_for_;
  bool is_planned_ = false;
  MemoryPlan plan_;
  AlignedBlock<std::byte> arena_;
  std::int64_t arena_capacity_ = 0;
  std::map<BufferId, std::uint32_t> written_;  // what was written there: its checksum
};

// What a program leaves behind: its outputs, and states by the names of the inputs they replace.
struct RunResult {
  std::map<std::string, Tensor> outputs, states;
};
// Copies inputs that are states, so that nothing that is given changes. Throws UserError that names
// an input that is missing or does not fit, and a symbol that is outside of its interval.
RunResult run_program(Executor& executor, const std::map<std::string, TensorView>& inputs,
                      const Bindings& symbols);

}  // namespace assay::compiler
