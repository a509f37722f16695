// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loops as the kernels walk them. For .cu files.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "einsum/cuda/launch.h"
#include "einsum/cuda/numbers.cuh"
#include "einsum/labels/loop.h"

namespace assay::einsum::cuda {

// Loops of one kind, the fastest last. Numbers below 2³¹ are divided by multiplication: of x / d,
// with 2^s ≥ d > 2^(s−1) and m = ⌊2³²(2^s − d)/d⌋ + 1, the quotient is (⌊mx / 2³²⌋ + x) / 2^s.
struct Nest {
  int loops = 0;
  std::int64_t count = 1;
  std::int64_t extent[kMostLoops], a[kMostLoops], b[kMostLoops], c[kMostLoops];
  // The same in 32 bits, for all that fits: half the instructions.
  std::int32_t short_a[kMostLoops], short_b[kMostLoops], short_c[kMostLoops];
  std::int64_t reach = 0;  // no tensor's offset is beyond
  std::uint32_t factor[kMostLoops];
  std::uint8_t shift[kMostLoops];

  void add(const Loop& loop) {
    extent[loops] = loop.extent;
    a[loops] = loop.a;
    b[loops] = loop.b;
    c[loops] = loop.c;
    count *= loop.extent;
    short_a[loops] = static_cast<std::int32_t>(loop.a);
    short_b[loops] = static_cast<std::int32_t>(loop.b);
    short_c[loops] = static_cast<std::int32_t>(loop.c);
    const std::int64_t widest = std::max({std::abs(loop.a), std::abs(loop.b), std::abs(loop.c)});
    reach += (loop.extent - 1) * widest;
    const auto d = static_cast<std::uint64_t>(loop.extent);
    int s = 0;
    while (s < 32 && (std::uint64_t{1} << s) < d) ++s;
    shift[loops] = static_cast<std::uint8_t>(s);
    factor[loops] = s < 32 ? static_cast<std::uint32_t>(
                                 ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << s) - d)) / d + 1)
                           : 0;
    ++loops;
  }
};

// Whether counts and offsets of two nests together need more than 31 bits.
inline bool is_wide(const Nest& x, const Nest& y) {
  constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
  return x.count >= kNarrow || y.count >= kNarrow || x.reach + y.reach >= kNarrow;
}

template <bool kWide>
struct Offsets {
  std::conditional_t<kWide, std::int64_t, std::int32_t> a = 0, b = 0, c = 0;
};

// Where combination number n of the loops lies.
template <bool kWide>
__device__ inline Offsets<kWide> offsets(const Nest& nest, std::int64_t n) {
  Offsets<kWide> at;
  if constexpr (kWide) {
    for (int l = nest.loops - 1; l >= 0; --l) {
      const std::int64_t next = n / nest.extent[l], x = n - next * nest.extent[l];
      at.a += x * nest.a[l];
      at.b += x * nest.b[l];
      at.c += x * nest.c[l];
      n = next;
    }
  } else {
    auto rest = static_cast<std::uint32_t>(n);
    for (int l = nest.loops - 1; l >= 0; --l) {
      const std::uint32_t next =
          l == 0 ? 0
                 : static_cast<std::uint32_t>(
                       (static_cast<std::uint64_t>(__umulhi(nest.factor[l], rest)) + rest) >>
                       nest.shift[l]);
      const auto x =
          static_cast<std::int32_t>(rest - next * static_cast<std::uint32_t>(nest.extent[l]));
      at.a += x * nest.short_a[l];
      at.b += x * nest.short_b[l];
      at.c += x * nest.short_c[l];
      rest = next;
    }
  }
  return at;
}

// *at = alpha·sum + beta·*at; with beta 0 it is not read.
template <typename N, typename Sum>
__device__ inline void put(N* at, Sum sum, N alpha, N beta) {
  Sum value = wide(alpha) * sum;
  if (!is_zero(beta)) value = value + wide(beta) * wide(*at);
  *at = narrow<N>(value);
}

}  // namespace assay::einsum::cuda
