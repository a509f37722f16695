// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Attention of many rows, with a query in each lane of a vector: scores are K Qᵀ, results Vᵀ P, a
// column for each query (linear_kernels.h). So keys and values are taken as they lie, softmax runs
// along columns and needs no sum across a vector, and its exponentials are the second product's
// right panel where they are. Else as cpu_attention.cc has it: blocks of queries and keys, the
// greatest score so far, parts where there are few blocks.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "compiler/cpu/attention_view.h"
#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/linear_kernels.h"
#include "compiler/cpu/softmax_kernels.h"
#include "compiler/cpu/tile_ops.h"
#include "compiler/cpu/widened_panels.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kKeysAtOnce = 128;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

std::int64_t next_multiple(std::int64_t x, std::int64_t of) {
  return kernels::divide_up(x, of) * of;
}

class WideAttention final : public CpuKernel {
 public:
  explicit WideAttention(const Kernel& kernel)
      : kernel_(kernel), kernels_(linear_kernels()), softmax_(column_softmax()) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    return (worker_elements_ * std::max(threads, 1) + part_elements()) * 4;
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const std::int64_t blocks = at_.units * blocks_of_unit_;
    if (blocks == 0 || at_.values == 0) return;
    const std::int64_t work =
        at_.units * at_.group * at_.queries * at_.keys * (at_.width + at_.values);
    const int team = work < (1 << 18) ? 1 : std::max(threads, 1);
    const kernels::AlignedArray<float> memory(worker_elements_ * team), parts(part_elements());
    std::atomic<std::int64_t> next = 0;
    kernels::share_work(team, [&](int worker) noexcept {
      float* own = memory.data() + worker_elements_ * worker;
      for (;;) {
        const std::int64_t item = next.fetch_add(1, std::memory_order_relaxed);
        if (item >= blocks * parts_) return;
        const Rows rows = rows_of(item / parts_);
        const State state = state_in(parts_ == 1 ? own : parts.data() + item * state_elements_);
        const auto keys =
            kernels::share(at_.keys, static_cast<int>(item % parts_), static_cast<int>(parts_));
        attend(operands, rows, keys, state, own + state_elements_);
        if (parts_ == 1) finish(operands, rows, state, own + state_elements_);
      }
    });
    if (parts_ == 1) return;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const Rows rows = rows_of(block);
      float* first = parts.data() + block * parts_ * state_elements_;
      for (std::int64_t p = 1; p < parts_; ++p)
        join(rows, state_in(first), state_in(first + p * state_elements_));
      finish(operands, rows, state_in(first), memory.data() + state_elements_);
    }
  }

 private:
  using Rows = AttentionView::Rows;
  // What is known of a block's queries so far: their greatest scores, sums of exponentials, and
  // panels of weighted sums, a row for each value and a column for each query.
  struct State {
    float *most, *total, *sums;
  };
  // A panel of a block: queries [first, first + width), whole vectors, of which `count` exist.
  struct Part {
    std::int64_t first, width, count;
  };

  void bind(const Bindings& symbols) {
    if (!at_.bind(symbols)) return;
    const std::int64_t rows = at_.group * at_.queries;
    block_ = std::min(std::max<std::int64_t>(64 / wide(), 1) * wide(),
                      next_multiple(rows, kernels_.lanes));
    blocks_of_unit_ = kernels::divide_up(rows, block_);
    parts_ = at_.units * blocks_of_unit_ >= 16
                 ? 1
                 : std::clamp<std::int64_t>(at_.keys / (4 * kKeysAtOnce), 1, 8);
    padded_values_ = next_multiple(at_.values, kernels_.rows);
    padded_keys_ = next_multiple(kKeysAtOnce, kernels_.rows);
    state_elements_ = next_multiple(block_ * (2 + padded_values_), 16);
    // Queries as rows and as panels (and results as rows), a panel of keys and those keys as f32,
    // scores, values, factors and bounds.
    worker_elements_ =
        next_multiple(state_elements_ + block_ * (2 * at_.width + at_.values + 16) +
                          kernels_.panel_elements() + kernels_.rows * at_.width +
                          padded_keys_ * block_ + kKeysAtOnce * padded_values_ + 3 * block_ + 128,
                      64);
  }
  std::int64_t wide() const { return std::int64_t{kernels_.lanes} * kernels_.vectors; }
  std::int64_t part_elements() const {
    return parts_ == 1 ? 0 : at_.units * blocks_of_unit_ * parts_ * state_elements_;
  }
  State state_in(float* memory) const { return {memory, memory + block_, memory + 2 * block_}; }
  Rows rows_of(std::int64_t block) const {
    const std::int64_t first = block % blocks_of_unit_ * block_;
    return {block / blocks_of_unit_, first, std::min(block_, at_.group * at_.queries - first)};
  }
  // f(part) for each panel of a block.
  template <typename F>
  void for_parts(const Rows& rows, const F& f) const {
    for (std::int64_t first = 0; first < rows.count; first += wide()) {
      const std::int64_t count = std::min(wide(), rows.count - first);
      f(Part{first, next_multiple(count, kernels_.lanes), count});
    }
  }
  template <typename Table>
  void run_tile(const Table& table, const LinearTile& tile, const Part& part) const {
    table[static_cast<std::size_t>(part.width / kernels_.lanes - 1)](tile);
  }

  void attend(std::span<std::byte* const> operands, const Rows& rows, const kernels::Range& keys,
              const State& state, float* memory) const {
    float* queries = memory;
    float* panel = queries + next_multiple(block_ * at_.width, 16);
    float* scores = panel + next_multiple(kernels_.panel_elements() + 16, 16);
    float* values = scores + padded_keys_ * block_;
    float* rest = values + next_multiple(kKeysAtOnce * padded_values_ + 16, 16);
    pack_queries(operands, rows, queries, scores);
    std::fill_n(state.most, block_, kNothing);
    std::fill_n(state.total, block_, 0.0f);
    std::fill_n(state.sums, block_ * padded_values_, 0.0f);
    const auto seen = at_.visible_to_any(rows, keys.begin, keys.end);
    for (std::int64_t j = seen.begin; j < seen.end; j += kKeysAtOnce) {
      const std::int64_t count = std::min(kKeysAtOnce, seen.end - j);
      multiply_keys(operands, rows, j, count, queries, panel, rest, scores);
      take_values(operands, rows, j, count, values);
      for_parts(rows, [&](const Part& part) {
        float* own = scores + part.first * padded_keys_;
        hide(operands, rows, part, j, count, own, rest);
        softmax_.advance(own, count, part.width, state.most + part.first, state.total + part.first,
                         rest);
        float* sums = state.sums + part.first * padded_values_;
        if (j > seen.begin) softmax_.scale(sums, padded_values_, part.width, rest);
        LinearTile tile{.panel_stride = padded_values_,
                        .x = own,
                        .sums_stride = part.width,
                        .terms = count,
                        .accumulate = true};
        for (std::int64_t e = 0; e < at_.values; e += kernels_.rows) {
          tile.panel = values + e;
          tile.sums = sums + e * part.width;
          run_tile(kernels_.across, tile, part);
        }
      });
    }
  }

  // Scaled, a panel of columns for each part.
  void pack_queries(std::span<std::byte* const> operands, const Rows& rows, float* queries,
                    float* memory) const {
    const auto& pack = kernels::pack_kernels(float{});
    const std::int64_t base = at_.base(at_.q, rows.unit);
    const auto scale = static_cast<float>(at_.scale());
    // As many at a time as memory for scores holds.
    for_parts(rows, [&](const Part& part) {
      for (std::int64_t begin = 0; begin < at_.width; begin += kKeysAtOnce) {
        const std::int64_t terms = std::min(kKeysAtOnce, at_.width - begin);
        at_.for_rows(rows, part.first, part.count,
                     [&](std::int64_t r, std::int64_t head, std::int64_t query) {
                       const std::int64_t at =
                           base + at_.within(at_.q, head, query) + begin * at_.q.stride(0);
                       float* row = memory + (r - part.first) * terms;
                       widen_elements(at_.q.dtype, at_.q.at(operands, at), at_.q.stride(0), terms,
                                      row);
                       for (std::int64_t l = 0; l < terms; ++l) row[l] *= scale;
                     });
        pack.copy({memory, terms, 1, terms, static_cast<int>(part.count)},
                  static_cast<int>(part.width),
                  queries + part.first * at_.width + begin * part.width);
      }
    });
  }

  // Scores of keys [j, j + count): for each part rows of keys.
  void multiply_keys(std::span<std::byte* const> operands, const Rows& rows, std::int64_t j,
                     std::int64_t count, const float* queries, float* panel, float* memory,
                     float* scores) const {
    const std::int64_t base = at_.base(at_.k, rows.unit);
    for (std::int64_t key = 0; key < count; key += kernels_.rows) {
      const int some = static_cast<int>(std::min<std::int64_t>(kernels_.rows, count - key));
      for (std::int64_t begin = 0; begin < at_.width; begin += LinearKernels::kMostTerms) {
        const std::int64_t terms = std::min(LinearKernels::kMostTerms, at_.width - begin);
        const PanelFactor keys{
            at_.k.at(operands, base + (j + key) * at_.k.stride(1) + begin * at_.k.stride(0)),
            at_.k.dtype, at_.k.stride(1), at_.k.stride(0)};
        pack_keys(keys, some, terms, memory, panel);
        for_parts(rows, [&](const Part& part) {
          const LinearTile tile{.panel = panel,
                                .x = queries + part.first * at_.width + begin * part.width,
                                .sums = scores + part.first * padded_keys_ + key * part.width,
                                .sums_stride = part.width,
                                .terms = terms,
                                .accumulate = begin > 0};
          run_tile(kernels_.tile, tile, part);
        });
      }
    }
  }
  void pack_keys(const PanelFactor& keys, int count, std::int64_t terms, float* memory,
                 float* panel) const {
    if (kernels_.pitch == 0) return pack_widened(keys, count, terms, kernels_.rows, 1, panel);
    if (keys.term_stride == 1)
      return kernels_.copy_rows(keys.dtype, keys.data, keys.width_stride, count, terms, panel);
    for (int i = 0; i < count; ++i)
      widen_elements(keys.dtype, keys.from(i, 0).data, keys.term_stride, terms, memory + i * terms);
    kernels_.copy_rows(DType::kF32, reinterpret_cast<const std::byte*>(memory), terms, count, terms,
                       panel);
  }
  // Values of those keys, a row for each key.
  void take_values(std::span<std::byte* const> operands, const Rows& rows, std::int64_t j,
                   std::int64_t count, float* values) const {
    const std::int64_t base = at_.base(at_.v, rows.unit);
    const TileOp widen = tile_ops().find(Op::kCast, at_.v.dtype, DType::kF32, 0);
    for (std::int64_t key = 0; key < count; ++key) {
      float* row = values + key * padded_values_;
      const std::byte* from = at_.v.at(operands, base + (j + key) * at_.v.stride(1));
      if (at_.v.stride(0) == 1) {
        const void* in[3] = {from, nullptr, nullptr};
        widen(in, row, at_.values);
      } else {
        widen_elements(at_.v.dtype, from, at_.v.stride(0), at_.values, row);
      }
      std::fill(row + at_.values, row + padded_values_, 0.0f);
    }
  }

  void hide(std::span<std::byte* const> operands, const Rows& rows, const Part& part,
            std::int64_t j, std::int64_t count, float* scores, float* memory) const {
    auto* begin = reinterpret_cast<std::int32_t*>(memory);
    auto* end = begin + part.width;
    bool hides = false;
    std::fill(begin + part.count, begin + part.width, 0);
    std::fill(end + part.count, end + part.width, static_cast<std::int32_t>(count));
    at_.for_rows(rows, part.first, part.count,
                 [&](std::int64_t r, std::int64_t, std::int64_t query) {
                   const auto seen = at_.visible_to(query);
                   const std::int64_t t = r - part.first;
                   const auto first = std::clamp<std::int64_t>(seen.begin - j, 0, count);
                   const auto last = std::clamp<std::int64_t>(seen.end - j, 0, count);
                   begin[t] = static_cast<std::int32_t>(first);
                   end[t] = static_cast<std::int32_t>(last);
                   hides |= first > 0 || last < count;
                   at_.apply_mask(
                       operands, rows, r, j, count,
                       [&](std::int64_t i) { scores[i * part.width + t] = kNothing; },
                       [&](std::int64_t i, double added) {
                         scores[i * part.width + t] += static_cast<float>(added);
                       });
                 });
    if (hides) softmax_.hide(scores, count, part.width, begin, end);
  }

  // Other keys of the same queries.
  void join(const Rows& rows, const State& sum, const State& other) const {
    const auto greater = [](float a, float b) {
      return std::isnan(a) ? a : a < b || std::isnan(b) ? b : a;
    };
    for_parts(rows, [&](const Part& part) {
      float* mine = sum.sums + part.first * padded_values_;
      const float* theirs = other.sums + part.first * padded_values_;
      for (std::int64_t t = 0; t < part.count; ++t) {
        const std::int64_t query = part.first + t;
        const float most = greater(sum.most[query], other.most[query]);
        const float shift = most == kNothing ? 0.0f : most;
        const float by = std::exp(sum.most[query] - shift);
        const float other_by = std::exp(other.most[query] - shift);
        sum.total[query] = sum.total[query] * by + other.total[query] * other_by;
        sum.most[query] = most;
        for (std::int64_t at = t; at < at_.values * part.width; at += part.width)
          mine[at] = mine[at] * by + theirs[at] * other_by;
      }
    });
  }

  void finish(std::span<std::byte* const> operands, const Rows& rows, const State& state,
              float* memory) const {
    const TileOp narrow = tile_ops().find(Op::kCast, DType::kF32, at_.out.dtype, 0);
    const auto& pack = kernels::pack_kernels(float{});
    const std::int64_t base = at_.base(at_.out, rows.unit);
    constexpr std::int64_t kPiece = 256;
    alignas(64) std::byte piece[kPiece * 8];
    for_parts(rows, [&](const Part& part) {
      float* sums = state.sums + part.first * padded_values_;
      softmax_.divide(sums, at_.values, part.width, state.total + part.first);
      for (std::int64_t e = 0; e < at_.values; e += kPiece) {
        const std::int64_t count = std::min(kPiece, at_.values - e);
        for (std::int64_t i = 0; i < count; i += 16) {
          const float* from[16];
          const std::int64_t some = std::min<std::int64_t>(16, count - i);
          for (std::int64_t s = 0; s < some; ++s) from[s] = sums + (e + i + s) * part.width;
          pack.copy_rows(from, static_cast<int>(some), part.count, count, memory + i);
        }
        at_.for_rows(
            rows, part.first, part.count,
            [&](std::int64_t r, std::int64_t head, std::int64_t query) {
              std::byte* to = at_.out.at(
                  operands, base + at_.within(at_.out, head, query) + e * at_.out.stride(0));
              const void* in[3] = {memory + (r - part.first) * count, nullptr, nullptr};
              const bool is_plain = at_.out.stride(0) == 1;
              narrow(in, is_plain ? to : piece, count);
              if (!is_plain)
                move_elements(size_of(at_.out.dtype), piece, 1, to, at_.out.stride(0), count);
            });
      }
    });
  }

  const Kernel kernel_;
  AttentionView at_{kernel_};
  const LinearKernels& kernels_;
  const ColumnSoftmax& softmax_;
  std::int64_t block_ = 0, blocks_of_unit_ = 0, parts_ = 1;
  std::int64_t padded_values_ = 0, padded_keys_ = 0, state_elements_ = 0, worker_elements_ = 0;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_wide_attention(const Kernel& kernel) {
  return std::make_unique<WideAttention>(kernel);
}

}  // namespace assay::compiler
