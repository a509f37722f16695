// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/testing/host_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "compiler/cuda/source/bundle.h"
#include "compiler/cuda/source/device_text.h"
#include "tensor/half.h"

namespace assay::compiler::cuda {
namespace {

using EntryCall = void(void** arguments, const unsigned* grid, unsigned threads, unsigned shared);

// Sources by what they are, and their functions once they are compiled.
class Workshop {
 public:
  void add(const KernelSource& source) {
    if (known_.insert({short_hash(source.code), {}}).second) waiting_.push_back(source);
  }
  const std::vector<EntryCall*>& entries_of(const KernelSource& source) {
    if (!waiting_.empty()) compile();
    return known_.at(short_hash(source.code));
  }

 private:
  void compile() {
    const auto common = std::string(scalar_text()) + std::string(collective_text());
    std::string text = read_file(ASSAY_HOST_SHIM) + common;
    for (const auto& source : waiting_) {
      check(source.code.starts_with(common), "all sources begin alike");
      const auto name = short_hash(source.code);
      auto own = source.code.substr(common.size());
      for (std::size_t at; (at = own.find("extern \"C\"")) != std::string::npos;)
        own.replace(at, 10, "static    ");
      text += "namespace k" + name + " {\n" + own + "}\n";
      for (std::size_t i = 0; i < source.entries.size(); ++i) {
        const auto function = "k" + name + "::" + source.entries[i];
        text += "extern \"C\" void k" + name + "_" + std::to_string(i) +
                "(void** a, const unsigned* grid, unsigned threads, unsigned shared) {\n"
                "  host_launch([](void** p) { host_call(" +
                function + ", p); }, a, grid, threads, shared);\n}\n";
      }
    }
    const auto path = folder_.path() + "/batch" + std::to_string(batches_++);
    write_file_atomically(path + ".cc", text);
    const std::string command = std::string(ASSAY_HOST_COMPILER) +
                                " -std=c++20 -w -O1 -ffp-contract=off -fno-strict-aliasing -shared "
                                "-fPIC -o " +
                                path + ".so " + path + ".cc 2> " + path + ".log";
    if (std::system(command.c_str()) != 0) {                     // NOLINT(concurrency-mt-unsafe)
      if (const char* keep = std::getenv("ASSAY_KEEP_SOURCES"))  // NOLINT(concurrency-mt-unsafe)
        write_file_atomically(keep, text);
      throw InternalError("generated sources do not compile: " + read_file(path + ".log"));
    }
    void* library = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "what was compiled loads");
    for (const auto& source : waiting_) {
      auto& entries = known_.at(short_hash(source.code));
      for (std::size_t i = 0; i < source.entries.size(); ++i) {
        const auto name = "k" + short_hash(source.code) + "_" + std::to_string(i);
        entries.push_back(reinterpret_cast<EntryCall*>(dlsym(library, name.c_str())));
      }
    }
    waiting_.clear();
  }

  TemporaryDirectory folder_{"assay-host-device"};
  std::map<std::string, std::vector<EntryCall*>> known_;
  std::vector<KernelSource> waiting_;
  int batches_ = 0;
};

float half_at(const std::byte* data, std::int64_t at, bool is_bf16) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, data + 2 * at, 2);
  return is_bf16 ? static_cast<float>(BFloat16::from_bits(bits))
                 : static_cast<float>(Half::from_bits(bits));
}

// What cuBLAS does.
void multiply(const LibraryProduct& p, std::span<std::byte* const> operands, std::byte* scratch) {
  const auto* a = operands[p.a] + 2 * p.a_offset;
  const auto* b = operands[p.b] + 2 * p.b_offset;
  auto* c = reinterpret_cast<float*>(p.c ? operands[*p.c] : scratch);
  for (std::int64_t batch = 0; batch < p.count; ++batch) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          const auto at_a = batch * p.step_a + (p.turn_a ? l * p.lda + i : i * p.lda + l);
          const auto at_b = batch * p.step_b + (p.turn_b ? j * p.ldb + l : l * p.ldb + j);
          sum += static_cast<double>(half_at(a, at_a, p.is_bf16)) * half_at(b, at_b, p.is_bf16);
        }
        c[(batch * p.m + i) * p.n + j] = static_cast<float>(sum);
      }
    }
  }
}

