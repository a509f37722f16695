// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>

#include <algorithm>

#include "kernels/bf16/native_units.h"

namespace assay::kernels {
namespace {

// bfmmla: two rows by two columns, four elements of each. 24 sums (8 rows by 12 columns), six
// vectors of columns and one of rows fill 31 registers.
template <int kWide>
__attribute__((target("arch=armv8.2-a+bf16"))) void neon_tile(const PairTile& t) {
  constexpr int kRowPairs = neon_layout().rows / 2, kColumnPairs = 2 * kWide;
  constexpr std::int64_t kStep = 2, kLine = 16;  // in terms; those of a row in a cache line
  float32x4_t sums[kRowPairs * kColumnPairs];
#pragma GCC unroll 48
  for (auto& sum : sums) sum = vdupq_n_f32(0);
  const auto* a = reinterpret_cast<const bfloat16_t*>(t.panel);
  const auto* b = reinterpret_cast<const bfloat16_t*>(t.x);
  for (std::int64_t begin = 0; begin < t.terms; begin += kLine) {
    for (std::int64_t r = 0; r < t.ahead_rows; ++r)
      __builtin_prefetch(t.ahead + r * t.ahead_stride + begin * 4, 0, 2);
    const std::int64_t end = std::min(begin + kLine, t.terms);
    for (std::int64_t l = begin; l < end; l += kStep) {
      bfloat16x8_t right[kColumnPairs];
#pragma GCC unroll 8
      for (int j = 0; j < kColumnPairs; ++j) right[j] = vld1q_bf16(b + 8 * j);
#pragma GCC unroll 8
      for (int i = 0; i < kRowPairs; ++i) {
        const bfloat16x8_t left = vld1q_bf16(a + 8 * i);
#pragma GCC unroll 8
        for (int j = 0; j < kColumnPairs; ++j)
          sums[i * kColumnPairs + j] = vbfmmlaq_f32(sums[i * kColumnPairs + j], left, right[j]);
      }
      a += 8 * kRowPairs;
      b += 8 * kColumnPairs;
    }
  }
  // Of two rows and two columns each: two sums make four of one row.
#pragma GCC unroll 8
  for (int i = 0; i < kRowPairs; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) {
      const float32x4_t x = sums[i * kColumnPairs + 2 * v], y = sums[i * kColumnPairs + 2 * v + 1];
      const float32x4_t rows[2] = {vcombine_f32(vget_low_f32(x), vget_low_f32(y)),
                                   vcombine_f32(vget_high_f32(x), vget_high_f32(y))};
#pragma GCC unroll 2
      for (int r = 0; r < 2; ++r) {
        float* to = t.sums + (2 * i + r) * t.sums_stride + 4 * v;
        vst1q_f32(to, t.accumulate ? vaddq_f32(vld1q_f32(to), rows[r]) : rows[r]);
      }
    }
  }
}

}  // namespace

const PairUnit& neon_unit() {
  static constexpr PairUnit kUnit = [] {
    PairUnit unit = neon_layout();
    unit.name = "neon-bf16";
    unit.tile = {neon_tile<1>, neon_tile<2>, neon_tile<3>};
    return unit;
  }();
  return kUnit;
}

std::string why_no_neon() {
  constexpr unsigned long kHasBf16 = 1UL << 14;  // HWCAP2_BF16
  return (getauxval(AT_HWCAP2) & kHasBf16) != 0 ? "" : "the processor has no BF16 in NEON";
}

}  // namespace assay::kernels
#endif
