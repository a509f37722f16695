// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/attention_text.h"

namespace assay::compiler::cuda {

// Scores and sums by tensor cores; a warp takes sixteen queries. Values come while scores are
// computed, the next keys while sums are. Which keys are seen is looked at only in the tiles on the
// border, and a warp leaves out tiles of which it sees nothing.
//
// A weight is two bf16 or f16 numbers, the second what the first leaves: one would lose more than
// everything else that is rounded in f32.
std::string_view attention_tiles_text() {
  return R"cuda(
template <int kWidth>
struct ManyResult { float sums[kWidth / 8][4]; float whole[2]; };
template <typename T>
DEVICE u32 two(const T* from) { return from[0].bits | (u32)from[1].bits << 16; }
#ifdef ASSAY_ON_HOST
DEVICE float power_of_two(float x) { return exp2f(x); }
DEVICE u32 two_of(float a, float b, bf16) { return bf16_bits(a) | (u32)bf16_bits(b) << 16; }
DEVICE u32 two_of(float a, float b, f16) { return f16_bits(a) | (u32)f16_bits(b) << 16; }
#else
DEVICE float power_of_two(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
DEVICE u32 two_of(float a, float b, bf16) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return r;
}
DEVICE u32 two_of(float a, float b, f16) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return r;
}
#endif
DEVICE u32 left_of_two(float a, float b, u32 of, bf16) {
  return two_of(a - f32_of(of << 16), b - f32_of(of & 0xffff0000u), bf16());
}
DEVICE u32 left_of_two(float a, float b, u32 of, f16) {
  return two_of(a - f16_value((u16)of), b - f16_value((u16)(of >> 16)), f16());
}
// seen_by(query, begin, end): the keys that it sees; neither falls from a query to the next.
// `scale`: above zero, of powers of two.
template <int kWidth, int kWarps, bool kIsBf16, typename T, typename SeenBy>
DEVICE void many_queries(ManyResult<kWidth>& result, const T* q, i64 q_step, i64 query0,
                         i64 queries, float scale, const T* k, i64 k_step, const T* v, i64 v_step,
                         const SeenBy& seen_by) {
  constexpr int kKeys = kWidth > 128 ? 32 : 64, kRow = kWidth + 8, kPieces = kWidth / 8;
  __shared__ __align__(16) T ks[kKeys][kRow];
  __shared__ __align__(16) T vs[kKeys][kRow];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const float none = -f32_of(0x7f800000u);
  const i64 row0 = query0 + warp * 16;
  const auto row_of = [&](i64 row) { return min_of(row, queries - 1); };
  const bool aligned = (((u64)k | (u64)v | (u64)k_step * sizeof(T) | (u64)v_step * sizeof(T)) & 15) == 0;
  int low, high, unused;
  seen_by(query0, low, unused);
  seen_by(row_of(query0 + kWarps * 16 - 1), unused, high);
  const auto bring = [&](T (&to)[kKeys][kRow], const T* from, i64 step, int key0) {
    constexpr int kThreads = kWarps * 32, kAll = kKeys * kPieces, kRows = kThreads / kPieces;
    if (aligned) {
      const int r0 = threadIdx.x / kPieces, c = threadIdx.x % kPieces * 8;
      const T* piece = from + (key0 + r0) * step + c;
#pragma unroll
      for (int r = 0; r < kKeys; r += kRows) {
        if (r + kRows > kKeys && r + r0 >= kKeys) break;
        const bool is_there = key0 + r + r0 < high;
        copy_behind(&to[r + r0][c], is_there ? piece + r * step : from, is_there);
      }
    } else {
      for (int at = threadIdx.x; at < kAll * 8; at += kThreads) {
        const int r = at / kWidth, c = at % kWidth;
        to[r][c].bits = key0 + r < high ? from[(key0 + r) * step + c].bits : (u16)0;
      }
    }
    end_copies();
  };
  if (low < high) bring(ks, k, k_step, low);
  // Keys that some of the warp's queries see, and those that all of them do.
  int some_begin, some_end, all_begin, all_end;
  seen_by(row_of(row0), some_begin, all_end);
  seen_by(row_of(row0 + 15), all_begin, some_end);
  if (row0 >= queries) some_end = some_begin;
  int begin[2], end[2];
  u32 qs[kWidth / 16][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const i64 row = row_of(row0 + g + 8 * h);
    seen_by(row, begin[h], end[h]);
    const T* from = q + row * q_step + 2 * t;
    if (((u64)from & 3) == 0) {
#pragma unroll
      for (int c = 0; c < kWidth / 8; ++c) qs[c / 2][c % 2 * 2 + h] = *(const u32*)(from + c * 8);
    } else {
#pragma unroll
      for (int c = 0; c < kWidth / 8; ++c) qs[c / 2][c % 2 * 2 + h] = two(from + c * 8);
    }
  }
  // Greatest scores, and the same times the scale: what exponents are less by.
  float best[2] = {none, none}, base[2] = {none, none}, whole[2] = {0, 0};
#pragma unroll
  for (int c = 0; c < kWidth / 8; ++c)
    result.sums[c][0] = result.sums[c][1] = result.sums[c][2] = result.sums[c][3] = 0;
  for (int key0 = low; key0 < high; key0 += kKeys) {
    wait_for_copies<0>();
    __syncthreads();
    bring(vs, v, v_step, key0);
    const bool works = key0 < some_end && key0 + kKeys > some_begin;
    float s[kKeys / 8][4];
    if (works) {
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
      for (int c = 0; c < kWidth / 16; ++c) {
#pragma unroll
        for (int n = 0; n < kKeys / 8; n += 2) {
          u32 b[4];
          load_tiles<false>(b, &ks[n * 8 + lane / 16 * 8 + lane % 8][c * 16 + lane / 8 % 2 * 8]);
          multiply_tile<kIsBf16>(s[n], qs[c][0], qs[c][1], qs[c][2], qs[c][3], b[0], b[1]);
          multiply_tile<kIsBf16>(s[n + 1], qs[c][0], qs[c][1], qs[c][2], qs[c][3], b[2], b[3]);
        }
      }
      if (key0 < all_begin || key0 + kKeys > all_end) {
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = key0 + n * 8 + 2 * t + e % 2;
            if (key < begin[e / 2] || key >= end[e / 2]) s[n][e] = none;
          }
        }
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float greater = best[h];
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n)
          greater = fmaxf(greater, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
        greater = fmaxf(greater, shuffled(greater, 1));
        greater = fmaxf(greater, shuffled(greater, 2));
        const float now = greater * scale, less = now == none ? 0.0f : now;
        const float factor = power_of_two(base[h] - less);
        best[h] = greater;
        base[h] = now;
        float added = 0;
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; ++e) {
            s[n][e] = power_of_two(fmaf(s[n][e], scale, -less));
            added += s[n][e];
          }
        }
        whole[h] = fmaf(whole[h], factor, added);
#pragma unroll
        for (int c = 0; c < kWidth / 8; ++c) {
          result.sums[c][2 * h] *= factor;
          result.sums[c][2 * h + 1] *= factor;
        }
      }
    }
    wait_for_copies<0>();
    __syncthreads();
    if (key0 + kKeys < high) bring(ks, k, k_step, key0 + kKeys);
    if (works) {
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) {
        const float* a = s[2 * n];
        const float* b = s[2 * n + 1];
        const u32 p[4] = {two_of(a[0], a[1], T()), two_of(a[2], a[3], T()),
                          two_of(b[0], b[1], T()), two_of(b[2], b[3], T())};
        const u32 l[4] = {left_of_two(a[0], a[1], p[0], T()), left_of_two(a[2], a[3], p[1], T()),
                          left_of_two(b[0], b[1], p[2], T()), left_of_two(b[2], b[3], p[3], T())};
#pragma unroll
        for (int c = 0; c < kWidth / 8; c += 2) {
          u32 w[4];
          load_tiles<true>(w, &vs[n * 16 + lane % 16][c * 8 + lane / 16 * 8]);
          multiply_tile<kIsBf16>(result.sums[c], p[0], p[1], p[2], p[3], w[0], w[1]);
          multiply_tile<kIsBf16>(result.sums[c + 1], p[0], p[1], p[2], p[3], w[2], w[3]);
          multiply_tile<kIsBf16>(result.sums[c], l[0], l[1], l[2], l[3], w[0], w[1]);
          multiply_tile<kIsBf16>(result.sums[c + 1], l[0], l[1], l[2], l[3], w[2], w[3]);
        }
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    whole[h] += shuffled(whole[h], 1);
    whole[h] += shuffled(whole[h], 2);
    result.whole[h] = whole[h];
  }
}
// Four tiles side by side, of which each lane has two columns of each in a row: lane t of four gets
// all columns of tile t.
DEVICE void gather_tile(float (&to)[8], const float (&from)[4][2]) {
  const int t = threadIdx.x % 4;
  float got[4][2];
#pragma unroll
  for (int by = 0; by < 4; ++by) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int tile = t ^ by;
      const float mine = tile < 2 ? (tile == 0 ? from[0][e] : from[1][e])
                                  : (tile == 2 ? from[2][e] : from[3][e]);
      got[by][e] = by == 0 ? mine : shuffled(mine, by);
    }
  }
#pragma unroll
  for (int of = 0; of < 4; ++of) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int by = t ^ of;
      to[2 * of + e] = by < 2 ? (by == 0 ? got[0][e] : got[1][e])
                              : (by == 2 ? got[2][e] : got[3][e]);
    }
  }
}
)cuda";
}

}  // namespace assay::compiler::cuda
