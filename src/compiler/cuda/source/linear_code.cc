// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/linear_code.h"

namespace assay::compiler::cuda {

// A token of a large model is the time in which its weights are read once. So what counts is how
// many bytes are on the way, and that the device's last blocks are not few: a warp takes one row of
// W (two where many rows of x share them), each lane has four loads of sixteen bytes of it in
// flight and asks for the next four before it multiplies; the first are asked for before the kernel
// in front is done, if nobody writes W. Where W has few rows, several warps share one.
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
// Neighbours of x, which lie on a boundary that fits.
template <int V, typename X>
DEVICE void take(X (&to)[V], const X* from) {
  constexpr int kBytes = V * (int)sizeof(X);
  if constexpr (kBytes >= 16) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) ((quad*)to)[i] = ((const quad*)from)[i];
  } else {
    *(pair*)to = *(const pair*)from;
  }
}
// sums[i][c] = Σ_l x[i · kStep + l] · w[(column + c) · kRow + l] for i < kRows, in all lanes of the
// kSplit warps that share the terms. Rows of x from `rows` on, and of W from `columns` on, count as
// the last one. All threads of the block call it, and with kSplit > 1 only once.
template <int kRows, int kColumns, int kSplit, i64 kTerms, i64 kStep, i64 kRow, typename X,
          typename W>
DEVICE void sum_rows(float (&sums)[kRows][kColumns], const X* x, i64 rows, const W* w, i64 column,
                     i64 columns, bool may_begin) {
  constexpr int kLanes = Lanes<W>::kCount, kAhead = kRows > 4 ? 2 : 4, kAll = (int)kTerms;
  constexpr int kPiece = kAhead * 32 * kLanes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % kSplit;
  const W* from[kColumns];
  const X* of[kRows];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) from[c] = w + min_of(column + c, columns - 1) * kRow;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    of[i] = x + (i == 0 ? 0 : min_of(i, rows - 1)) * kStep;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[i][c] = 0;
  }
  if ((((u64)w | (u64)x | (u64)(kStep * sizeof(X))) & 15) != 0) {
    wait_for_others();
    for (int l = part * 32 + lane; l < kAll; l += 32 * kSplit) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
          sums[i][c] = fmaf(wide(of[i][l]), wide(from[c][l]), sums[i][c]);
    }
  } else {
    quad now[kColumns][kAhead];
    const auto ask = [&](quad (&to)[kColumns][kAhead], int begin) {
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const int l = begin + (u * 32 + lane) * kLanes;
        if (kAll % (kPiece * kSplit) == 0 || l < kAll) {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) to[c][u] = read_once(from[c] + l);
        }
      }
    };
    if (!may_begin) wait_for_others();
    ask(now, part * kPiece);
    if (may_begin) wait_for_others();
#pragma unroll 4
    for (int begin = part * kPiece; begin < kAll; begin += kPiece * kSplit) {
      quad next[kColumns][kAhead];
      if (begin + kPiece * kSplit < kAll) ask(next, begin + kPiece * kSplit);
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const int l = begin + (u * 32 + lane) * kLanes;
        if (kAll % (kPiece * kSplit) == 0 || l < kAll) {
          float weights[kColumns][kLanes];
#pragma unroll
          for (int c = 0; c < kColumns; ++c) unpack(weights[c], now[c][u], W());
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            __align__(16) X raw[kLanes];
            take<kLanes>(raw, of[i] + l);
#pragma unroll
            for (int e = 0; e < kLanes; ++e)
#pragma unroll
              for (int c = 0; c < kColumns; ++c)
                sums[i][c] = fmaf(wide(raw[e]), weights[c][e], sums[i][c]);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u)
#pragma unroll
        for (int c = 0; c < kColumns; ++c) now[c][u] = next[c][u];
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[i][c] = together<32, SumOf>(sums[i][c]);
  if constexpr (kSplit > 1) {
    __shared__ float parts[32][kRows * kColumns];
#pragma unroll
    for (int e = 0; e < kRows * kColumns; ++e)
      if (lane == 0) parts[warp][e] = sums[e / kColumns][e % kColumns];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kRows * kColumns; ++e) {
      float sum = 0;
#pragma unroll
      for (int p = 0; p < kSplit; ++p) sum += parts[warp - part + p][e];
      sums[e / kColumns][e % kColumns] = sum;
    }
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
