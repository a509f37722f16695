// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrices times vectors and matrices, where one factor is exact as weights are:
//
//   for blocks of the other factor's rows
//     for blocks of terms: those rows, and what is known of their errors, as panels
//       for a few rows of the exact factor, widened once: four sums for each pair
//
// Everything else pair by pair.
#include "compiler/verify/product_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "compiler/graph/scalar.h"
#include "compiler/reference/long_loops.h"
#include "compiler/reference/matrix_of_sums.h"
#include "compiler/reference/shared_loop.h"
#include "compiler/verify/term_kernels.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kRight = TermKernels::kRight;
// 32 left rows of 256 terms are 256 KiB.
constexpr std::int64_t kLeftRows = 32, kTermsAtOnce = 256;
// That a thread takes at a time.
constexpr std::int64_t kRightRows = 64 * kRight;

// Rows `stride` apart from `at` on.
struct RowsFrom {
  std::int64_t at = 0, count = 1, stride = 0;
};

template <typename T>
void sizes_of(const T* values, std::int64_t count, double* to) {
  if constexpr (sizeof(T) >= sizeof(float)) {
    widen_sizes(values, count, to);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k] = std::abs(static_cast<double>(values[k]));
  }
}

// sums[i · right.count + j] of the pair (i, j).
template <typename T>
void sum_matrix_terms(const FactorRows<T>& x, const RowsFrom& left, const FactorRows<T>& y,
                      const RowsFrom& right, std::vector<TermSums>& sums) {
  sums.assign(static_cast<std::size_t>(left.count * right.count), {});
  const auto& kernels = term_kernels();
  const std::int64_t length = x.length();
  std::vector<double> panels(static_cast<std::size_t>(kLeftRows * 4 * kTermsAtOnce)),
      rows(static_cast<std::size_t>(kRight * kTermsAtOnce));
  std::vector<T> room;
  for (std::int64_t first = 0; first < left.count; first += kLeftRows) {
    const std::int64_t left_end = std::min(left.count, first + kLeftRows);
    for (std::int64_t begin = 0; begin < length; begin += kTermsAtOnce) {
      const std::int64_t some = std::min(kTermsAtOnce, length - begin);
      const std::int64_t terms = (some + TermKernels::kStep - 1) & -TermKernels::kStep;
      const auto panel = [&](std::int64_t i) { return panels.data() + (i - first) * 4 * terms; };
      for (std::int64_t i = first; i < left_end; ++i) {
        double* to = panel(i);
        std::fill_n(to, 4 * terms, 0.0);
        const auto at = left.at + i * left.stride;
        const T* values = x.values(at, begin, some, room);
        sizes_of(values, some, to);
        for (std::int64_t k = 0; k < some; ++k) to[terms + k] = to[k] * to[k];
        if (x.is_exact()) continue;
        const Error* errors = x.errors(at) + begin;
        for (std::int64_t k = 0; k < some; ++k) {
          to[2 * terms + k] = errors[k].bound;
          to[3 * terms + k] = errors[k].deviation * errors[k].deviation;
        }
      }
      for (std::int64_t j = 0; j < right.count; j += kRight) {
        const std::int64_t count = std::min(kRight, right.count - j);
        std::fill(rows.begin(), rows.end(), 0.0);
        for (std::int64_t r = 0; r < count; ++r) {
          const T* values = y.values(right.at + (j + r) * right.stride, begin, some, room);
          sizes_of(values, some, rows.data() + r * terms);
        }
        for (std::int64_t i = first; i < left_end; ++i) {
          TermSums* to = sums.data() + i * right.count + j;
          if (count == kRight) {
            kernels.add(panel(i), rows.data(), terms, to);
            continue;
          }
          std::array<TermSums, kRight> few;
          std::copy_n(to, count, few.begin());
          kernels.add(panel(i), rows.data(), terms, few.data());
          std::copy_n(few.begin(), count, to);
        }
      }
    }
  }
}

// One sum: by what comes of its terms, where that is finite, else term by term.
template <typename T>
Error error_of_sum(const FactorRows<T>& x, std::int64_t x_at, const FactorRows<T>& y,
                   std::int64_t y_at, const ElementBound& bound, double result,
                   const TermSums& finite) {
  const auto length = x.length();
  if (std::isfinite(finite.size + finite.squares + finite.bound + finite.deviation_squares)) {
    return bound.of_sum(length, bound.with_rounded_products(length, finite), result);
  }
  std::vector<T> room_x, room_y;
  const T* of_x = x.values(x_at, 0, x.length(), room_x);
  const T* of_y = y.values(y_at, 0, x.length(), room_y);
  const Error *off_x = x.errors(x_at), *off_y = y.errors(y_at);
  TermSums sums;
  for (std::int64_t k = 0; k < length; ++k) {
    // Only a NaN among the terms, for certain, says more than that anything goes, and then the
    // result is one.
    if (std::isinf(sums.bound) && !std::isnan(result)) return kAnything;
    const Number p{static_cast<double>(of_x[k]), off_x != nullptr ? off_x[k] : Error{}};
    const Number q{static_cast<double>(of_y[k]), off_y != nullptr ? off_y[k] : Error{}};
    const double value = p.value * q.value;
    // A product that overflows does not where it is fused with the addition.
    const bool overflows = std::isinf(value) && std::isfinite(p.value) && std::isfinite(q.value);
    Error error;
    if (p.is_open() || q.is_open() || overflows) {
      error = kAnything;
    } else if (!p.is_exact() || !q.is_exact()) {
      error = bound.of_product(p, q, value);
    }
    sums.add({value, error});
  }
  return bound.of_sum(length, sums, result);
}

