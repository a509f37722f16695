// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/device_program.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "compiler/cuda/source/symbols_text.h"
#include "compiler/cuda/staged_operands.h"

namespace assay::compiler::cuda {

using kernels::cuda::check;

namespace {

// What cuBLAS asks for on a device of this size.
constexpr std::int64_t kWorkspaceBytes = 32 << 20;
// Of the scratch: its counters.
constexpr std::int64_t kFrontBytes = kCounters * sizeof(int);

cudaStream_t stream_of(const DeviceStore& store) {
  return static_cast<cudaStream_t>(store.stream());
}

}  // namespace

GrowingBlock::~GrowingBlock() {
  if (data_ != nullptr) kernels::cuda::release_piece(data_);
}
bool GrowingBlock::grow(std::int64_t bytes) {
  if (bytes <= bytes_ && data_ != nullptr) return false;
  if (data_ != nullptr) kernels::cuda::release_piece(data_);  // waits for the device
  data_ = nullptr;
  bytes_ = std::max<std::int64_t>(bytes, 256);
  data_ = static_cast<std::byte*>(kernels::cuda::allocate_piece(static_cast<std::size_t>(bytes_)));
  return true;
}

// What was captured, and all that it holds for.
struct DeviceProgram::Captured {
  std::vector<LaunchPlan> launches;
  std::vector<std::byte*> pointers;
  std::byte* scratch = nullptr;
  cudaGraphExec_t graph = nullptr;  // null: seen once, not captured yet

  Captured() = default;
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    if (graph != nullptr) cudaGraphExecDestroy(graph);
  }
};

DeviceProgram::DeviceProgram(const Program& program, ExecutorOptions options,
                             const CudaOptions& device, std::shared_ptr<DeviceStore> store)
    : program_(program), options_(std::move(options)), device_(device), store_(std::move(store)) {
  const auto facts = kernels::cuda::device_facts();
  const SourceOptions source_options{.multiprocessors = facts.multiprocessors,
                                     .has_library = device_.has_library};
  for (const auto& kernel : program_.kernels) {
    sources_.push_back(source_of(kernel, source_options));
    symbols_begin_.push_back(symbols_at(sources_.back().symbols));
  }
  bundles_ = bundles_of(program_, sources_, source_options);
  for (const auto& source : bundles_.sources) symbols_begin_.push_back(symbols_at(source.symbols));
  assay::check(symbol_count_ <= kMostSymbols, "programs have few symbols");
  auto all = sources_;
  all.insert(all.end(), bundles_.sources.begin(), bundles_.sources.end());
  code_ = store_->shelf().load(all);
  const auto setter = symbols_source();
  setter_ = store_->shelf().load({&setter, 1}).front();
  symbol_block_.grow(static_cast<std::int64_t>(sizeof(std::int64_t) * kMostSymbols));
  for (BufferId id = 0; id < program_.buffers.size(); ++id) {
    const auto& buffer = program_.buffers[id];
    if (buffer.kind != Buffer::Kind::kTemporary) {
      outer_.push_back(id);
    } else {
      for (const auto& dim : buffer.shape) dim.add_symbols(plan_symbols_);
    }
  }
}

std::size_t DeviceProgram::symbols_at(const std::vector<std::string>& symbols) {
  const auto [at, is_new] = sections_.emplace(symbols, symbol_count_);
  if (is_new) {
    symbol_count_ += symbols.size();
    names_.insert(names_.end(), symbols.begin(), symbols.end());
  }
  return at->second;
}

const KernelSource& DeviceProgram::source_at(std::size_t number) const {
  return number < sources_.size() ? sources_[number] : bundles_.sources[number - sources_.size()];
}

// Of operands: which of them nobody writes.
std::uint32_t DeviceProgram::constant_of(const std::vector<BufferId>& buffers) const {
  std::uint32_t constant = 0;
  for (std::size_t i = 0; i < buffers.size() && i < 32; ++i) {
    if (program_.buffers[buffers[i]].kind == Buffer::Kind::kInput) constant |= 1U << i;
  }
  return constant;
}

DeviceProgram::~DeviceProgram() { cudaStreamSynchronize(stream_of(*store_)); }

std::string DeviceProgram::said_of(std::size_t step) const {
  return fmt::format("step {} ({})", step, kind_of(program_.kernels[program_.steps[step].kernel]));
}

