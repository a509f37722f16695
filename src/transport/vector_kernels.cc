// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Compiled several times, with ASSAY_INSTRUCTION_SET naming the namespace and flags to match. Only
// plain loops of its own: an inline function of the standard library, compiled here for a newer
// processor, could be the copy that the linker keeps for everyone.
#include "transport/vector_kernels.h"

namespace assay::transport {
namespace ASSAY_INSTRUCTION_SET {
namespace {

// 64 bytes of elements, wherever they lie: one AVX-512 register, or as many smaller ones. Sums are
// of the second type: of the first, which may alias anything, they would be kept in memory.
template <typename T>
struct Pack;
template <>
struct Pack<double> {
  typedef double Type __attribute__((vector_size(64), aligned(8), may_alias));
  typedef double Register __attribute__((vector_size(64)));
};
template <>
struct Pack<float> {
  typedef float Type __attribute__((vector_size(64), aligned(4), may_alias));
  typedef float Register __attribute__((vector_size(64)));
};
template <typename T>
constexpr int kLanes = 64 / sizeof(T);

// Outputs whose sums are in registers at a time: with two packs each, twelve of AVX-512's
// thirty-two registers; half as many packs fit where a pack takes several registers.
#if defined(__AVX512F__)
constexpr int kTile = 6;
#else
constexpr int kTile = 2;
#endif

// Rows of a panel, in elements.
template <typename T>
constexpr int kHeight = kPanelBytes / sizeof(T);

// result[output] += Σ weight·panel[source] for kOutputs outputs of a block and two packs of rows.
template <typename T, int kOutputs>
void combine_tile(const TermBlock& block, const T* panel, const std::int32_t* source,
                  const std::int32_t* output, const T* weight, T* result) {
  using P = typename Pack<T>::Type;
  constexpr int lanes = kLanes<T>;
  typename Pack<T>::Register low[kOutputs], high[kOutputs];
  for (int o = 0; o < kOutputs; ++o) {
    low[o] = high[o] = typename Pack<T>::Register{};
    if (!block.starts) {
      low[o] = *reinterpret_cast<const P*>(result + output[o] * kHeight<T>);
      high[o] = *reinterpret_cast<const P*>(result + output[o] * kHeight<T> + lanes);
    }
  }
  for (int s = 0; s < block.sources; ++s) {
    const P x = *reinterpret_cast<const P*>(panel + source[s] * kHeight<T>);
    const P y = *reinterpret_cast<const P*>(panel + source[s] * kHeight<T> + lanes);
    for (int o = 0; o < kOutputs; ++o) {
      low[o] += weight[o] * x;
      high[o] += weight[o] * y;
    }
    weight += block.outputs;
  }
  for (int o = 0; o < kOutputs; ++o) {
    *reinterpret_cast<P*>(result + output[o] * kHeight<T>) = low[o];
    *reinterpret_cast<P*>(result + output[o] * kHeight<T> + lanes) = high[o];
  }
}

template <typename T>
void combine_block(const TermBlock& block, const T* panel, const std::int32_t* source,
                   const std::int32_t* output, const T* weight, T* result) {
  int o = 0;
  for (; o + kTile <= block.outputs; o += kTile) {
    combine_tile<T, kTile>(block, panel, source, output + o, weight + o, result);
  }
  if constexpr (kTile == 6) {
    switch (block.outputs - o) {
      case 5:
        return combine_tile<T, 5>(block, panel, source, output + o, weight + o, result);
      case 4:
        return combine_tile<T, 4>(block, panel, source, output + o, weight + o, result);
      case 3:
        return combine_tile<T, 3>(block, panel, source, output + o, weight + o, result);
      case 2:
        return combine_tile<T, 2>(block, panel, source, output + o, weight + o, result);
      default:
        break;
    }
  }
  if (o < block.outputs) combine_tile<T, 1>(block, panel, source, output + o, weight + o, result);
}

// A panel of rows at a time, first copied to where it is aligned and dense: in place, the rows of a
// panel lie a whole column apart, nearly every load would straddle two cache lines, and each column
// would need an address translation of its own. The sums of the panel are made beside it, as dense,
// and then written to their columns, or, turned over, to their rows. Fewer rows than a panel are
// filled up with zeros.
template <typename T>
void combine(int rows, const T* in, const TermsView<T>& terms, bool transposed, T* panel, T* out) {
  constexpr int height = kHeight<T>;
  const std::int64_t stride = rows, outputs = terms.outputs;
  T* result = panel + static_cast<std::int64_t>(terms.inputs) * height;
  for (std::int64_t at = 0; at < rows; at += height) {
    const int here = rows - at < height ? static_cast<int>(rows - at) : height;
    for (std::int64_t c = 0; c < terms.inputs; ++c) {
      const T* x = in + at + c * stride;
      T* packed = panel + c * height;
      if (here == height) {
        for (int i = 0; i < height; ++i) packed[i] = x[i];
      } else {
        for (int i = 0; i < height; ++i) packed[i] = i < here ? x[i] : T{0};
      }
    }
    for (std::int64_t b = 0; b < terms.block_count; ++b) {
      const TermBlock& block = terms.blocks[b];
      for (int part = 0; part < height; part += 2 * kLanes<T>) {
        combine_block(block, panel + part, terms.source + block.first_source,
                      terms.output + block.first_output, terms.weight + block.first_weight,
                      result + part);
      }
    }
    if (transposed) {
      for (std::int64_t c = 0; c < outputs; c += kLanes<T>) {  // a cache line of each row at a time
        const std::int64_t end = c + kLanes<T> < outputs ? c + kLanes<T> : outputs;
        for (int i = 0; i < here; ++i) {
          T* y = out + (at + i) * outputs;
          for (std::int64_t l = c; l < end; ++l) y[l] = result[l * height + i];
        }
      }
    } else {
      for (std::int64_t c = 0; c < outputs; ++c) {
        T* y = out + at + c * stride;
        for (int i = 0; i < here; ++i) y[i] = result[c * height + i];
      }
    }
  }
}

template <typename T>
void swap(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}

template <typename T>
void invert_leaf(T* a) {
  using P = typename Pack<T>::Type;
  constexpr int packs = kLeaf / kLanes<T>;
  int pivot_row[kLeaf];
  for (int p = 0; p < kLeaf; ++p) {
    T* pivot_column = a + p * kLeaf;
    int best = p;
    for (int r = p + 1; r < kLeaf; ++r) {
      if (__builtin_fabs(pivot_column[r]) > __builtin_fabs(pivot_column[best])) best = r;
    }
    pivot_row[p] = best;
    if (best != p) {
      for (int c = 0; c < kLeaf; ++c) swap(a[c * kLeaf + p], a[c * kLeaf + best]);
    }
    const T d = 1 / pivot_column[p];
    pivot_column[p] = 0;  // so that the update below leaves the pivot row and column alone
    P column[packs];
    for (int q = 0; q < packs; ++q) {
      column[q] = *reinterpret_cast<const P*>(pivot_column + q * kLanes<T>);
    }
    for (int c = 0; c < kLeaf; ++c) {
      T* x = a + c * kLeaf;
      const T factor = x[p] * d;
      for (int q = 0; q < packs; ++q) {
        *reinterpret_cast<P*>(x + q * kLanes<T>) -= factor * column[q];
      }
      x[p] = factor;
    }
    for (int q = 0; q < packs; ++q) {
      *reinterpret_cast<P*>(pivot_column + q * kLanes<T>) = -d * column[q];
    }
    pivot_column[p] = d;
  }
  // Rows were exchanged before, so columns are exchanged back after.
  for (int p = kLeaf - 1; p >= 0; --p) {
    if (pivot_row[p] == p) continue;
    for (int r = 0; r < kLeaf; ++r) swap(a[p * kLeaf + r], a[pivot_row[p] * kLeaf + r]);
  }
}

}  // namespace

const VectorKernels<double> kDouble = {combine<double>, invert_leaf<double>};
const VectorKernels<float> kFloat = {combine<float>, invert_leaf<float>};

}  // namespace ASSAY_INSTRUCTION_SET
}  // namespace assay::transport
