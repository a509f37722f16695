// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/linear_code.h"

namespace assay::compiler::cuda {

// A token of a large model is the time in which its weights are read once. So what counts is how
// many bytes are on the way: each lane has eight loads of sixteen bytes in flight, four of each of
// two rows, and asks for the next eight before it multiplies; the first eight are asked for before
// the kernel in front is done, if nobody writes W.
std::string_view matvec_text() {
  return R"cuda(
template <typename W> struct Lanes { static constexpr int kCount = 16 / (int)sizeof(W); };
DEVICE void unpack(float (&to)[8], quad from, bf16) {
  const u32 all[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[2 * i] = f32_of(all[i] << 16);
    to[2 * i + 1] = f32_of(all[i] & 0xffff0000u);
  }
}
DEVICE void unpack(float (&to)[8], quad from, f16) {
  const u32 all[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[2 * i] = f16_value((u16)all[i]);
    to[2 * i + 1] = f16_value((u16)(all[i] >> 16));
  }
}
DEVICE void unpack(float (&to)[4], quad from, float) {
  to[0] = f32_of(from.x); to[1] = f32_of(from.y); to[2] = f32_of(from.z); to[3] = f32_of(from.w);
}
template <int kAhead, i64 kTerms, typename W>
DEVICE void ask_for(quad (&to)[2][kAhead], const W* first, const W* second, i64 begin) {
  constexpr int kLanes = Lanes<W>::kCount;
#pragma unroll
  for (int u = 0; u < kAhead; ++u) {
    const i64 l = begin + (u * 32 + threadIdx.x % 32) * kLanes;
    if (l < kTerms) {
      to[0][u] = read_once(first + l);
      to[1][u] = read_once(second + l);
    }
  }
}
// sums[i][r] = Σ_l x[i · kStep + l] · w[(column + r) · kRow + l] for i < kRows, in all lanes. Rows
// of x from `rows` on count as the last one.
template <int kRows, i64 kTerms, i64 kStep, i64 kRow, typename X, typename W>
DEVICE void sum_rows(float (&sums)[kRows][2], const X* x, i64 rows, const W* w, i64 column,
                     i64 columns, bool may_begin) {
  constexpr int kLanes = Lanes<W>::kCount;
  constexpr int kAhead = kRows > 4 ? 2 : 4;
  constexpr i64 kPiece = kAhead * 32 * kLanes;
  const W* first = w + column * kRow;
  const W* second = w + (column + 1 < columns ? column + 1 : column) * kRow;
#pragma unroll
  for (int i = 0; i < kRows; ++i) sums[i][0] = sums[i][1] = 0;
  if (((u64)w & 15) != 0) {
    wait_for_others();
    for (i64 l = threadIdx.x % 32; l < kTerms; l += 32) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float v = wide(x[(i < rows ? i : rows - 1) * kStep + l]);
        sums[i][0] = fmaf(v, wide(first[l]), sums[i][0]);
        sums[i][1] = fmaf(v, wide(second[l]), sums[i][1]);
      }
    }
  } else {
    quad now[2][kAhead];
    if (!may_begin) wait_for_others();
    ask_for<kAhead, kTerms>(now, first, second, 0);
    if (may_begin) wait_for_others();
    for (i64 begin = 0; begin < kTerms; begin += kPiece) {
      quad next[2][kAhead];
      if (begin + kPiece < kTerms) ask_for<kAhead, kTerms>(next, first, second, begin + kPiece);
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const i64 l = begin + (u * 32 + threadIdx.x % 32) * kLanes;
        if (l >= kTerms) break;
        float a[kLanes], b[kLanes];
        unpack(a, now[0][u], W());
        unpack(b, now[1][u], W());
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          __align__(16) X raw[kLanes];
          load<kLanes>(raw, x + (i < rows ? i : rows - 1) * kStep + l);
#pragma unroll
          for (int e = 0; e < kLanes; ++e) {
            const float v = wide(raw[e]);
            sums[i][0] = fmaf(v, a[e], sums[i][0]);
            sums[i][1] = fmaf(v, b[e], sums[i][1]);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        now[0][u] = next[0][u];
        now[1][u] = next[1][u];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r) sums[i][r] = together<32, SumOf>(sums[i][r]);
  }
}
)cuda";
}