std::vector<std::string> DeviceProgram::units(const Bindings& symbols) {
  std::vector<std::string> units;
  for (const auto& source : sources_) {
    const auto plan = source.plan(symbols);
    std::string text = plan.product ? "cuBLAS" : "";
    for (const auto& launch : plan.launches)
      text += (text.empty() ? "" : "+") + source.entries.at(launch.entry);
    units.push_back(text);
  }
  return units;
}

void DeviceProgram::plan_launches(const Bindings& symbols, bool is_first) {
  launches_.resize(sources_.size() + bundles_.sources.size());
  std::int64_t scratch = 0;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const auto& source = source_at(i);
    const auto& depends = source.launch_symbols;
    const bool is_same = !is_first && std::ranges::all_of(depends, [&](const std::string& name) {
      return planned_for_.at(name) == symbols.at(name);
    });
    if (!is_same) launches_[i] = source.plan(symbols);
    scratch = std::max(scratch, launches_[i].scratch_bytes);
    if (launches_[i].product && !cublas_)
      cublas_ = std::make_unique<kernels::cuda::Cublas>(store_->stream());
    if (launches_[i].product) workspace_.grow(kWorkspaceBytes);
  }
  if (scratch_.grow(kFrontBytes + scratch)) {
    graphs_.clear();
    kernels::cuda::fill_bytes(scratch_.data(), 0, kFrontBytes, store_->stream());
  }
}

void DeviceProgram::make_ready(const Bindings& symbols, std::span<std::byte* const> outer) {
  assay::check(outer.size() == outer_.size(), "a pointer for each buffer that is not a temporary");
  constexpr std::int64_t kGap = 128;
  const bool is_first = pointers_.empty();
  if (is_first || planned_for_ != symbols) {
    plan_launches(symbols, is_first);
    // The number of cached tokens grows with every call, and changes nothing here.
    const bool is_same = !is_first && std::ranges::all_of(plan_symbols_, [&](const auto& name) {
      return planned_for_.at(name) == symbols.at(name);
    });
    if (!is_same) {
      plan_ = plan_memory(bundles_.grouped, symbols, options_.canaries ? kGap : 0);
      if (arena_.grow(plan_.arena_bytes)) graphs_.clear();
    }
    planned_for_ = symbols;
  }
  pointers_.assign(program_.buffers.size(), nullptr);
  for (std::size_t i = 0; i < outer.size(); ++i) pointers_[outer_[i]] = outer[i];
  for (std::size_t id = 0; id < pointers_.size(); ++id) {
    if (plan_.offsets[id] >= 0) pointers_[id] = arena_.data() + plan_.offsets[id];
  }
  write_symbols(symbols);
}

// By a kernel's arguments, which are copied when it is launched: nobody waits for anything.
void DeviceProgram::write_symbols(const Bindings& symbols) {
  SymbolValues values{};
  for (std::size_t i = 0; i < names_.size(); ++i) values.of[i] = symbols.at(names_[i]);
  void* to = symbol_block_.data();
  void* arguments[] = {&to, &values};
  setter_->launch({0, {1, 1, 1}, kMostSymbols}, arguments, store_->stream(), false);
}

void DeviceProgram::launch(std::size_t source, const std::vector<BufferId>& buffers,
                           bool& is_ours) {
  const auto& plan = launches_[source];
  std::vector<std::byte*> operands;
  for (const auto id : buffers) operands.push_back(pointers_[id]);
  if (plan.product) {
    const auto& p = *plan.product;
    kernels::cuda::Cublas::Halves halves;
    halves.is_bf16 = p.is_bf16;
    halves.turn_a = p.turn_a;
    halves.turn_b = p.turn_b;
    halves.m = static_cast<int>(p.m);
    halves.n = static_cast<int>(p.n);
    halves.k = static_cast<int>(p.k);
    halves.a = operands[p.a] + 2 * p.a_offset;
    halves.b = operands[p.b] + 2 * p.b_offset;
    halves.c = reinterpret_cast<float*>(p.c ? operands[*p.c] : scratch_.data() + kFrontBytes);
    halves.lda = static_cast<int>(p.lda);
    halves.ldb = static_cast<int>(p.ldb);
    halves.ldc = halves.n;
    halves.step_a = p.step_a;
    halves.step_b = p.step_b;
    halves.step_c = p.m * p.n;
    halves.count = static_cast<int>(p.count);
    halves.workspace = workspace_.data();
    halves.workspace_bytes = kWorkspaceBytes;
    cublas_->multiply(halves, store_->stream());
    is_ours = false;
  }
  const std::byte* symbols = symbol_block_.data() + symbols_begin_[source] * sizeof(std::int64_t);
  std::byte* scratch = scratch_.data() + kFrontBytes;
  auto constant = constant_of(buffers);
  for (auto launch : plan.launches) {
    std::vector<void*> arguments = {&symbols, &scratch, &constant};
    if (source_at(source).is_bundle) arguments.push_back(&launch.begins);
    for (auto& operand : operands) arguments.push_back(&operand);
    code_[source]->launch(launch, arguments.data(), store_->stream(), is_ours);
    is_ours = true;
  }
}

