// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A nest of loops in any order. The innermost ones are tiles of vectors where there is a sum and an
// operand is contiguous along the last of them (loop_kernels.h); else the innermost two are run
// here, with a row for each way in which the three tensors can lie along it. The others are walked
// by an odometer. Where a summed loop is outside of loops over c, elements of c are met several
// times: the first time they are set, and added to after that.
#include <algorithm>
#include <complex>

#include "base/attend.h"
#include "einsum/kernels/contract_loops.h"
#include "einsum/kernels/loop_kernels.h"
#include "einsum/kernels/loop_nest.h"
#include "einsum/kernels/parallel.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;  // products below which threads cost more than help
// Products between two looks whether they are wanted: some milliseconds.
constexpr std::int64_t kBetweenLooks = 1 << 22;

template <typename T>
struct Scale {
  T alpha, beta;
};

// Puts a sum into c: the first of an element, or a further one. Without kScaled alpha is 1 and beta
// 0.
template <bool kFirst, bool kScaled, typename T>
void put(T& c, const T& value, const Scale<T> scale) {
  if constexpr (!kScaled) {
    if constexpr (kFirst) {
      c = value;
    } else {
      c += value;
    }
  } else if constexpr (!kFirst) {
    c += scale.alpha * value;
  } else {
    c = scale.beta == T(0) ? scale.alpha * value : scale.alpha * value + scale.beta * c;
  }
}

