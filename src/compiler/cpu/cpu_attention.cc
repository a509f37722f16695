// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Attention by blocks of queries and keys: scores of a block, its softmax relative to the greatest
// score so far, what came before scaled to it. Nothing as large as all scores is ever stored. Query
// heads that share keys are rows of one block. Where there are few blocks and many keys, those are
// cut into parts that are put together at the end; how many depends on the shapes alone.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/cpu/cpu_kernels.h"
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
      : kernel_(kernel),
        work_(std::get<Attention>(kernel_.work)),
        caches_(kernels::read_cache_sizes()) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    return (worker_elements() * std::max(threads, 1) + part_elements()) *
           static_cast<std::int64_t>(sizeof(T));
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const std::int64_t blocks = units_ * blocks_of_unit_;
    if (blocks == 0 || values_ == 0) return;
    const std::int64_t work = units_ * group_ * queries_ * keys_ * (width_ + values_);
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
            kernels::share(keys_, static_cast<int>(item % parts_), static_cast<int>(parts_));
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
  struct Seen {
    std::uint32_t operand = 0;
    DType dtype = DType::kF32;
    FixedView view;
    std::int64_t stride(std::size_t from_the_end) const {
      return view.strides[view.strides.size() - 1 - from_the_end];
    }
    std::int64_t extent(std::size_t from_the_end) const {
      return view.shape[view.shape.size() - 1 - from_the_end];
    }
    const std::byte* at(std::span<std::byte* const> operands, std::int64_t element) const {
      return operands[operand] + element * static_cast<std::int64_t>(size_of(dtype));
    }
  };
  // Rows of a block: those of one unit from `first` on; row r is query r % queries of head
  // r / queries of the group.
  struct Rows {
    std::int64_t unit, first, count;
  };
  // What is known of the rows so far: their greatest scores, sums of exponentials, weighted sums.
  struct State {
    T *most, *total, *sums;
  };

  Seen seen(const Access& access, const Bindings& symbols) const {
    const auto& formal = kernel_.operands.at(access.operand);
    std::int64_t count = 1;
    for (const auto& dim : formal.shape) count *= dim.at(symbols);
    return {access.operand, formal.dtype, fixed(access.view, symbols, count)};
  }

  void bind(const Bindings& symbols) {
    if (bound_ == symbols) return;
    bound_.reset();
    q_ = seen(work_.q, symbols);
    k_ = seen(work_.k, symbols);
    v_ = seen(work_.v, symbols);
    out_ = seen(work_.out, symbols);
    mask_.reset();
    if (work_.mask) mask_ = seen(*work_.mask, symbols);
    offset_ = work_.offset.at(symbols);
    window_.reset();
    if (work_.window) window_ = work_.window->at(symbols);
    queries_ = q_.extent(1);
    width_ = q_.extent(0);
    keys_ = k_.extent(1);
    values_ = v_.extent(0);
    const std::size_t rank = q_.view.shape.size();
    const bool shares_keys = rank > 2 && k_.stride(2) == 0 && v_.stride(2) == 0;
    group_ = shares_keys ? q_.extent(2) : 1;
    outer_ = rank - 2 - (shares_keys ? 1 : 0);
    units_ = 1;
    for (std::size_t axis = 0; axis < outer_; ++axis) units_ *= q_.view.shape[axis];
    blocks_of_unit_ = kernels::divide_up(group_ * queries_, kQueryBlock);
    parts_ = units_ * blocks_of_unit_ >= 16
                 ? 1
                 : std::clamp<std::int64_t>(keys_ / (2 * kKeyBlock), 1, 8);
    bound_ = symbols;
  }

  std::int64_t state_elements(std::int64_t rows) const { return rows * (2 + values_); }
  State state_in(T* memory, std::int64_t rows) const {
    return {memory, memory + rows, memory + 2 * rows};
  }
  std::int64_t worker_elements() const {
    const std::int64_t all =
        state_elements(kQueryBlock) + kQueryBlock * (width_ + kKeyBlock + values_ + 1) + kKeyBlock;
    return kernels::divide_up(all, 64) * 64;
  }
  std::int64_t part_elements() const {
    return parts_ == 1 ? 0 : units_ * blocks_of_unit_ * parts_ * state_elements(kQueryBlock);
  }

  Rows rows_of(std::int64_t block) const {
    const std::int64_t first = block % blocks_of_unit_ * kQueryBlock;
    return {block / blocks_of_unit_, first, std::min(kQueryBlock, group_ * queries_ - first)};
  }
  std::int64_t base(const Seen& x, std::int64_t unit) const {
    std::int64_t at = x.view.offset;
    for (std::size_t axis = outer_; axis-- > 0;) {
      at += unit % q_.view.shape[axis] * x.view.strides[axis];
      unit /= q_.view.shape[axis];
    }
    return at;
  }
  // Where row r of a unit begins.
  std::int64_t row_of(const Seen& x, const Rows& rows, std::int64_t r) const {
    const std::int64_t row = rows.first + r;
    const std::int64_t of_group = group_ > 1 ? row / queries_ * x.stride(2) : 0;
    return base(x, rows.unit) + of_group + row % queries_ * x.stride(1);
  }

  // The keys that query i may see.
  kernels::Range visible(std::int64_t i) const {
    kernels::Range range{0, keys_};
    if (work_.causal) range.end = std::clamp<std::int64_t>(i + offset_ + 1, 0, keys_);
    if (window_) range.begin = std::clamp<std::int64_t>(i + offset_ - *window_ + 1, 0, keys_);
    return range;
  }

  void attend(std::span<std::byte* const> operands, const Rows& rows, std::int64_t begin,
              std::int64_t end, const State& state, T* memory) const {
    const auto& kernels = softmax_kernels(T{});
    T* queries = memory;
    T* scores = queries + kQueryBlock * width_;
    T* more = scores + kQueryBlock * kKeyBlock;
    T* factors = more + kQueryBlock * values_;
    T* mask = factors + kQueryBlock;
    std::fill_n(state.most, rows.count, -std::numeric_limits<T>::infinity());
    std::fill_n(state.total, rows.count, T{0});
    std::fill_n(state.sums, rows.count * values_, T{0});
    std::int64_t low = end, high = begin;
    for (std::int64_t r = 0; r < rows.count; ++r) {
      widen_elements(q_.dtype, q_.at(operands, row_of(q_, rows, r)), q_.stride(0), width_,
                     queries + r * width_);
      for (std::int64_t l = 0; l < width_; ++l)
        queries[r * width_ + l] *= static_cast<T>(work_.scale);
      const auto range = visible((rows.first + r) % queries_);
      low = std::min(low, std::max(begin, range.begin));
      high = std::max(high, std::min(end, range.end));
    }
    const std::int64_t k_base = base(k_, rows.unit), v_base = base(v_, rows.unit);
    const ProductOptions alone{caches_, 1};
    for (std::int64_t j = low; j < high; j += kKeyBlock) {
      const std::int64_t count = std::min(kKeyBlock, high - j);
      multiply<T>(
          Factor{reinterpret_cast<const std::byte*>(queries), kDTypeOf<T>, width_, 1},
          Factor{k_.at(operands, k_base + j * k_.stride(1)), k_.dtype, k_.stride(0), k_.stride(1)},
          rows.count, width_, count, {scores, count}, alone);
      for (std::int64_t r = 0; r < rows.count; ++r) {
        T* row = scores + r * count;
        hide(operands, rows, r, j, count, row, mask);
        const T most = greater(state.most[r], kernels.greatest(row, count));
        const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
        const T factor = std::exp(state.most[r] - shift);
        state.total[r] = state.total[r] * factor + kernels.exponentials(row, count, shift);
        factors[r] = factor;
        state.most[r] = most;
      }
      multiply<T>(
          Factor{reinterpret_cast<const std::byte*>(scores), kDTypeOf<T>, count, 1},
          Factor{v_.at(operands, v_base + j * v_.stride(1)), v_.dtype, v_.stride(1), v_.stride(0)},
          rows.count, count, values_, {more, values_}, alone);
      for (std::int64_t r = 0; r < rows.count; ++r)
        kernels.scale_and_add(state.sums + r * values_, factors[r], more + r * values_, values_);
    }
  }
  static T greater(T a, T b) { return std::isnan(a) ? a : a < b || std::isnan(b) ? b : a; }

  // Masks a row of scores whose first key is j.
  void hide(std::span<std::byte* const> operands, const Rows& rows, std::int64_t r, std::int64_t j,
            std::int64_t count, T* row, T* memory) const {
    constexpr T kHidden = -std::numeric_limits<T>::infinity();
    const auto range = visible((rows.first + r) % queries_);
    if (mask_) {
      const std::byte* from = mask_->at(operands, row_of(*mask_, rows, r) + j * mask_->stride(0));
      if (mask_->dtype == DType::kBool) {
        const auto* is_seen = reinterpret_cast<const bool*>(from);
        for (std::int64_t i = 0; i < count; ++i)
          if (!is_seen[i * mask_->stride(0)]) row[i] = kHidden;
      } else {
        widen_elements(mask_->dtype, from, mask_->stride(0), count, memory);
        for (std::int64_t i = 0; i < count; ++i) row[i] += memory[i];
      }
    }
    const std::int64_t before = std::clamp<std::int64_t>(range.begin - j, 0, count);
    const std::int64_t behind = std::clamp<std::int64_t>(range.end - j, 0, count);
    std::fill(row, row + before, kHidden);
    std::fill(row + std::min(behind, count), row + count, kHidden);
  }

  // Other keys of the same rows.
  void join(const State& sum, const State& other, std::int64_t rows) const {
    const auto& kernels = softmax_kernels(T{});
    for (std::int64_t r = 0; r < rows; ++r) {
      const T most = greater(sum.most[r], other.most[r]);
      const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
      const T mine = std::exp(sum.most[r] - shift), theirs = std::exp(other.most[r] - shift);
      sum.total[r] = sum.total[r] * mine + other.total[r] * theirs;
      for (std::int64_t e = 0; e < values_; ++e) other.sums[r * values_ + e] *= theirs;
      kernels.scale_and_add(sum.sums + r * values_, mine, other.sums + r * values_, values_);
      sum.most[r] = most;
    }
  }

  void finish(std::span<std::byte* const> operands, const Rows& rows, const State& state) const {
    const TileOp narrow = tile_ops().find(Op::kCast, kDTypeOf<T>, out_.dtype, 0);
    const std::size_t size = size_of(out_.dtype);
    alignas(64) std::byte piece[kKeyBlock * 8];
    for (std::int64_t r = 0; r < rows.count; ++r) {
      T* sums = state.sums + r * values_;
      for (std::int64_t e = 0; e < values_; ++e) sums[e] /= state.total[r];
      auto* to = const_cast<std::byte*>(out_.at(operands, row_of(out_, rows, r)));
      for (std::int64_t e = 0; e < values_; e += kKeyBlock) {
        const std::int64_t count = std::min(kKeyBlock, values_ - e);
        const void* in[3] = {sums + e, nullptr, nullptr};
        narrow(in, piece, count);
        move_elements(size, piece, 1, to + e * out_.stride(0) * static_cast<std::int64_t>(size),
                      out_.stride(0), count);
      }
    }
  }

  const Kernel kernel_;
  const Attention& work_;
  const kernels::CacheSizes caches_;
  Seen q_, k_, v_, out_;
  std::optional<Seen> mask_;
  std::optional<std::int64_t> window_;
  std::int64_t offset_ = 0, queries_ = 0, width_ = 0, keys_ = 0, values_ = 0;
  std::int64_t group_ = 1, units_ = 0, blocks_of_unit_ = 0, parts_ = 1;
  std::size_t outer_ = 0;  // leading axes of a unit
  std::optional<Bindings> bound_;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_attention(const Kernel& kernel) {
  const auto& work = std::get<Attention>(kernel.work);
  bool any_f64 = false;
  for (const auto* access : {&work.q, &work.k, &work.v})
    any_f64 |= kernel.operands.at(access->operand).dtype == DType::kF64;
  if (any_f64) return std::make_unique<CpuAttention<double>>(kernel);
  return std::make_unique<CpuAttention<float>>(kernel);
}

}  // namespace assay::compiler
