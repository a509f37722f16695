// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/attention_text.h"

namespace assay::compiler::cuda {

// some_queries: a key's width is shared by as many lanes as sixteen bytes of each need, so that a
// warp takes several keys at once; each such group of lanes has a softmax of its own until the end,
// when greatest scores and sums are made one: of the warp, of the block, and of all parts by the
// block that is done last.
//
// many_queries: scores and sums by tensor cores. A weight is two bf16 or f16 numbers, the second
// what the first leaves: one would lose more than everything else that is rounded in f32.
std::string_view attention_text() {
  return R"cuda(
template <bool kIsBf16> struct HalfOf { typedef bf16 T; };
template <> struct HalfOf<false> { typedef f16 T; };
template <int kWidth>
struct FewShared { float merged[4][8][kWidth + 2]; };
DEVICE float greater_seen(float a, float b) { return a < b ? b : a; }
DEVICE float weight_of(float score, float best) {
  return score == -f32_of(0x7f800000u) ? 0.0f : expf(score - best);
}
// query_of(row): where its elements lie; seen_by(row, begin, end): its keys. kIsAligned: keys and
// values lie on boundaries of sixteen bytes.
template <int kWidth, int kRows, bool kIsAligned, typename T, typename QueryOf, typename SeenBy>
DEVICE void some_queries(FewShared<kWidth>& shared, int rows, const QueryOf& query_of,
                         const SeenBy& seen_by, float scale, const T* k, i64 k_step, const T* v,
                         i64 v_step, int first, int last) {
  constexpr int kLanes = kWidth / 8, kKeys = 32 / kLanes, kAtOnce = kRows > 4 ? 2 : 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = lane % kLanes;
  const float none = -f32_of(0x7f800000u);
  __align__(16) T ks[kAtOnce][8];
  __align__(16) T vs[kAtOnce][8];
  const auto key_of = [&](int key0, int u) { return key0 + (u * 4 + warp) * kKeys + lane / kLanes; };
  const auto read = [](T (&to)[8], const T* from) {
    if constexpr (kIsAligned) *(quad*)to = *(const quad*)from;
    else
#pragma unroll
      for (int e = 0; e < 8; ++e) to[e] = from[e];
  };
  const auto ask = [&](int key0) {
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const i64 key = key_of(key0, u);
      if (key < last) {
        read(ks[u], k + key * k_step + own * 8);
        read(vs[u], v + key * v_step + own * 8);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e) ks[u][e].bits = vs[u][e].bits = 0;
      }
    }
  };
  ask(first);
  float q[kRows][8], sums[kRows][8], best[kRows], whole[kRows];
  int begin[kRows], end[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    best[r] = none;
    whole[r] = 0;
    const int row = r < rows ? r : 0;
    seen_by(row, begin[r], end[r]);
    __align__(16) T raw[8];
    load<8>(raw, query_of(row) + own * 8);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      q[r][e] = wide(raw[e]) * scale;
      sums[r][e] = 0;
    }
  }
  for (int key0 = first; key0 < last; key0 += 4 * kKeys * kAtOnce) {
    float scores[kRows][kAtOnce];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        float score = 0;
#pragma unroll
        for (int e = 0; e < 8; ++e) score = fmaf(q[r][e], wide(ks[u][e]), score);
        scores[r][u] = score;
      }
    }
#pragma unroll
    for (int by = kLanes / 2; by > 0; by /= 2) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) scores[r][u] += shuffled(scores[r][u], by);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float greater = best[r];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        const int key = key_of(key0, u);
        const bool seen = r < rows && key < last && key >= begin[r] && key < end[r];
        scores[r][u] = seen ? scores[r][u] : none;
        greater = greater_seen(greater, scores[r][u]);
      }
      const float factor = weight_of(best[r], greater);
      best[r] = greater;
      whole[r] *= factor;
#pragma unroll
      for (int e = 0; e < 8; ++e) sums[r][e] *= factor;
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        const float weight = weight_of(scores[r][u], greater);
        whole[r] += weight;