// Σ a[i·sa]·b[i·sb] with eight partial sums, so that additions need not wait for each other.
template <typename T>
T dot_row(std::int64_t n, const T* a, std::int64_t sa, const T* b, std::int64_t sb) {
  T sums[8] = {};
  std::int64_t i = 0;
  if (b == nullptr) {
    for (; i + 8 <= n; i += 8) {
      for (int j = 0; j < 8; ++j) sums[j] += a[(i + j) * sa];
    }
    for (; i < n; ++i) sums[0] += a[i * sa];
  } else if (sa == 1 && sb == 1) {
    for (; i + 8 <= n; i += 8) {
      for (int j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
    }
    for (; i < n; ++i) sums[0] += a[i] * b[i];
  } else {
    for (; i + 8 <= n; i += 8) {
      for (int j = 0; j < 8; ++j) sums[j] += a[(i + j) * sa] * b[(i + j) * sb];
    }
    for (; i < n; ++i) sums[0] += a[i * sa] * b[i * sb];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <typename T>
const T* offset(const T* pointer, std::int64_t by) {
  return pointer == nullptr ? nullptr : pointer + by;
}

// Rows of products, each into its own element of c, `step` apart; value(a, b, i) is product i of a
// row. c overlaps neither operand: rows are often too short to find that out for each of them.
template <bool kScaled, typename T, typename Value>
void product_rows(const Loop& column, std::int64_t n, std::int64_t step, const T* a, const T* b,
                  T* c, bool first, const Scale<T> scale, Value value) {
  const auto row = [&]<bool kFirst>(const T* __restrict x, const T* __restrict y, T* __restrict z) {
    if (step == 1) {
      for (std::int64_t i = 0; i < n; ++i) put<kFirst, kScaled>(z[i], value(x, y, i), scale);
    } else {
      for (std::int64_t i = 0; i < n; ++i) put<kFirst, kScaled>(z[i * step], value(x, y, i), scale);
    }
  };
  for (std::int64_t j = 0; j < column.extent; ++j) {
    const T* const x = a + j * column.a;
    const T* const y = offset(b, j * column.b);
    if (first && (column.c != 0 || j == 0)) {
      row.template operator()<true>(x, y, c + j * column.c);
    } else {
      row.template operator()<false>(x, y, c + j * column.c);
    }
  }
}

// The two innermost loops; `first` is whether no element of c below was met before.
template <bool kScaled, typename T>
void inner_loops(const Loop& column, const Loop& row, const T* a, const T* b, T* c, bool first,
                 const Scale<T> scale) {
  if (row.c != 0) {
    const auto rows = [&](auto value) {
      product_rows<kScaled>(column, row.extent, row.c, a, b, c, first, scale, value);
    };
    const std::int64_t ra = row.a, rb = row.b;
    if (b == nullptr) {
      rows([ra](const T* x, const T*, std::int64_t i) { return x[i * ra]; });
    } else if (ra == 1 && rb == 1) {
      rows([](const T* x, const T* y, std::int64_t i) { return x[i] * y[i]; });
    } else if (ra == 1 && rb == 0) {
      rows([](const T* x, const T* y, std::int64_t i) { return x[i] * y[0]; });
    } else if (ra == 0 && rb == 1) {
      rows([](const T* x, const T* y, std::int64_t i) { return x[0] * y[i]; });
    } else {
      rows([ra, rb](const T* x, const T* y, std::int64_t i) { return x[i * ra] * y[i * rb]; });
    }
    return;
  }
  const auto sum = [&](std::int64_t j) {
    return dot_row(row.extent, a + j * column.a, row.a, offset(b, j * column.b), row.b);
  };
  const auto into = [&](T& to, const T& total) {
    first ? put<true, kScaled>(to, total, scale) : put<false, kScaled>(to, total, scale);
  };
  if (column.c == 0) {  // one element of c
    T total = 0;
    for (std::int64_t j = 0; j < column.extent; ++j) total += sum(j);
    into(*c, total);
    return;
  }
  for (std::int64_t j = 0; j < column.extent; ++j) into(c[j * column.c], sum(j));
}

// All loops, outermost first, by rows that the compiler makes.
template <typename T>
void walk_plain(std::span<const Loop> loops, const T* a, const T* b, T* c, const Scale<T>& scale) {
  const Loop none;
  const Loop& row = loops.empty() ? none : loops.back();
  const Loop& column = loops.size() < 2 ? none : loops[loops.size() - 2];
  const auto outer = loops.first(loops.size() < 2 ? 0 : loops.size() - 2);
  const bool is_plain = scale.alpha == T(1) && scale.beta == T(0);
  const auto inner = [&](const Loop& s, const Loop& r, const T* x, const T* y, T* z, bool first) {
    is_plain ? inner_loops<false>(s, r, x, y, z, first, scale)
             : inner_loops<true>(s, r, x, y, z, first, scale);
  };
  // The longer of the two loops in parts, with a look before each.
  const auto inner_in_parts = [&](Loop s, Loop r, const T* x, const T* y, T* z, bool first) {
    Loop& longer = s.extent > r.extent ? s : r;
    const std::int64_t all = longer.extent;
    const std::int64_t part =
        std::max<std::int64_t>(1, kBetweenLooks / std::min(s.extent, r.extent));
    for (std::int64_t i = 0; i < all && still_wanted(); i += part) {
      longer.extent = std::min(part, all - i);
      inner(s, r, x + i * longer.a, offset(y, i * longer.b), z + i * longer.c,
            first && (longer.c != 0 || i == 0));
    }
  };
  const bool by_squares = is_transposition(loops);
  constexpr std::int64_t kSquare = 64 / sizeof(T);
  const std::int64_t look_every = 1 + kBetweenLooks / (1 + column.extent * row.extent);
  Odometer at(outer);
  at.seek(0);
  for (std::int64_t i = iterations(outer); i > 0; --i, at.next()) {
    if (i % look_every == 0 && !still_wanted()) return;
    const T *const x = a + at.a(), *const y = offset(b, at.b());
    T* const z = c + at.c();
    if (column.extent * row.extent > kBetweenLooks && !by_squares) {
      inner_in_parts(column, row, x, y, z, at.sums_begin());
      continue;
    }
    if (!by_squares) {
      inner(column, row, x, y, z, at.sums_begin());
      continue;
    }
    Loop s = column, r = row;
    for (std::int64_t i0 = 0; i0 < row.extent; i0 += kSquare) {
      r.extent = std::min(kSquare, row.extent - i0);
      for (std::int64_t j0 = 0; j0 < column.extent; j0 += kSquare) {
        s.extent = std::min(kSquare, column.extent - j0);
        inner(s, r, x + i0 * row.a + j0 * column.a, offset(y, i0 * row.b + j0 * column.b),
              z + i0 * row.c + j0 * column.c, at.sums_begin());
      }
    }
  }
}

// The same, the innermost loops by tiles.
template <typename T>
void walk_tiles(std::span<const Loop> loops, const InnerLoops& in, const T* a, const T* b, T* c,
                const Scale<T>& scale) {
  const auto x = in.swapped ? &Loop::b : &Loop::a, y = in.swapped ? &Loop::a : &Loop::b;
  LoopTile<T> tile{.x = nullptr,
                   .y = nullptr,
                   .c = nullptr,
                   .p = in.p.extent,
                   .h = in.h.extent,
                   .k = in.k.extent,
                   .i = in.row.extent,
                   .xp = in.p.*x,
                   .xh = in.h.*x,
                   .xk = in.k.*x,
                   .yp = in.p.*y,
                   .yh = in.h.*y,
                   .yk = in.k.*y,
                   .yi = in.row.*y,
                   .cp = in.p.c,
                   .ci = in.row.c,
                   .alpha = scale.alpha,
                   .beta = scale.beta,
                   .reads = false};
  const Terms together = terms_together(in, sizeof(T));
  const std::int64_t look_every =
      1 + kBetweenLooks / (1 + tile.p * tile.i * together.h * together.k);
  std::int64_t tiles = 0;
  const auto outer = loops.first(in.outer);
  Odometer at(outer);
  at.seek(0);
  for (std::int64_t n = iterations(outer); n > 0; --n, at.next()) {
    const T *const own_a = a + at.a(), *const own_b = offset(b, at.b());
    const T *const own_x = in.swapped ? own_b : own_a, *const own_y = in.swapped ? own_a : own_b;
    tile.c = c + at.c();
    bool first = at.sums_begin();
    for (std::int64_t h = 0; h < in.h.extent; h += together.h) {
      tile.h = std::min(together.h, in.h.extent - h);
      for (std::int64_t k = 0; k < in.k.extent; k += together.k) {
        if (++tiles % look_every == 0 && !still_wanted()) return;
        tile.x = own_x + h * tile.xh + k * tile.xk;
        tile.y = offset(own_y, h * tile.yh + k * tile.yk);
        tile.k = std::min(together.k, in.k.extent - k);
        tile.reads = !first || scale.beta != T(0);
        tile.beta = first ? scale.beta : T(1);
        run_loop_tile(tile);
        first = false;
      }
    }
  }
}

template <typename T>
void walk(std::span<const Loop> loops, const T* a, const T* b, T* c, const Scale<T>& scale) {
  if constexpr (std::is_floating_point_v<T>) {
    const InnerLoops in = inner_loops_of(loops, b != nullptr);
    if (in.tiled) {
      walk_tiles(loops, in, a, b, c, scale);
      return;
    }
  }
  walk_plain(loops, a, b, c, scale);
}

}  // namespace

template <typename T>
void contract_loops(std::span<const Loop> loops, const T* a, const T* b, T* c, T alpha, T beta,
                    int threads) {
  const Scale<T> scale{alpha, beta};
  // Threads share the outermost loop over c that is long enough, so that no two write an element.
  const auto shared = std::ranges::find_if(
      loops, [threads](const Loop& loop) { return loop.c != 0 && loop.extent >= threads; });
  if (threads < 2 || shared == loops.end() || iterations(loops) < kWorthThreads) {
    walk(loops, a, b, c, scale);
    return;
  }
  const auto which = static_cast<std::size_t>(shared - loops.begin());
  parallel_parts(threads, shared->extent, [&](std::int64_t begin, std::int64_t end) {
    std::array<Loop, kMaxLabels> own;
    std::ranges::copy(loops, own.begin());
    own[which].extent = end - begin;
    const Loop& part = loops[which];
    walk(std::span<const Loop>(own.data(), loops.size()), a + begin * part.a,
         offset(b, begin * part.b), c + begin * part.c, scale);
  });
}

#define ASSAY_INSTANTIATE(T) \
  template void contract_loops<T>(std::span<const Loop>, const T*, const T*, T*, T, T, int);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