// Two factors that are both off: finite elements, four sums; not finite where one is not.
template <typename T>
TermSums sum_pair_terms(const FactorRows<T>& x, std::int64_t x_at, const FactorRows<T>& y,
                        std::int64_t y_at) {
  // In four parts, none of which waits for another.
  constexpr std::int64_t kParts = 4;
  TermSums parts[kParts];
  std::vector<T> room_x, room_y;
  const T* of_x = x.values(x_at, 0, x.length(), room_x);
  const T* of_y = y.values(y_at, 0, x.length(), room_y);
  const Error *dx = x.errors(x_at), *dy = y.errors(y_at);
  const Error exact;
  for (std::int64_t k = 0; k < x.length(); ++k) {
    auto& part = parts[k % kParts];
    const double a = std::abs(static_cast<double>(of_x[k]));
    const double b = std::abs(static_cast<double>(of_y[k]));
    const Error &off_a = dx != nullptr ? dx[k] : exact, &off_b = dy != nullptr ? dy[k] : exact;
    const double term = a * b, of_a = b * off_a.deviation, of_b = a * off_b.deviation;
    part.size += term;
    part.squares += term * term;
    part.bound += b * off_a.bound + (a + off_a.bound) * off_b.bound;
    part.deviation_squares += of_a * of_a + of_b * of_b;
  }
  TermSums sums;
  for (const auto& part : parts) {
    sums.size += part.size;
    sums.squares += part.squares;
    sums.bound += part.bound;
    sums.deviation_squares += part.deviation_squares;
  }
  return sums;
}

}  // namespace

template <typename T>
void product_errors(const FactorRows<T>& x, const FactorRows<T>& y, const ElementBound& bound,
                    std::span<const T> results, std::span<Error> errors) {
  if (results.empty()) return;
  const MatrixOfSums matrix(x.view(), y.view());
  const auto outer_x = without_matrix(x.view()), outer_y = without_matrix(y.view());
  // A factor that is off is the left one.
  const bool is_matrix = matrix.is_product() || matrix.is_transposed_product();
  const bool is_vectorised = is_matrix && (x.is_exact() || y.is_exact());
  const bool x_is_left = y.is_exact();
  const bool left_is_row = matrix.is_product() == x_is_left;
  const std::int64_t left_count = left_is_row ? matrix.rows : matrix.columns;
  const std::int64_t right_count = left_is_row ? matrix.columns : matrix.rows;
  const auto stride_of = [&](const MatrixOfSums::Strides& strides, bool of_rows) {
    return of_rows ? strides.row : strides.column;
  };
  const auto& left_strides = x_is_left ? matrix.x : matrix.y;
  const auto& right_strides = x_is_left ? matrix.y : matrix.x;
  Walk<2> walk({&outer_x, &outer_y});
  const auto size = static_cast<std::size_t>(matrix.rows * matrix.columns);
  for (std::size_t first = 0; first < results.size(); first += size, walk.next()) {
    const std::int64_t x_at = walk[0], y_at = walk[1];
    // Right rows from `begin` to `end` with all left ones.
    const auto take = [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t count = end - begin;
      const auto right_stride = stride_of(right_strides, !left_is_row);
      std::vector<TermSums> sums;
      if (is_vectorised) {
        sum_matrix_terms<T>(
            x_is_left ? x : y,
            {x_is_left ? x_at : y_at, left_count, stride_of(left_strides, left_is_row)},
            x_is_left ? y : x,
            {(x_is_left ? y_at : x_at) + begin * right_stride, count, right_stride}, sums);
      }
      for (std::int64_t l = 0; l < left_count; ++l) {
        for (std::int64_t r = begin; r < end; ++r) {
          const std::int64_t i = left_is_row ? l : r, j = left_is_row ? r : l;
          const std::int64_t at_x = x_at + i * matrix.x.row + j * matrix.x.column;
          const std::int64_t at_y = y_at + i * matrix.y.row + j * matrix.y.column;
          const auto at = first + static_cast<std::size_t>(i * matrix.columns + j);
          const TermSums terms = is_vectorised
                                     ? sums[static_cast<std::size_t>(l * count + r - begin)]
                                     : sum_pair_terms(x, at_x, y, at_y);
          errors[at] =
              error_of_sum(x, at_x, y, at_y, bound, static_cast<double>(results[at]), terms);
        }
      }
    };
    const std::int64_t pieces = (right_count + kRightRows - 1) / kRightRows;
    share_loop(left_count * right_count * x.length(), pieces, [&](std::int64_t piece) {
      take(piece * kRightRows, std::min(right_count, (piece + 1) * kRightRows));
    });
  }
}

template void product_errors(const FactorRows<float>&, const FactorRows<float>&,
                             const ElementBound&, std::span<const float>, std::span<Error>);
template void product_errors(const FactorRows<double>&, const FactorRows<double>&,
                             const ElementBound&, std::span<const double>, std::span<Error>);
template void product_errors(const FactorRows<Half>&, const FactorRows<Half>&, const ElementBound&,
                             std::span<const Half>, std::span<Error>);
template void product_errors(const FactorRows<BFloat16>&, const FactorRows<BFloat16>&,
                             const ElementBound&, std::span<const BFloat16>, std::span<Error>);

}  // namespace assay::compiler
