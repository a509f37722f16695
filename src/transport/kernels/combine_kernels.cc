// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Sparse combinations of columns. See vector_pack-inl.h.
#include "transport/kernels/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport/kernels/combine_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "transport/kernels/vector_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::transport {
namespace HWY_NAMESPACE {
namespace {

// The numbers of elements in a row of eight.
template <typename T>
struct EightIndices;
template <>
struct EightIndices<double> {
  typedef std::int64_t Type __attribute__((vector_size(64)));
};
template <>
struct EightIndices<float> {
  typedef std::int32_t Type __attribute__((vector_size(32)));
};

// Outputs whose sums are in registers at a time, and packs of each: 24 of 32 registers, or 12
// of 16.
constexpr int kTile = ASSAY_MANY_REGISTERS ? 6 : 3, kTilePacks = 4;

// Rows of a panel, in elements.
template <typename T>
constexpr int kHeight = kPanelBytes / sizeof(T);

// Matrices that are larger than this in all are asked for ahead; others are near enough.
constexpr std::int64_t kFarBytes = 1 << 19;

// result[output] += Σ weight·panel[source] for kOutputs outputs of a block and kPacks packs of
// rows.
template <typename T, int kPacks, int kOutputs>
void combine_tile(const TermBlock& block, const T* panel, const std::int32_t* source,
                  const std::int32_t* output, const T* weight, T* result) {
  constexpr int lanes = kLanes<T>;
  typename Pack<T>::Register sum[kOutputs][kPacks];
  if (block.starts) {
    UNROLLED for (int o = 0; o < kOutputs; ++o) {
      UNROLLED for (int q = 0; q < kPacks; ++q) sum[o][q] = typename Pack<T>::Register{};
    }
  } else {
    UNROLLED for (int o = 0; o < kOutputs; ++o) {
      const T* y = result + output[o] * kHeight<T>;
      UNROLLED for (int q = 0; q < kPacks; ++q) sum[o][q] = load(y + q * lanes);
    }
  }
  for (int s = 0; s < block.sources; ++s) {
    const T* at = panel + source[s] * kHeight<T>;
    typename Pack<T>::Register x[kPacks];
    UNROLLED for (int q = 0; q < kPacks; ++q) x[q] = load(at + q * lanes);
    UNROLLED for (int o = 0; o < kOutputs; ++o) {
      UNROLLED for (int q = 0; q < kPacks; ++q) sum[o][q] += weight[o] * x[q];
    }
    weight += block.outputs;
  }
  UNROLLED for (int o = 0; o < kOutputs; ++o) {
    T* y = result + output[o] * kHeight<T>;
    UNROLLED for (int q = 0; q < kPacks; ++q) store(y + q * lanes, sum[o][q]);
  }
}

// All outputs of a block, in tiles of nearly equal size: a tile of one would wait for its own sums.
// `packs` is how many packs are wanted; no more than kPacks are made.
template <typename T, int kPacks>
void combine_outputs(int packs, const TermBlock& block, const T* panel, const std::int32_t* source,
                     const std::int32_t* output, const T* weight, T* result) {
  if constexpr (kPacks > 1) {
    if (packs < kPacks) {
      return combine_outputs<T, kPacks - 1>(packs, block, panel, source, output, weight, result);
    }
  }
  const int tiles = (block.outputs + kTile - 1) / kTile;
  for (int tile = 0, o = 0; tile < tiles; ++tile) {
    const int count = (block.outputs - o + tiles - tile - 1) / (tiles - tile);
    switch (count) {
#if ASSAY_MANY_REGISTERS
      case 6:
        combine_tile<T, kPacks, 6>(block, panel, source, output + o, weight + o, result);
        break;
      case 5:
        combine_tile<T, kPacks, 5>(block, panel, source, output + o, weight + o, result);
        break;
      case 4:
        combine_tile<T, kPacks, 4>(block, panel, source, output + o, weight + o, result);
        break;
#endif
      case 3:
        combine_tile<T, kPacks, 3>(block, panel, source, output + o, weight + o, result);
        break;
      case 2:
        combine_tile<T, kPacks, 2>(block, panel, source, output + o, weight + o, result);
        break;
      default:
        combine_tile<T, kPacks, 1>(block, panel, source, output + o, weight + o, result);
        break;
    }
    o += count;
  }
}

// Eight columns of eight elements, kHeight apart, written as eight rows, `stride` apart.
template <typename T>
void turn_over(const T* in, T* out, std::int64_t stride) {
#if ASSAY_PACK_BYTES == 64
  typedef T Row __attribute__((vector_size(8 * sizeof(T))));
  typedef T Anywhere __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));
  using Index = typename EightIndices<T>::Type;
  Row x[8], y[8];
  for (int c = 0; c < 8; ++c) x[c] = *reinterpret_cast<const Anywhere*>(in + c * kHeight<T>);
  for (int c = 0; c < 8; c += 2) {  // pairs of 1
    y[c] = __builtin_shuffle(x[c], x[c + 1], Index{0, 8, 2, 10, 4, 12, 6, 14});
    y[c + 1] = __builtin_shuffle(x[c], x[c + 1], Index{1, 9, 3, 11, 5, 13, 7, 15});
  }
  for (int c = 0; c < 8; c += 4) {  // pairs of 2
    for (int i = 0; i < 2; ++i) {
      x[c + i] = __builtin_shuffle(y[c + i], y[c + i + 2], Index{0, 1, 8, 9, 4, 5, 12, 13});
      x[c + i + 2] = __builtin_shuffle(y[c + i], y[c + i + 2], Index{2, 3, 10, 11, 6, 7, 14, 15});
    }
  }
  for (int i = 0; i < 4; ++i) {  // pairs of 4
    auto* low = reinterpret_cast<Anywhere*>(out + i * stride);
    auto* high = reinterpret_cast<Anywhere*>(out + (i + 4) * stride);
    *low = __builtin_shuffle(x[i], x[i + 4], Index{0, 1, 2, 3, 8, 9, 10, 11});
    *high = __builtin_shuffle(x[i], x[i + 4], Index{4, 5, 6, 7, 12, 13, 14, 15});
  }
#else
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < 8; ++c) out[i * stride + c] = in[c * kHeight<T> + i];
  }
