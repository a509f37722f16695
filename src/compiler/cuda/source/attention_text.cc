// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/attention_text.h"

namespace assay::compiler::cuda {

// some_queries: a key's width is shared by as many lanes as sixteen bytes of each need, so that a
// warp takes several keys at once; each such group of lanes has a softmax of its own until the end,
// when greatest scores and sums are made one: of the warp, of the block, and of all parts by the
// block that is done last.
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
)cuda";
}

}  // namespace assay::compiler::cuda
