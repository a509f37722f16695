// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Sparse combinations of columns. See vector_pack.h.
#include "transport/vector_pack.h"

namespace assay::transport {
namespace ASSAY_INSTRUCTION_SET {
namespace {

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

}  // namespace

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

template void combine(int, const double*, const TermsView<double>&, bool, double*, double*);
template void combine(int, const float*, const TermsView<float>&, bool, float*, float*);

}  // namespace ASSAY_INSTRUCTION_SET
}  // namespace assay::transport
