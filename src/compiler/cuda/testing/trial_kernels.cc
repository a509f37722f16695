// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/testing/trial_kernels.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/philox.h"
#include "compiler/plain/plain_scalar.h"
#include "compiler/plain/run_plain.h"
#include "compiler/program/kernel_graph.h"

namespace assay::compiler::cuda {
namespace {

constexpr std::size_t kMargin = 64;
constexpr std::byte kBeside{0x5a};

struct Block {
  DType dtype;
  std::int64_t count = 0;
  std::size_t shift = 0;  // bytes behind a boundary
  std::vector<std::byte> data;
  std::byte* begin() {
    const auto at = reinterpret_cast<std::uintptr_t>(data.data());
    return data.data() + ((at + kMargin - 1) / kMargin * kMargin - at) + kMargin + shift;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
  bool is_whole() {
    const auto* first = begin();
    for (std::size_t i = 1; i <= kMargin; ++i)
      if (*(first - i) != kBeside || first[bytes() + i - 1] != kBeside) return false;
    return true;
  }
};

class Drawn {
 public:
  Drawn(const TrialKernel& trial, const Bindings& symbols, bool turned) : stream_(7) {
    for (std::size_t i = 0; i < trial.kernel.operands.size(); ++i) {
      const auto& formal = trial.kernel.operands[i];
      Block block{formal.dtype, product(formal.shape).at(symbols), 0, {}};
      if (turned && i % 2 == 0) block.shift = size_of(formal.dtype);
      block.data.assign(block.bytes() + 4 * kMargin, kBeside);
      blocks.push_back(std::move(block));
      auto& at = blocks.back();
      for (std::int64_t k = 0; k < at.count; ++k)
        store_plain(at.dtype, at.begin(), k, value(formal.dtype, trial, k));
    }
  }
  std::vector<std::byte*> pointers() {
    std::vector<std::byte*> all;
    for (auto& block : blocks) all.push_back(block.begin());
    return all;
  }
  // The same elements at addresses of its own.
  Drawn(const Drawn& other) : blocks(other.blocks), stream_(7) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      auto& from = const_cast<Drawn&>(other).blocks[i];  // NOLINT: begin() only aligns
      blocks[i].data.assign(blocks[i].data.size(), kBeside);
      std::memcpy(blocks[i].begin(), from.begin(), from.bytes());
    }
  }

  std::vector<Block> blocks;

 private:
  PlainScalar value(DType dtype, const TrialKernel& trial, std::int64_t number) {
    const double unit = unit_interval(stream_[next_++]);
    if (is_floating(dtype)) return {.f = 2 * unit - 1};
    if (dtype == DType::kBool) return {.i = unit > 0.3 ? 1 : 0};
    if (trial.counts) return {.i = (2 * (number / trial.run) + 1) * trial.run + number % trial.run};
    return {.i = static_cast<std::int64_t>(unit * static_cast<double>(trial.below + 3)) - 2};
  }
  Philox stream_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::string mistake_of(const TrialKernel& trial, const Runtime& runtime, const Bindings& symbols,
                       bool turned) {
  const Drawn given(trial, symbols, turned);
  Drawn want(given);
  run_plain(trial.kernel, symbols, want.pointers());
  Symbols intervals;
  for (const auto& [name, value] : symbols) intervals[name] = {0, std::max<std::int64_t>(value, 1)};
  Executor executor(program_of(trial.kernel, intervals), runtime);
  for (int call = 0; call < 2; ++call) {
    Drawn got(given);
    executor.run(symbols, got.pointers());
    for (std::size_t i = 0; i < got.blocks.size(); ++i) {
      auto& block = got.blocks[i];
      if (!block.is_whole()) return fmt::format("what lies beside operand {} was overwritten", i);
      for (std::int64_t k = 0; k < block.count; ++k) {
        const auto g = load_plain(block.dtype, block.begin(), k);
        const auto w = load_plain(block.dtype, want.blocks[i].begin(), k);
        const double narrow = block.dtype == DType::kBF16  ? 0x1p-7
                              : block.dtype == DType::kF16 ? 0x1p-10
                                                           : 0;
        const bool same = g.i == w.i && (g.f == w.f || (std::isnan(g.f) && std::isnan(w.f)));
        const double bound = (trial.relative + narrow) * std::abs(w.f) + trial.absolute;
        if (same || (is_floating(block.dtype) && std::abs(g.f - w.f) <= bound)) continue;
        return fmt::format("operand {} at {}: {}, not {}", i, k,
                           is_floating(block.dtype) ? g.f : static_cast<double>(g.i),
                           is_floating(block.dtype) ? w.f : static_cast<double>(w.i));
      }
    }
  }
  return {};
}

}  // namespace assay::compiler::cuda
