// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/tile_moves.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {
namespace {

class CpuScatter final : public CpuKernel {
 public:
  explicit CpuScatter(const Kernel& kernel)
      : kernel_(kernel), work_(std::get<ScatterInto>(kernel_.work)) {}

  std::int64_t scratch_bytes(const Bindings&, int) override { return 0; }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    const auto seen = [&](const Access& access) {
      const auto& formal = kernel_.operands.at(access.operand);
      std::int64_t count = 1;
      for (const auto& dim : formal.shape) count *= dim.at(symbols);
      return fixed(access.view, symbols, count);
    };
    const auto data = seen(work_.data), index = seen(work_.index), values = seen(work_.values),
               out = seen(work_.out);
    const std::size_t size = size_of(kernel_.operands.at(work_.out.operand).dtype);
    const std::byte* from = operands[work_.data.operand];
    std::byte* to = operands[work_.out.operand];
    if (!work_.in_place) copy(size, from, data, to, out, threads);
    // One after the other: the last stays.
    const std::byte* indices = operands[work_.index.operand];
    const std::byte* elements = operands[work_.values.operand];
    const bool is_short = kernel_.operands.at(work_.index.operand).dtype == DType::kI32;
    const std::int64_t count = out.element_count(), all = index.element_count();
    for (std::int64_t i = 0; i < all; ++i) {
      const std::int64_t at = element_of(index, i);
      const std::int64_t target =
          is_short ? std::int64_t{reinterpret_cast<const std::int32_t*>(indices)[at]}
                   : reinterpret_cast<const std::int64_t*>(indices)[at];
      if (target < 0 || target >= count) continue;
      move_elements(size, elements + element_of(values, i) * static_cast<std::int64_t>(size), 1,
                    to + element_of(out, target) * static_cast<std::int64_t>(size), 1, 1);
    }
  }

 private:
  static void copy(std::size_t size, const std::byte* from, const FixedView& data, std::byte* to,
                   const FixedView& out, int threads) {
    const std::int64_t count = data.element_count();
    const auto bytes = static_cast<std::int64_t>(size);
    if (is_plain(data) && is_plain(out)) {
      constexpr std::int64_t kPiece = 1 << 16;
      kernels::share_items(count * bytes < 4 * kPiece ? 1 : std::max(threads, 1),
                           kernels::divide_up(count, kPiece), [&](std::int64_t piece) noexcept {
                             const std::int64_t begin = piece * kPiece,
                                                part = std::min(kPiece, count - begin);
                             move_elements(size, from + (data.offset + begin) * bytes, 1,
                                           to + (out.offset + begin) * bytes, 1, part);
                           });
      return;
    }
    for (std::int64_t i = 0; i < count; ++i)
      move_elements(size, from + element_of(data, i) * bytes, 1, to + element_of(out, i) * bytes, 1,
                    1);
  }
  static bool is_plain(const FixedView& view) {
    std::int64_t step = 1;
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
      if (view.shape[axis] != 1 && view.strides[axis] != step) return false;
      step *= view.shape[axis];
    }
    return true;
  }

  const Kernel kernel_;
  const ScatterInto& work_;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_scatter(const Kernel& kernel) {
  return std::make_unique<CpuScatter>(kernel);
}

}  // namespace assay::compiler
