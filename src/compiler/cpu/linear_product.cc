// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
//   for blocks of tokens: all terms of x as panels, shared out
//     for groups of W's rows, each taken by whoever is free
//       for blocks of terms (x's fill half of L2)
//         for panels of W (L1), for panels of x: a tile, added to the group's sums in L2
//       sums transposed and handed over while they are there
//
// Every sum is made in one order, whoever makes it.
#include "compiler/cpu/linear_product.h"

#include <algorithm>
#include <atomic>

#include "compiler/cpu/linear_kernels.h"
#include "compiler/cpu/widened_panels.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::compiler {
namespace {

std::int64_t rounded_to(std::int64_t x, std::int64_t step) {
  return kernels::divide_up(x, step) * step;
}

class LinearProduct {
 public:
  LinearProduct(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k, std::int64_t n,
                const SumsSink<float>& sink, const ProductOptions& options)
      : a_(a),
        b_(b),
        m_(m),
        k_(k),
        n_(n),
        sink_(sink),
        workers_(std::max(options.threads, 1)),
        kernels_(linear_kernels()),
        pack_(kernels::pack_kernels(float{})),
        size_(static_cast<std::int64_t>(size_of(b.dtype))) {
    const std::int64_t blocks = kernels::divide_up(k, LinearKernels::kMostTerms);
    terms_ = rounded_to(kernels::divide_up(k, blocks), 16);
    tokens_ = std::min(
        rounded_to(m, kernels_.lanes),
        std::max<std::int64_t>(options.caches.l2 / 2 / (terms_ * 4) / wide() * wide(), wide()));
    // Sums of a group are an eighth of L2, and there are some groups for everybody.
    const std::int64_t fitting = options.caches.l2 / 8 / (tokens_ * 4);
    const std::int64_t even = kernels::divide_up(n, 6 * workers_);
    group_ = rounded_to(std::clamp<std::int64_t>(even, 1, fitting), kernels_.rows);
    pitch_ = tokens_ + 16;
    own_ = kernels_.panel_elements() + 64 + group_ * pitch_ + tokens_ * (group_ + 16);
    own_ = rounded_to(own_, 64);
  }

  void run() {
    const kernels::AlignedArray<float> x(tokens_ * rounded_to(k_, 16)), own(own_ * workers_);
    for (first_ = 0; first_ < m_; first_ += tokens_) {
      count_ = std::min(tokens_, m_ - first_);
      pack_tokens(x.data());
      std::atomic<std::int64_t> next = 0;
      kernels::share_work(workers_, [&](int worker) noexcept {
        for (;;) {
          const std::int64_t group = next.fetch_add(1, std::memory_order_relaxed) * group_;
          if (group >= n_) return;
          multiply_group(x.data(), group, own.data() + own_ * worker, worker);
        }
      });
    }
  }

 private:
  std::int64_t wide() const { return std::int64_t{kernels_.lanes} * kernels_.vectors; }
  std::int64_t padded() const { return rounded_to(count_, kernels_.lanes); }
  std::int64_t terms_from(std::int64_t begin) const { return std::min(terms_, k_ - begin); }
  // Tokens of panel `q`, in whole vectors.
  std::int64_t width_of(std::int64_t q) const { return std::min(wide(), padded() - q * wide()); }
  // The block of terms from `begin` on holds panels of all tokens.
  float* panel_of_x(float* x, std::int64_t begin, std::int64_t q) const {
    return x + begin * padded() + q * wide() * terms_from(begin);
  }

  void pack_tokens(float* x) const {
    const PanelFactor tokens{a_.data, a_.dtype, a_.row_stride, a_.column_stride};
    const std::int64_t panels = kernels::divide_up(count_, wide());
    const std::int64_t blocks = kernels::divide_up(k_, terms_);
    kernels::share_items(workers_, panels * blocks, [&](std::int64_t item) noexcept {
      const std::int64_t q = item % panels, begin = item / panels * terms_;
      const std::int64_t token = q * wide();
      pack_widened(tokens.from(first_ + token, begin),
                   static_cast<int>(std::min(wide(), count_ - token)), terms_from(begin),
                   static_cast<int>(width_of(q)), 1, panel_of_x(x, begin, q));
    });
  }

