// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/strided.h"

#include <complex>

#include "einsum/kernels/parallel.h"
#include "kernels/tiles/transpose_kernels.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kTile = 32;   // of a transposition: 32 lines of either side in L1
constexpr std::int64_t kBlock = 64;  // rows and columns of a block of tiles
constexpr std::int64_t kWorthThreads = 1 << 15;  // elements below which threads cost more than help

template <typename T>
T blended(T value, T alpha, T beta, const T& old) {
  return beta == T(0) ? alpha * value : alpha * value + beta * old;
}

// One row: c[i·sc] from a[i·sa].
template <typename T>
void copy_row(std::int64_t n, const T* a, std::int64_t sa, T* c, std::int64_t sc, T alpha, T beta) {
  if (alpha == T(1) && beta == T(0)) {
    if (sa == 1 && sc == 1) {
      std::copy_n(a, n, c);
    } else {
      for (std::int64_t i = 0; i < n; ++i) c[i * sc] = a[i * sa];
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) c[i * sc] = blended(a[i * sa], alpha, beta, c[i * sc]);
}

// Elements that are moved as one: complex<float> moves as double does.
template <typename T>
struct Moved {
  using Type = T;
};
template <typename R>
struct Moved<std::complex<R>> {
  using Type = double;
};
template <typename T>
using Mover = kernels::TransposeKernel<typename Moved<T>::Type>;

// What moves whole planes of rows × columns; null where they are not only moved.
template <typename T>
Mover<T>* mover_of(const Loop& rows, const Loop& columns, T alpha, T beta) {
  const bool moves = alpha == T(1) && beta == T(0) && rows.a == 1 && columns.c == 1;
  return moves && rows.extent > 1 && sizeof(T) <= 8
             ? kernels::transpose_kernel(typename Moved<T>::Type{})
             : nullptr;
}

// Planes that follow each other along a loop, moved.
template <typename T>
void move_planes(Mover<T>* mover, std::int64_t count, const Loop& along, const Loop& rows,
                 const Loop& columns, const T* a, T* c) {
  using U = typename Moved<T>::Type;
  mover(count, rows.extent, columns.extent, {reinterpret_cast<const U*>(a), columns.a, along.a},
        {reinterpret_cast<U*>(c), rows.c, along.c});
}

// c[i·ci + j·cj] from a[i·ai + j·aj], tile by tile.
template <typename T>
void transpose_plane(const Loop& rows, const Loop& columns, const T* a, T* c, T alpha, T beta,
                     Mover<T>* mover) {
  if (mover != nullptr) return move_planes(mover, 1, Loop{}, rows, columns, a, c);
  for (std::int64_t i0 = 0; i0 < rows.extent; i0 += kTile) {
    const std::int64_t i1 = std::min(i0 + kTile, rows.extent);
    for (std::int64_t j0 = 0; j0 < columns.extent; j0 += kTile) {
      const std::int64_t n = std::min(kTile, columns.extent - j0);
      for (std::int64_t i = i0; i < i1; ++i) {
        copy_row(n, a + i * rows.a + j0 * columns.a, columns.a, c + i * rows.c + j0 * columns.c,
                 columns.c, alpha, beta);
      }
    }
  }
}

// How a permutation is walked: planes of rows × columns, columns along c, rows along a.
struct Planes {
  std::vector<Loop> outer;
  Loop rows, columns;
};

Planes planes_of(std::span<const Loop> loops) {
  Planes p;
  p.outer = fused_loops({loops.begin(), loops.end()});
  if (p.outer.empty()) return p;
  p.columns = p.outer.back();
  p.outer.pop_back();
  if (std::abs(p.columns.a) == 1 || p.outer.empty()) return p;
  const auto closest =
      std::ranges::min_element(p.outer, {}, [](const Loop& l) { return std::abs(l.a); });
  if (std::abs(closest->a) < std::abs(p.columns.a)) {
    p.rows = *closest;
    p.outer.erase(closest);
  }
  return p;
}

}  // namespace