// Sixteen rows of W are the first factor of a tile, eight rows of x each the second. Within a
// product the order of terms is free: a lane's sixteen bytes of W, and of x, are its terms of two
// tiles, so that both come by loads of sixteen bytes and need no shared memory.
std::string_view tile_rows_text() {
  return R"cuda(
template <int kRows, i64 kTerms, i64 kStep, i64 kRow, bool kIsBf16, typename T>
DEVICE void sum_tiles(float (*sums)[16][kRows + 1], const T* x, i64 rows, const T* w, i64 column,
                      i64 columns, bool may_begin) {
  constexpr int kTiles = kRows / 8, kWarps = 8, kAhead = 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  float d[kTiles][4];
#pragma unroll
  for (int i = 0; i < kTiles; ++i) d[i][0] = d[i][1] = d[i][2] = d[i][3] = 0;
  const T* first = w + (column + g < columns ? column + g : columns - 1) * kRow;
  const T* second = w + (column + g + 8 < columns ? column + g + 8 : columns - 1) * kRow;
  const bool aligned = (((u64)w | (u64)x) & 15) == 0;
  const auto read = [&](const T* from, bool once) {
    if (aligned) return once ? read_once(from) : *(const quad*)from;
    u32 all[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) all[i] = from[2 * i].bits | (u32)from[2 * i + 1].bits << 16;
    return quad{all[0], all[1], all[2], all[3]};
  };
  // Warps take pieces of 32 terms in turn.
  quad now[kAhead][2];
  const auto ask = [&](quad (&to)[kAhead][2], i64 begin) {
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const i64 l = begin + (u * kWarps + warp) * 32 + t * 8;
      to[u][0] = l < kTerms ? read(first + l, true) : quad{0, 0, 0, 0};
      to[u][1] = l < kTerms ? read(second + l, true) : quad{0, 0, 0, 0};
    }
  };
  constexpr i64 kPiece = kAhead * kWarps * 32;
  if (!may_begin) wait_for_others();
  ask(now, 0);
  if (may_begin) wait_for_others();
  for (i64 begin = 0; begin < kTerms; begin += kPiece) {
    quad next[kAhead][2];
    if (begin + kPiece < kTerms) ask(next, begin + kPiece);
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const i64 l = begin + (u * kWarps + warp) * 32 + t * 8;
      const quad a = now[u][0], b = now[u][1];
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        const i64 row = i * 8 + g;
        const quad v = row < rows && l < kTerms ? read(x + row * kStep + l, false) : quad{0, 0, 0, 0};
        multiply_tile<kIsBf16>(d[i], a.x, b.x, a.y, b.y, v.x, v.y);
        multiply_tile<kIsBf16>(d[i], a.z, b.z, a.w, b.w, v.z, v.w);
      }
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) { now[u][0] = next[u][0]; now[u][1] = next[u][1]; }
  }
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    sums[warp][g][i * 8 + 2 * t] = d[i][0];
    sums[warp][g][i * 8 + 2 * t + 1] = d[i][1];
    sums[warp][g + 8][i * 8 + 2 * t] = d[i][2];
    sums[warp][g + 8][i * 8 + 2 * t + 1] = d[i][3];
  }
  __syncthreads();
}
)cuda";
}

std::string_view block_text() {
  return R"cuda(
template <i64 kTerms, i64 kStep, i64 kRow, typename X, typename W>
DEVICE void sum_block(float (&sums)[4][4], const X* x, i64 rows, const W* w, i64 row0, i64 column0,
                      i64 columns) {
  __shared__ float xs[32][65], ws[32][65];
  for (int p = 0; p < 4; ++p) for (int q = 0; q < 4; ++q) sums[p][q] = 0;
  const int ti = threadIdx.x / 16, tj = threadIdx.x % 16;
  for (i64 first = 0; first < kTerms; first += 32) {
    __syncthreads();
    for (int at = threadIdx.x; at < 64 * 32; at += 256) {
      const i64 r = at / 32, l = first + at % 32;
      xs[at % 32][r] = row0 + r < rows && l < kTerms ? wide(x[(row0 + r) * kStep + l]) : 0.0f;
      ws[at % 32][r] = column0 + r < columns && l < kTerms ? wide(w[(column0 + r) * kRow + l]) : 0.0f;
    }
    __syncthreads();
    for (int l = 0; l < 32; ++l) {
      float a[4], b[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) { a[e] = xs[l][ti + 16 * e]; b[e] = ws[l][tj + 16 * e]; }
#pragma unroll
      for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q) sums[p][q] = fmaf(a[p], b[q], sums[p][q]);
    }
  }
}
)cuda";
}

}  // namespace assay::compiler::cuda