void DeviceProgram::launch_step(std::size_t number, bool& is_ours) {
  launch(program_.steps[number].kernel, program_.steps[number].buffers, is_ours);
}

void DeviceProgram::launch_all() {
  bool is_ours = false;
  for (const auto& unit : bundles_.units) {
    if (unit.bundle && !launches_[sources_.size() + *unit.bundle].launches.empty()) {
      launch(sources_.size() + *unit.bundle, unit.buffers, is_ours);
    } else {
      for (const auto step : unit.steps) launch_step(step, is_ours);
    }
  }
}

// Seen once, launched; seen again, captured; from then on one launch.
void DeviceProgram::run_there(const Bindings& symbols, std::span<std::byte* const> outer) {
  if (options_.canaries || device_.sequential) return run_one_by_one(symbols, outer, nullptr);
  if (options_.before_step) options_.before_step(0);
  make_ready(symbols, outer);
  const auto known = std::ranges::find_if(graphs_, [&](const Captured& c) {
    return c.launches == launches_ && c.pointers == pointers_ && c.scratch == scratch_.data();
  });
  if (known == graphs_.end()) {
    constexpr std::size_t kMostKept = 16;
    auto& captured = graphs_.emplace_front();
    captured.launches = launches_;
    captured.pointers = pointers_;
    captured.scratch = scratch_.data();
    if (graphs_.size() > kMostKept) graphs_.pop_back();
    return launch_all();
  }
  graphs_.splice(graphs_.begin(), graphs_, known);
  const auto stream = stream_of(*store_);
  if (known->graph == nullptr) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a graph");
    cudaGraph_t graph = nullptr;
    try {
      launch_all();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "ending a graph");
    const auto made = cudaGraphInstantiate(&known->graph, graph, 0);
    cudaGraphDestroy(graph);
    check(made, "making a graph ready");
    ++captured_;
  }
  check(cudaGraphLaunch(known->graph, stream), "launching a graph");
}

// With `seconds`: by the device's clock, which is read between the steps.
void DeviceProgram::run_one_by_one(const Bindings& symbols, std::span<std::byte* const> outer,
                                   std::vector<double>* seconds) {
  make_ready(symbols, outer);
  if (options_.canaries) fill_guards();
  const auto stream = stream_of(*store_);
  std::vector<std::size_t> order;  // in which memory is planned for
  for (const auto& unit : bundles_.units)
    order.insert(order.end(), unit.steps.begin(), unit.steps.end());
  std::vector<cudaEvent_t> events;
  const auto mark = [&] {
    if (seconds == nullptr) return;
    check(cudaEventCreate(&events.emplace_back()), "making an event");
    check(cudaEventRecord(events.back(), stream), "recording an event");
  };
  mark();
  for (const auto i : order) {
    if (options_.canaries) write_guards(program_.steps[i]);
    if (options_.before_step) options_.before_step(i);
    bool is_ours = false;
    try {
      launch_step(i, is_ours);
      if (seconds == nullptr) store_->wait();
    } catch (const kernels::cuda::DeviceError& e) {
      throw kernels::cuda::DeviceError(e.trouble(), said_of(i) + ": " + e.what());
    }
    mark();
    if (options_.canaries) check_guards(i);
  }
  if (seconds == nullptr) return;
  store_->wait();
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events[i], events[i + 1]), "reading a time");
    (*seconds)[order[i]] += static_cast<double>(ms) * 1e-3;
  }
  for (auto* event : events) cudaEventDestroy(event);
}

void DeviceProgram::run(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here) {
  if (!is_here) return run_there(symbols, outer);
  Staged memory;
  const auto there = staged(symbols, outer, memory);
  run_there(symbols, there);
  bring_back(outer, memory);
}

void DeviceProgram::run_timed(const Bindings& symbols, std::span<std::byte* const> outer,
                              bool is_here, std::vector<double>& seconds) {
  if (!is_here) return run_one_by_one(symbols, outer, &seconds);
  Staged memory;
  const auto there = staged(symbols, outer, memory);
  run_one_by_one(symbols, there, &seconds);
  bring_back(outer, memory);
}

}  // namespace assay::compiler::cuda