#endif
}

// `here` rows of each of the columns, kHeight apart, written as rows of `columns`.
template <typename T>
void write_rows(const T* result, int here, std::int64_t columns, T* out) {
  int i = 0;
  for (; i + 8 <= here; i += 8) {
    std::int64_t c = 0;
    for (; c + 8 <= columns; c += 8) {
      turn_over(result + c * kHeight<T> + i, out + i * columns + c, columns);
    }
    for (; c < columns; ++c) {
      for (int l = i; l < i + 8; ++l) out[l * columns + c] = result[c * kHeight<T> + l];
    }
  }
  for (; i < here; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) out[i * columns + c] = result[c * kHeight<T> + i];
  }
}

// Asks for the share of step `step` of `steps` in some lines of memory, of `length` elements each
// (of which no more than a panel's height unless they are whole rows) and `stride` apart.
template <typename T>
void ask_ahead(std::int64_t step, std::int64_t steps, std::int64_t lines, std::int64_t length,
               const T* memory, std::int64_t stride) {
  if (stride != length && length > kHeight<T>) length = kHeight<T>;
  const std::int64_t end = (step + 1) * lines / steps;
  for (std::int64_t l = step * lines / steps; l < end; ++l) {
    for (std::int64_t i = 0; i < length; i += kLanes<T>) {
      __builtin_prefetch(memory + l * stride + i, 0, 2);
    }
  }
}

template <typename T>
void copy(const T* from, int count, T* to) {
  int i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) store(to + i, load(from + i));
  for (; i < count; ++i) to[i] = from[i];
}

// A panel of rows at a time, first copied to where it is aligned and dense: in place, the rows of a
// panel lie a whole column apart, nearly every load would straddle two cache lines, and each column
// would need an address translation of its own. The sums of the panel are made beside it, as dense,
// and then written to their columns, or, turned over, to their rows. The last panel begins earlier
// than the one before it ends if that makes its packs whole; where there is none before it, the
// last pack is filled up with zeros. Meanwhile the next panel is asked for: its columns are too far
// apart for the processor to guess.
template <typename T>
void combine(int rows, const T* in, const TermsView<T>& terms, bool transposed, T* panel, T* out) {
  constexpr int lanes = kLanes<T>;
  const std::int64_t stride = rows, outputs = terms.outputs;
  constexpr int height = kHeight<T>;
  const bool far = stride * (terms.inputs + outputs) * std::int64_t{sizeof(T)} > kFarBytes;
  T* result = panel + static_cast<std::int64_t>(terms.inputs) * height;
  for (std::int64_t begin = 0; begin < rows; begin += height) {
    const int left = rows - begin < height ? static_cast<int>(rows - begin) : height;
    const int packs = (left + lanes - 1) / lanes;
    const int here = begin + left < packs * lanes ? left : packs * lanes;
    const std::int64_t at = begin + left - here;
    for (std::int64_t c = 0; c < terms.inputs; ++c) {
      T* packed = panel + c * height;
      if (here < packs * lanes) store(packed + (packs - 1) * lanes, typename Pack<T>::Register{});
      copy(in + at + c * stride, here, packed);
    }
    for (std::int64_t b = 0; b < terms.block_count; ++b) {
      const TermBlock& block = terms.blocks[b];
      if (far) {
        ask_ahead(b, terms.block_count, terms.inputs, rows - begin - height, in + begin + height,
                  stride);
        if (transposed) {
          ask_ahead(b, terms.block_count, here, outputs, out + at * outputs, outputs);
        } else {
          ask_ahead(b, terms.block_count, outputs, here, out + at, stride);
        }
      }
      for (int q = 0; q < packs; q += kTilePacks) {
        combine_outputs<T, kTilePacks>(packs - q, block, panel + q * lanes,
                                       terms.source + block.first_source,
                                       terms.output + block.first_output,
                                       terms.weight + block.first_weight, result + q * lanes);
      }
    }
    if (transposed) {
      write_rows(result, here, outputs, out + at * outputs);
      continue;
    }
    for (std::int64_t c = 0; c < outputs; ++c) {
      copy(result + c * height, here, out + at + c * stride);
    }
  }
}

CombineKernel<float>* combine_f32() { return combine<float>; }
CombineKernel<double>* combine_f64() { return combine<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::transport
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::transport {

HWY_EXPORT(combine_f32);
HWY_EXPORT(combine_f64);

CombineKernel<float>* combine_kernel(float) { return HWY_DYNAMIC_DISPATCH(combine_f32)(); }
CombineKernel<double>* combine_kernel(double) { return HWY_DYNAMIC_DISPATCH(combine_f64)(); }

}  // namespace assay::transport
#endif
