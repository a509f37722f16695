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

class HostKernel final : public ReadyKernel {
 public:
  HostKernel(const Kernel& kernel, const SourceOptions& options, std::shared_ptr<Workshop> workshop)
      : kernel_(kernel), source_(source_of(kernel_, options)), workshop_(std::move(workshop)) {
    workshop_->add(source_);
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    const auto& entries = workshop_->entries_of(source_);
    const auto plan = source_.plan(symbols);
    std::vector<std::int64_t> values;
    for (const auto& name : source_.symbols) values.push_back(symbols.at(name));
    constexpr auto kFront = kCounters * sizeof(int);
    std::vector<quad_t> scratch((kFront + static_cast<std::size_t>(plan.scratch_bytes)) / sizeof(quad_t) +
                                1);
    std::memset(scratch.data(), 0xff, scratch.size() * sizeof(quad_t));
    std::memset(scratch.data(), 0, kFront);
    auto* scratch_at = reinterpret_cast<std::byte*>(scratch.data()) + kFront;
    if (plan.product) multiply(*plan.product, operands, scratch_at);
    const std::int64_t* values_at = values.data();
    unsigned constant = 0;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i)
      constant |= kernel_.operands[i].is_written ? 0U : 1U << i;
    std::vector<std::byte*> pointers(operands.begin(), operands.end());
    std::vector<void*> arguments = {&values_at, &scratch_at, &constant};
    for (auto& pointer : pointers) arguments.push_back(&pointer);
    for (const auto& launch : plan.launches)
      entries[launch.entry](arguments.data(), launch.grid.data(), launch.threads,
                            launch.shared_bytes);
    const auto* front = reinterpret_cast<const std::byte*>(scratch.data());
    check(std::all_of(front, front + kFront, [](std::byte b) { return b == std::byte{0}; }),
          "counters are zero after a kernel");
  }

 private:
  struct alignas(16) quad_t {
    std::byte bytes[16];
  };
  Kernel kernel_;
  KernelSource source_;
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

}  // namespace assay::compiler::cuda