#pragma unroll
        for (int e = 0; e < 8; ++e) sums[r][e] = fmaf(weight, wide(vs[u][e]), sums[r][e]);
      }
    }
    ask(key0 + 4 * kKeys * kAtOnce);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int by = kLanes; by < 32; by *= 2) {
      const float other = shuffled(best[r], by), greater = greater_seen(best[r], other);
      const float mine = weight_of(best[r], greater), its = weight_of(other, greater);
      best[r] = greater;
      whole[r] = whole[r] * mine + shuffled(whole[r], by) * its;
#pragma unroll
      for (int e = 0; e < 8; ++e) sums[r][e] = sums[r][e] * mine + shuffled(sums[r][e], by) * its;
    }
    if (lane < kLanes && r < rows) {
#pragma unroll
      for (int e = 0; e < 8; ++e) shared.merged[warp][r][own * 8 + e] = sums[r][e];
      if (lane == 0) {
        shared.merged[warp][r][kWidth] = best[r];
        shared.merged[warp][r][kWidth + 1] = whole[r];
      }
    }
  }
}
struct FewSum { float best, whole, sum; };
// Of the block, after all its warps.
template <int kWidth>
DEVICE FewSum few_sum(const FewShared<kWidth>& shared, int row, int column) {
  FewSum all = {shared.merged[0][row][kWidth], 0, 0};
#pragma unroll
  for (int w = 1; w < 4; ++w) all.best = greater_seen(all.best, shared.merged[w][row][kWidth]);
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float weight = weight_of(shared.merged[w][row][kWidth], all.best);
    all.whole += shared.merged[w][row][kWidth + 1] * weight;
    all.sum += shared.merged[w][row][column] * weight;
  }
  return all;
}
// What each part counts for in the whole of each row, of what the parts left: a warp takes a row, a
// lane a part.
template <int kWidth>
DEVICE void share_parts(float (&shares)[32][8], const float* from, int parts, int rows) {
  const float none = -f32_of(0x7f800000u);
  const int part = threadIdx.x % 32;
  for (int row = threadIdx.x / 32; row < rows; row += blockDim.x / 32) {
    const float* at = from + (part * rows + row) * (kWidth + 2) + kWidth;
    const float mine = part < parts ? fresh(at) : none, whole = part < parts ? fresh(at + 1) : 0;
    float best = mine;
#pragma unroll
    for (int by = 16; by > 0; by /= 2) best = greater_seen(best, shuffled(best, by));
    const float weight = weight_of(mine, best);
    shares[part][row] = weight / together<32, SumOf>(whole * weight);
  }
}

template <int kWidth>
struct ManyResult { float sums[kWidth / 8][4]; float whole[2]; };
template <typename T>
DEVICE u32 two(const T* from) { return from[0].bits | (u32)from[1].bits << 16; }
template <typename T>
DEVICE u32 two_of(float a, float b) {
  T x, y;
  put(x, a);
  put(y, b);
  return x.bits | (u32)y.bits << 16;
}
template <typename T>
DEVICE float left_of(float a) { T x; put(x, a); return a - wide(x); }
// Two 8 × 8 tiles of rows in shared memory, turned: lane 4 g + t has (2 t, g) and (2 t + 1, g).
// Lane i < 16 says where row i begins.
template <typename T>
DEVICE void load_turned(u32 (&to)[2], const T* row) {
#ifdef ASSAY_ON_HOST
  host_load_turned(to, row);
#else
  const u32 at = (u32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1]) : "r"(at));