  void multiply_group(float* x, std::int64_t group, float* own, int worker) const noexcept {
    float* panel = own;
    float* sums = panel + kernels_.panel_elements() + 64;
    float* rows = sums + group_ * pitch_;
    const std::int64_t count = std::min(group_, n_ - group);
    const std::int64_t panels = kernels::divide_up(count, kernels_.rows);
    const std::int64_t parts = kernels::divide_up(count_, wide());
    for (std::int64_t begin = 0; begin < k_; begin += terms_) {
      for (std::int64_t p = 0; p < panels; ++p) {
        pack_rows(group + p * kernels_.rows, begin, panel);
        LinearTile tile{.panel = panel, .sums_stride = pitch_, .terms = terms_from(begin)};
        tile.accumulate = begin > 0;
        tile.ahead_stride = b_.column_stride * size_;
        tile.ahead_size = size_;
        // The panel that comes next; each tile asks for some of its rows.
        const bool is_last = p + 1 == panels;
        const std::int64_t next_begin = is_last ? begin + terms_ : begin;
        const std::int64_t next_row = group + (is_last ? 0 : p + 1) * kernels_.rows;
        const std::int64_t next_rows =
            next_begin < k_ ? std::min<std::int64_t>(kernels_.rows, n_ - next_row) : 0;
        for (std::int64_t q = 0; q < parts; ++q) {
          const auto ahead =
              kernels::share(next_rows, static_cast<int>(q), static_cast<int>(parts));
          tile.ahead_rows = ahead.end - ahead.begin;
          if (tile.ahead_rows > 0) tile.ahead = at(next_row + ahead.begin, next_begin);
          tile.x = panel_of_x(x, begin, q);
          tile.sums = sums + p * kernels_.rows * pitch_ + q * wide();
          kernels_.tile[static_cast<std::size_t>(width_of(q) / kernels_.lanes - 1)](tile);
        }
      }
    }
    hand_over(sums, group, count, rows, worker);
  }
  const std::byte* at(std::int64_t row, std::int64_t term) const {
    return b_.data + (row * b_.column_stride + term) * size_;
  }
  void pack_rows(std::int64_t row, std::int64_t begin, float* panel) const {
    const int count = static_cast<int>(std::min<std::int64_t>(kernels_.rows, n_ - row));
    if (kernels_.pitch > 0)
      kernels_.copy_rows(b_.dtype, at(row, begin), b_.column_stride, count, terms_from(begin),
                         panel);
    else
      pack_widened(PanelFactor{at(row, begin), b_.dtype, b_.column_stride, 1}, count,
                   terms_from(begin), kernels_.rows, 1, panel);
  }

  // sums[column][token] → rows of tokens.
  void hand_over(const float* sums, std::int64_t group, std::int64_t count, float* rows,
                 int worker) const {
    float* to = rows;
    std::int64_t stride = group_ + 16;
    if (sink_.taker == nullptr) {
      stride = sink_.stride;
      to = sink_.data + first_ * stride + group;
    }
    constexpr std::int64_t kAtOnce = 16;
    for (std::int64_t j = 0; j < count; j += kAtOnce) {
      const float* from[kAtOnce];
      const int some = static_cast<int>(std::min(kAtOnce, count - j));
      for (int i = 0; i < some; ++i) from[i] = sums + (j + i) * pitch_;
      pack_.copy_rows(from, some, count_, stride, to + j);
    }
    if (sink_.taker != nullptr)
      sink_.taker->take({first_, count_, group, count, rows, stride, worker});
  }

  const Factor a_, b_;
  const std::int64_t m_, k_, n_;
  const SumsSink<float>& sink_;
  const int workers_;
  const LinearKernels& kernels_;
  const kernels::PackKernels<float>& pack_;
  const std::int64_t size_;  // of an element of b
  std::int64_t terms_ = 0, tokens_ = 0, group_ = 0, pitch_ = 0, own_ = 0;
  std::int64_t first_ = 0, count_ = 0;  // the tokens at work
};

}  // namespace

bool is_linear(const Factor& b, std::int64_t m, std::int64_t n) {
  // One panel of W's rows at least, and vectors of tokens that are not nearly empty.
  return b.row_stride == 1 && b.dtype != DType::kF64 && m >= linear_kernels().lanes / 2 &&
         n >= linear_kernels().rows;
}

void multiply_linear(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                     std::int64_t n, const SumsSink<float>& sink, const ProductOptions& options) {
  LinearProduct(a, b, m, k, n, sink, options).run();
}

}  // namespace assay::compiler
