// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Attention by blocks of queries and keys: scores of a block, its softmax relative to the greatest
// score so far, what came before scaled to it. Nothing as large as all scores is ever stored. Query
// heads that share keys are rows of one block. Where there are few blocks and many keys, those are
// cut into parts that are put together at the end; how many depends on the shapes alone. This is
// the form for few rows, whose keys are read at the speed of memory, and for f64; there is another
// for many (wide_attention.cc).

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "compiler/cpu/attention_view.h"
#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/gemv_kernels.h"
#include "compiler/cpu/product.h"
#include "compiler/cpu/softmax_kernels.h"
#include "compiler/cpu/tile_moves.h"
#include "compiler/cpu/tile_ops.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kQueryBlock = 64, kKeyBlock = 256;

template <typename T>
class CpuAttention final : public CpuKernel {
 public:
  explicit CpuAttention(const Kernel& kernel)
      : kernel_(kernel), caches_(kernels::read_cache_sizes()) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    return (worker_elements() * std::max(threads, 1) + part_elements()) *
           static_cast<std::int64_t>(sizeof(T));
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const std::int64_t blocks = at_.units * blocks_of_unit_;
    if (blocks == 0 || at_.values == 0) return;
    const std::int64_t work =
        at_.units * at_.group * at_.queries * at_.keys * (at_.width + at_.values);
    const int team = work < (1 << 16) ? 1 : std::max(threads, 1);
    const kernels::AlignedArray<T> memory(worker_elements() * team), parts(part_elements());
    std::atomic<std::int64_t> next = 0;
    kernels::share_work(team, [&](int worker) noexcept {
      for (;;) {
        const std::int64_t item = next.fetch_add(1, std::memory_order_relaxed);
        if (item >= blocks * parts_) return;
        const std::int64_t block = item / parts_;
        T* own = memory.data() + worker_elements() * worker;
        const Rows rows = rows_of(block);
        State state = state_in(own, rows.count);
        const auto keys =
            kernels::share(at_.keys, static_cast<int>(item % parts_), static_cast<int>(parts_));
        attend(operands, rows, keys.begin, keys.end, state, own + state_elements(kQueryBlock));
        if (parts_ == 1)
          finish(operands, rows, state);
        else
          std::copy_n(own, state_elements(rows.count),
                      parts.data() + item * state_elements(kQueryBlock));
      }
    });
    if (parts_ == 1) return;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const Rows rows = rows_of(block);
      T* first = parts.data() + block * parts_ * state_elements(kQueryBlock);
      State sum = state_in(first, rows.count);
      for (std::int64_t p = 1; p < parts_; ++p)
        join(sum, state_in(first + p * state_elements(kQueryBlock), rows.count), rows.count);
      finish(operands, rows, sum);
    }
  }

 private:
  using Rows = AttentionView::Rows;
  // What is known of the rows so far: their greatest scores, sums of exponentials, weighted sums.
  struct State {
    T *most, *total, *sums;
  };

  void bind(const Bindings& symbols) {
    if (!at_.bind(symbols)) return;
    blocks_of_unit_ = kernels::divide_up(at_.group * at_.queries, kQueryBlock);
    parts_ = at_.units * blocks_of_unit_ >= 16
                 ? 1
                 : std::clamp<std::int64_t>(at_.keys / (2 * kKeyBlock), 1, 8);
  }

  std::int64_t state_elements(std::int64_t rows) const { return rows * (2 + at_.values); }
  State state_in(T* memory, std::int64_t rows) const {
    return {memory, memory + rows, memory + 2 * rows};
  }
  std::int64_t worker_elements() const {
    const std::int64_t all =
        state_elements(kQueryBlock) + kQueryBlock * (at_.width + kKeyBlock + at_.values + 1);
    return kernels::divide_up(all, 64) * 64;
  }
  std::int64_t part_elements() const {
    return parts_ == 1 ? 0 : at_.units * blocks_of_unit_ * parts_ * state_elements(kQueryBlock);
  }

  Rows rows_of(std::int64_t block) const {
    const std::int64_t first = block % blocks_of_unit_ * kQueryBlock;
    return {block / blocks_of_unit_, first, std::min(kQueryBlock, at_.group * at_.queries - first)};
  }
  void attend(std::span<std::byte* const> operands, const Rows& rows, std::int64_t begin,
              std::int64_t end, const State& state, T* memory) const {
    const auto& kernels = softmax_kernels(T{});
    T* queries = memory;
    T* scores = queries + kQueryBlock * at_.width;
    T* more = scores + kQueryBlock * kKeyBlock;
    T* factors = more + kQueryBlock * at_.values;
    std::fill_n(state.most, rows.count, -std::numeric_limits<T>::infinity());
    std::fill_n(state.total, rows.count, T{0});
    std::fill_n(state.sums, rows.count * at_.values, T{0});
    for (std::int64_t r = 0; r < rows.count; ++r) {
      widen_elements(at_.q.dtype, at_.q.at(operands, at_.row_of(at_.q, rows, r)), at_.q.stride(0),
                     at_.width, queries + r * at_.width);
      for (std::int64_t l = 0; l < at_.width; ++l)
        queries[r * at_.width + l] *= static_cast<T>(at_.scale());
    }
    const auto [low, high] = at_.visible_to_any(rows, begin, end);
    const std::int64_t k_base = at_.base(at_.k, rows.unit), v_base = at_.base(at_.v, rows.unit);
    const ProductOptions alone{caches_, 1};
    for (std::int64_t j = low; j < high; j += kKeyBlock) {
      const std::int64_t count = std::min(kKeyBlock, high - j);
      multiply<T>(Factor{reinterpret_cast<const std::byte*>(queries), kDTypeOf<T>, at_.width, 1},
                  Factor{at_.k.at(operands, k_base + j * at_.k.stride(1)), at_.k.dtype,
                         at_.k.stride(0), at_.k.stride(1)},
                  rows.count, at_.width, count, {scores, count}, alone);
      for (std::int64_t r = 0; r < rows.count; ++r) {
        T* row = scores + r * count;
        hide(operands, rows, r, j, count, row);
        const T most = greater(state.most[r], kernels.greatest(row, count));
        const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
        const T factor = std::exp(state.most[r] - shift);
        state.total[r] = state.total[r] * factor + kernels.exponentials(row, count, shift);
        factors[r] = factor;
        state.most[r] = most;
      }
      multiply<T>(Factor{reinterpret_cast<const std::byte*>(scores), kDTypeOf<T>, count, 1},
                  Factor{at_.v.at(operands, v_base + j * at_.v.stride(1)), at_.v.dtype,
                         at_.v.stride(1), at_.v.stride(0)},
                  rows.count, count, at_.values, {more, at_.values}, alone);
      for (std::int64_t r = 0; r < rows.count; ++r)
        kernels.scale_and_add(state.sums + r * at_.values, factors[r], more + r * at_.values,
                              at_.values);
    }
  }
  static T greater(T a, T b) { return std::isnan(a) ? a : a < b || std::isnan(b) ? b : a; }

  // Masks a row of scores whose first key is j.
  void hide(std::span<std::byte* const> operands, const Rows& rows, std::int64_t r, std::int64_t j,
            std::int64_t count, T* row) const {
    constexpr T kHidden = -std::numeric_limits<T>::infinity();
    const auto range = at_.visible(rows, r);
    at_.apply_mask(
        operands, rows, r, j, count, [&](std::int64_t i) { row[i] = kHidden; },
        [&](std::int64_t i, double added) { row[i] += static_cast<T>(added); });
    const std::int64_t before = std::clamp<std::int64_t>(range.begin - j, 0, count);
    const std::int64_t behind = std::clamp<std::int64_t>(range.end - j, 0, count);
    std::fill(row, row + before, kHidden);
    std::fill(row + behind, row + count, kHidden);
  }

  // Other keys of the same rows.
  void join(const State& sum, const State& other, std::int64_t rows) const {
    const auto& kernels = softmax_kernels(T{});
    for (std::int64_t r = 0; r < rows; ++r) {
      const T most = greater(sum.most[r], other.most[r]);
      const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
      const T mine = std::exp(sum.most[r] - shift), theirs = std::exp(other.most[r] - shift);
      sum.total[r] = sum.total[r] * mine + other.total[r] * theirs;
      for (std::int64_t e = 0; e < at_.values; ++e) other.sums[r * at_.values + e] *= theirs;
      kernels.scale_and_add(sum.sums + r * at_.values, mine, other.sums + r * at_.values,
                            at_.values);
      sum.most[r] = most;
    }
  }

  void finish(std::span<std::byte* const> operands, const Rows& rows, const State& state) const {
    const TileOp narrow = tile_ops().find(Op::kCast, kDTypeOf<T>, at_.out.dtype, 0);
    const std::size_t size = size_of(at_.out.dtype);
    alignas(64) std::byte piece[kKeyBlock * 8];
    for (std::int64_t r = 0; r < rows.count; ++r) {
      T* sums = state.sums + r * at_.values;
      for (std::int64_t e = 0; e < at_.values; ++e) sums[e] /= state.total[r];
      auto* to = const_cast<std::byte*>(at_.out.at(operands, at_.row_of(at_.out, rows, r)));
      for (std::int64_t e = 0; e < at_.values; e += kKeyBlock) {
        const std::int64_t count = std::min(kKeyBlock, at_.values - e);
        const void* in[3] = {sums + e, nullptr, nullptr};
        narrow(in, piece, count);
        move_elements(size, piece, 1, to + e * at_.out.stride(0) * static_cast<std::int64_t>(size),
                      at_.out.stride(0), count);
      }
    }
  }

  const Kernel kernel_;
  AttentionView at_{kernel_};
  const kernels::CacheSizes caches_;
  std::int64_t blocks_of_unit_ = 0, parts_ = 1;
};

// Which form is faster follows from the rows that share keys.
class FloatAttention final : public CpuKernel {
 public:
  explicit FloatAttention(const Kernel& kernel)
      : kernel_(kernel), few_(kernel_), many_(prepare_cpu_wide_attention(kernel_)) {}
  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    return chosen(symbols).scratch_bytes(symbols, threads);
  }
  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    chosen(symbols).run(symbols, operands, threads);
  }

 private:
  CpuKernel& chosen(const Bindings& symbols) {
    at_.bind(symbols);
    if (at_.group * at_.queries > kMostGemvRows) return *many_;
    return few_;
  }

  const Kernel kernel_;
  AttentionView at_{kernel_};
  CpuAttention<float> few_;
  const std::unique_ptr<CpuKernel> many_;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_attention(const Kernel& kernel) {
  const auto& work = std::get<Attention>(kernel.work);
  bool any_f64 = false;
  for (const auto* access : {&work.q, &work.k, &work.v})
    any_f64 |= kernel.operands.at(access->operand).dtype == DType::kF64;
  if (any_f64) return std::make_unique<CpuAttention<double>>(kernel);
  return std::make_unique<FloatAttention>(kernel);
}

}  // namespace assay::compiler