Work permute_work(std::span<const Loop> loops, std::size_t element_size) {
  const Planes p = planes_of(loops);
  const auto size = static_cast<double>(element_size);
  constexpr double kLine = 64;
  // Bytes of lines for each element of a run; half a line more for runs that start anywhere.
  const auto moved = [&](const Loop& run, bool contiguous) {
    if (!contiguous) return kLine;
    const double bytes = size * static_cast<double>(run.extent);
    return size * (bytes + kLine / 2) / bytes;
  };
  const bool copies_rows = std::abs(p.columns.a) == 1;
  const double read = copies_rows ? moved(p.columns, true) : moved(p.rows, std::abs(p.rows.a) == 1);
  const double written = moved(p.columns, std::abs(p.columns.c) == 1);
  const auto planes = static_cast<double>(iterations(p.outer));
  const auto elements = planes * static_cast<double>(p.rows.extent * p.columns.extent);
  // Runs of either side and how far apart they begin: whole rows, or those of a block.
  const auto far = [&](std::int64_t run, std::int64_t distance) {
    return jumps(elements, static_cast<double>(run), static_cast<double>(distance), size);
  };
  const auto run_of = [](const Loop& along, std::int64_t stride) {
    return std::abs(stride) == 1 ? std::min(along.extent, kBlock) : 1;
  };
  const Loop next = p.outer.empty() ? Loop{} : p.outer.back();
  const double jumped = copies_rows ? far(p.columns.extent, next.a) + far(p.columns.extent, next.c)
                                    : far(run_of(p.rows, p.rows.a), p.columns.a) +
                                          far(run_of(p.columns, p.columns.c), p.rows.c);
  return {.calls = planes, .bytes = elements * (read + written), .jumps = jumped};
}

template <typename T>
void permute(std::span<const Loop> loops, const T* a, T* c, T alpha, T beta, int threads) {
  const Planes p = planes_of(loops);
  const auto& [fused, rows, columns] = p;
  const std::int64_t elements = iterations(fused) * rows.extent * columns.extent;
  if (elements == 1) {
    *c = blended(*a, alpha, beta, *c);
    return;
  }
  const int used = elements < kWorthThreads ? 1 : threads;
  const auto mover = mover_of(rows, columns, alpha, beta);
  // With nothing else to share among threads, they share the rows or the columns.
  if (fused.empty() && used > 1) {
    const bool by_rows = rows.extent > 1;
    parallel_parts(
        used, by_rows ? rows.extent : columns.extent, [&](std::int64_t begin, std::int64_t end) {
          Loop r = rows, k = columns;
          (by_rows ? r : k).extent = end - begin;
          const Loop& part = by_rows ? rows : columns;
          transpose_plane(r, k, a + begin * part.a, c + begin * part.c, alpha, beta, mover);
        });
    return;
  }
  parallel_parts(used, iterations(fused), [&](std::int64_t begin, std::int64_t end) {
    Odometer at(fused);
    at.seek(begin);
    if (mover != nullptr) {
      const Loop along = fused.empty() ? Loop{} : fused.back();
      for (std::int64_t i = begin, count = 0; i < end; i += count) {
        at.seek(i);
        count = std::min(end - i, along.extent - i % along.extent);
        move_planes(mover, count, along, rows, columns, a + at.a(), c + at.c());
      }
      return;
    }
    for (std::int64_t i = begin; i < end; ++i, at.next()) {
      if (rows.extent == 1) {
        copy_row(columns.extent, a + at.a(), columns.a, c + at.c(), columns.c, alpha, beta);
      } else {
        transpose_plane(rows, columns, a + at.a(), c + at.c(), alpha, beta, mover);
      }
    }
  });
}

#define ASSAY_INSTANTIATE(T) \
  template void permute<T>(std::span<const Loop>, const T*, T*, T, T, int);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
