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
    const Target target{size, to, out, is_plain(out), out.element_count()};
    const Rows rows{index, values, operands[work_.index.operand], operands[work_.values.operand]};
    if (kernel_.operands.at(work_.index.operand).dtype == DType::kI32)
      scatter_rows<std::int32_t>(rows, target);
    else
      scatter_rows<std::int64_t>(rows, target);
  }

 private:
  struct Target {
    std::size_t size;
    std::byte* data;
    const FixedView& view;
    bool is_plain;
    std::int64_t count;
  };
  struct Rows {
    const FixedView &index, &values;
    const std::byte *indices, *elements;
  };
  // One after the other: the last stays. Of a row, neighbours that go to neighbours are moved at
  // once, as rows of a cache are.
  template <typename Index>
  static void scatter_rows(const Rows& rows, const Target& to) {
    const auto& shape = rows.index.shape;
    const bool has_rows = !shape.empty() && shape == rows.values.shape;
    const std::int64_t length = has_rows ? shape.back() : 1;
    const std::int64_t index_step = has_rows ? rows.index.strides.back() : 1;
    const std::int64_t value_step = has_rows ? rows.values.strides.back() : 1;
    const auto size = static_cast<std::int64_t>(to.size);
    for (std::int64_t i = 0; i < rows.index.element_count(); i += length) {
      const auto* index = reinterpret_cast<const Index*>(rows.indices) + element_of(rows.index, i);
      const std::byte* values = rows.elements + element_of(rows.values, i) * size;
      for (std::int64_t j = 0, run = 1; j < length; j += run, run = 1) {
        const auto first = static_cast<std::int64_t>(index[j * index_step]);
        if (first < 0 || first >= to.count) continue;
        const std::int64_t most = to.is_plain ? std::min(length - j, to.count - first) : 1;
        while (run < most && index[(j + run) * index_step] == first + run) ++run;
        const std::int64_t at = to.is_plain ? to.view.offset + first : element_of(to.view, first);
        move_elements(to.size, values + j * value_step * size, value_step, to.data + at * size, 1,
                      run);
      }
    }
  }

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
