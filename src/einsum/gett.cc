// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/gett.h"

#include <complex>

#include "einsum/parallel.h"

namespace assay::einsum {
namespace {

// Blocks of A (kM × kK) stay in the second-level cache; a block of B is packed once for all of
// them.
constexpr std::int64_t kM = 256, kN = 1024, kK = 384;

std::int64_t up_to(double size, std::int64_t block) {
  return static_cast<std::int64_t>(std::min(size, static_cast<double>(block)));
}

// Where each index of a group lies, in one tensor.
std::vector<std::int64_t> index_map(const std::vector<Loop>& loops, std::int64_t Loop::*stride) {
  std::vector<std::int64_t> map{0};
  for (const auto& loop : loops) {
    std::vector<std::int64_t> next;
    next.reserve(map.size() * static_cast<std::size_t>(loop.extent));
    for (const std::int64_t at : map) {
      for (std::int64_t i = 0; i < loop.extent; ++i) next.push_back(at + i * (loop.*stride));
    }
    map = std::move(next);
  }
  return map;
}

// A part of an index map.
struct Map {
  const std::int64_t* at;
  std::int64_t count;
  bool contiguous() const { return count > 1 && at[1] - at[0] == 1; }
};
Map part(const std::vector<std::int64_t>& map, std::int64_t begin, std::int64_t block) {
  return {map.data() + begin,
          std::min<std::int64_t>(block, static_cast<std::int64_t>(map.size()) - begin)};
}

// Packs rows × columns row-major, or column-major where the source's columns are contiguous.
template <typename T>
Op pack(const T* from, Map rows, Map columns, T* to) {
  const bool transposed = rows.contiguous() && !columns.contiguous();
  if (transposed) std::swap(rows, columns);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const T* row = from + rows.at[i];
    T* target = to + i * columns.count;
    for (std::int64_t j = 0; j < columns.count; ++j) target[j] = row[columns.at[j]];
  }
  return transposed ? Op::kTranspose : Op::kNone;
}

template <typename T>
void unpack(const T* from, Map rows, Map columns, T* to, T beta) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    T* row = to + rows.at[i];
    const T* source = from + i * columns.count;
    if (beta == T(0)) {
      for (std::int64_t j = 0; j < columns.count; ++j) row[columns.at[j]] = source[j];
    } else if (beta == T(1)) {
      for (std::int64_t j = 0; j < columns.count; ++j) row[columns.at[j]] += source[j];
    } else {
      for (std::int64_t j = 0; j < columns.count; ++j) {
        row[columns.at[j]] = beta * row[columns.at[j]] + source[j];
      }
    }
  }
}

}  // namespace

double gett_workspace(const PairSize& size, int threads) {
  const auto m = up_to(size.m, kM), n = up_to(size.n, kN), k = up_to(size.k, kK);
  return static_cast<double>(k * n + threads * (m * k + m * n));
}

template <typename T>
void contract_gett(const GettForm& form, const T* a, const T* b, T* c, T alpha, T beta, int threads,
                   T* workspace) {
  const auto m_a = index_map(form.m, &Loop::a), m_c = index_map(form.m, &Loop::c);
  const auto n_b = index_map(form.n, &Loop::b), n_c = index_map(form.n, &Loop::c);
  const auto k_a = index_map(form.k, &Loop::a), k_b = index_map(form.k, &Loop::b);
  const auto m = static_cast<std::int64_t>(m_a.size()), n = static_cast<std::int64_t>(n_b.size()),
             k = static_cast<std::int64_t>(k_a.size());
  const auto mb = std::min(m, kM), nb = std::min(n, kN), kb = std::min(k, kK);
  T* const packed_b = workspace;
  T* const own = workspace + kb * nb;
  Odometer batch(form.batch);
  batch.seek(0);
  for (std::int64_t i = 0; i < iterations(form.batch); ++i, batch.next()) {
    for (std::int64_t n0 = 0; n0 < n; n0 += kN) {
      for (std::int64_t k0 = 0; k0 < k; k0 += kK) {
        const Map columns = part(n_b, n0, kN), to_columns = part(n_c, n0, kN);
        const Map ka = part(k_a, k0, kK), kb_map = part(k_b, k0, kK);
        const Op op_b = pack(b + batch.b(), kb_map, columns, packed_b);
        const T keep = k0 == 0 ? beta : T(1);
        const std::int64_t blocks = (m + kM - 1) / kM;
        const auto width = static_cast<int>(columns.count), depth = static_cast<int>(ka.count);
        const std::int64_t shares = std::min<std::int64_t>(threads, blocks);
        parallel_parts(static_cast<int>(shares), shares, [&](std::int64_t s, std::int64_t) {
          T* const packed_a = own + s * (mb * kb + mb * nb);
          T* const product = packed_a + mb * kb;
          for (std::int64_t block = s; block < blocks; block += shares) {
            const Map rows = part(m_a, block * kM, kM), to_rows = part(m_c, block * kM, kM);
            const Op op_a = pack(a + batch.a(), rows, ka, packed_a);
            const auto height = static_cast<int>(rows.count);
            gemm<T>(op_a, op_b, height, width, depth, alpha, packed_a,
                    op_a == Op::kNone ? depth : height, packed_b, op_b == Op::kNone ? width : depth,
                    T(0), product, width);
            unpack(product, to_rows, to_columns, c + batch.c(), keep);
          }
        });
      }
    }
  }
}

#define ASSAY_INSTANTIATE(T) \
  template void contract_gett<T>(const GettForm&, const T*, const T*, T*, T, T, int, T*);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