#endif
}
template <int kWidth, bool kIsBf16, typename T>
DEVICE void many_queries(ManyResult<kWidth>& result, const T* q, i64 q_step, i64 query0,
                         i64 queries, float scale, const T* k, i64 k_step, const T* v, i64 v_step,
                         i64 low, i64 high, const i64* begins, const i64* ends) {
  constexpr int kKeys = 32, kRow = kWidth + 8;
  __shared__ __align__(16) T ks[kKeys][kRow];
  __shared__ __align__(16) T vs[kKeys][kRow];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const float none = -f32_of(0x7f800000u);
  u32 qs[kWidth / 16][4];
  {
    const i64 r0 = min_of(query0 + warp * 16 + g, queries - 1);
    const i64 r1 = min_of(query0 + warp * 16 + g + 8, queries - 1);
#pragma unroll
    for (int c = 0; c < kWidth / 16; ++c) {
      qs[c][0] = two(q + r0 * q_step + c * 16 + 2 * t);
      qs[c][1] = two(q + r1 * q_step + c * 16 + 2 * t);
      qs[c][2] = two(q + r0 * q_step + c * 16 + 2 * t + 8);
      qs[c][3] = two(q + r1 * q_step + c * 16 + 2 * t + 8);
    }
  }
  float best[2] = {none, none}, whole[2] = {0, 0};
#pragma unroll
  for (int c = 0; c < kWidth / 8; ++c)
    result.sums[c][0] = result.sums[c][1] = result.sums[c][2] = result.sums[c][3] = 0;
  const i64 begin[2] = {begins[warp * 16 + g], begins[warp * 16 + g + 8]};
  const i64 end[2] = {ends[warp * 16 + g], ends[warp * 16 + g + 8]};
  for (i64 key0 = low; key0 < high; key0 += kKeys) {
    __syncthreads();
    for (int at = threadIdx.x; at < kKeys * kWidth / 8; at += blockDim.x) {
      const int r = at / (kWidth / 8), c = at % (kWidth / 8) * 8;
      const i64 key = key0 + r;
      __align__(16) T some[8];
      __align__(16) T more[8];
      if (key < high) {
        load<8>(some, k + key * k_step + c);
        load<8>(more, v + key * v_step + c);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e) some[e].bits = more[e].bits = 0;
      }
      store<8>(&ks[r][c], some);
      store<8>(&vs[r][c], more);
    }
    __syncthreads();
    float s[kKeys / 8][4];
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
      s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
      for (int c = 0; c < kWidth / 16; ++c) {
        const T* at = &ks[n * 8 + g][c * 16 + 2 * t];
        multiply_tile<kIsBf16>(s[n], qs[c][0], qs[c][1], qs[c][2], qs[c][3], *(const u32*)at,
                               *(const u32*)(at + 8));
      }
    }
    float greater[2] = {best[0], best[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const i64 key = key0 + n * 8 + 2 * t + e % 2;
        const bool seen = key >= begin[e / 2] && key < end[e / 2];
        s[n][e] = seen ? s[n][e] * scale : none;
        greater[e / 2] = greater_seen(greater[e / 2], s[n][e]);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      greater[h] = greater_seen(greater[h], shuffled(greater[h], 1));
      greater[h] = greater_seen(greater[h], shuffled(greater[h], 2));
    }
    const float factor[2] = {weight_of(best[0], greater[0]), weight_of(best[1], greater[1])};
    float added[2] = {0, 0};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[n][e] = weight_of(s[n][e], greater[e / 2]);
        added[e / 2] += s[n][e];
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      whole[h] = fmaf(whole[h], factor[h], added[h]);
      best[h] = greater[h];
    }
#pragma unroll
    for (int c = 0; c < kWidth / 8; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) result.sums[c][e] *= factor[e / 2];
    }
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
      const float* a = s[2 * n];
      const float* b = s[2 * n + 1];
      const u32 p[4] = {two_of<T>(a[0], a[1]), two_of<T>(a[2], a[3]), two_of<T>(b[0], b[1]),
                        two_of<T>(b[2], b[3])};
      const u32 l[4] = {two_of<T>(left_of<T>(a[0]), left_of<T>(a[1])),
                        two_of<T>(left_of<T>(a[2]), left_of<T>(a[3])),
                        two_of<T>(left_of<T>(b[0]), left_of<T>(b[1])),
                        two_of<T>(left_of<T>(b[2]), left_of<T>(b[3]))};
#pragma unroll
      for (int c = 0; c < kWidth / 8; ++c) {
        u32 turned[2];
        load_turned(turned, &vs[n * 16 + lane % 16][c * 8]);
        multiply_tile<kIsBf16>(result.sums[c], p[0], p[1], p[2], p[3], turned[0], turned[1]);
        multiply_tile<kIsBf16>(result.sums[c], l[0], l[1], l[2], l[3], turned[0], turned[1]);
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
)cuda";
}

}  // namespace assay::compiler::cuda