// A source's launches, one after the other.
void run_source(const KernelSource& source, Workshop& workshop, const Bindings& symbols,
                std::span<std::byte* const> operands, unsigned constant) {
  struct alignas(16) Sixteen {
    std::byte bytes[16];
  };
  const auto& entries = workshop.entries_of(source);
  const auto plan = source.plan(symbols);
  std::vector<std::int64_t> values;
  for (const auto& name : source.symbols) values.push_back(symbols.at(name));
  constexpr auto kFront = kCounters * sizeof(int);
  std::vector<Sixteen> scratch(
      (kFront + static_cast<std::size_t>(plan.scratch_bytes)) / sizeof(Sixteen) + 1);
  auto* front = reinterpret_cast<std::byte*>(scratch.data());
  std::memset(front, 0xff, scratch.size() * sizeof(Sixteen));
  std::memset(front, 0, kFront);
  auto* scratch_at = front + kFront;
  if (plan.product) multiply(*plan.product, operands, scratch_at);
  const std::int64_t* values_at = values.data();
  std::vector<std::byte*> pointers(operands.begin(), operands.end());
  for (auto launch : plan.launches) {
    std::vector<void*> arguments = {&values_at, &scratch_at, &constant};
    if (source.is_bundle) arguments.push_back(&launch.begins);
    for (auto& pointer : pointers) arguments.push_back(&pointer);
    entries[launch.entry](arguments.data(), launch.grid.data(), launch.threads,
                          launch.shared_bytes);
  }
  check(std::all_of(front, front + kFront, [](std::byte b) { return b == std::byte{0}; }),
        "counters are zero after a kernel");
}

class HostKernel final : public ReadyKernel {
 public:
  HostKernel(const Kernel& kernel, const SourceOptions& options, std::shared_ptr<Workshop> workshop)
      : kernel_(kernel), source_(source_of(kernel_, options)), workshop_(std::move(workshop)) {
    workshop_->add(source_);
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    unsigned constant = 0;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i)
      constant |= kernel_.operands[i].is_written ? 0U : 1U << i;
    run_source(source_, *workshop_, symbols, operands, constant);
  }

 private:
  Kernel kernel_;
  KernelSource source_;
  std::shared_ptr<Workshop> workshop_;
};

// A whole program, with its bundles, in memory of this process.
class HostProgram final : public RemoteProgram {
 public:
  HostProgram(const Program& program, const SourceOptions& options,
              std::shared_ptr<Workshop> workshop)
      : program_(program), workshop_(std::move(workshop)) {
    for (const auto& kernel : program_.kernels) sources_.push_back(source_of(kernel, options));
    bundles_ = bundles_of(program_, sources_, options);
    for (const auto* all : {&sources_, &bundles_.sources})
      for (const auto& source : *all) workshop_->add(source);
  }

  void run(const Bindings& symbols, std::span<std::byte* const> outer, bool) override {
    const auto plan = plan_memory(bundles_.grouped, symbols);
    if (const auto mistake = mistake_in_plan(bundles_.grouped, plan); !mistake.empty())
      throw InternalError(mistake);
    const auto arena = aligned_block<std::byte>(static_cast<std::size_t>(plan.arena_bytes) + 1);
    std::memset(arena.get(), 0xff, static_cast<std::size_t>(plan.arena_bytes));
    std::vector<std::byte*> pointers;
    for (std::size_t id = 0, next = 0; id < program_.buffers.size(); ++id) {
      const bool is_outer = program_.buffers[id].kind != Buffer::Kind::kTemporary;
      pointers.push_back(is_outer               ? outer[next++]
                         : plan.offsets[id] < 0 ? nullptr
                                                : arena.get() + plan.offsets[id]);
    }
    const auto run_one = [&](const KernelSource& source, const std::vector<BufferId>& buffers) {
      std::vector<std::byte*> operands;
      unsigned constant = 0;
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        operands.push_back(pointers[buffers[i]]);
        if (program_.buffers[buffers[i]].kind == Buffer::Kind::kInput) constant |= 1U << i;
      }
      run_source(source, *workshop_, symbols, operands, constant);
    };
    for (const auto& unit : bundles_.units) {
      if (unit.bundle && !bundles_.sources[*unit.bundle].plan(symbols).launches.empty()) {
        run_one(bundles_.sources[*unit.bundle], unit.buffers);
      } else {
        for (const auto i : unit.steps)
          run_one(sources_[program_.steps[i].kernel], program_.steps[i].buffers);
      }
    }
  }
  void run_timed(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here,
                 std::vector<double>&) override {
    run(symbols, outer, is_here);
  }
  std::vector<std::string> units(const Bindings&) override { return {}; }
  std::int64_t arena_bytes() const override { return 0; }

 private:
  Program program_;
  std::vector<KernelSource> sources_;
  Bundles bundles_;
  std::shared_ptr<Workshop> workshop_;
};

}  // namespace

Runtime host_device_runtime(SourceOptions options) {
  Runtime runtime;
  runtime.name = "host-device";
  runtime.prepare = [options, workshop = std::make_shared<Workshop>()](const Kernel& kernel) {
    return std::make_unique<HostKernel>(kernel, options, workshop);
  };
  runtime.variants = variants_of;
  return runtime;
}

Runtime host_program_runtime(SourceOptions options) {
  auto runtime = host_device_runtime(options);
  runtime.remote = [options, workshop = std::make_shared<Workshop>()](const Program& program,
                                                                      const ExecutorOptions&) {
    return std::make_unique<HostProgram>(program, options, workshop);
  };
  return runtime;
}

}  // namespace assay::compiler::cuda
