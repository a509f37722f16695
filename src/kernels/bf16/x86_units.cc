// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/bf16/native_units.h"

namespace assay::kernels {
namespace {

constexpr std::int64_t kPitch = PairUnit::kWholeRow;
constexpr std::int64_t kLine = 16;  // pairs of a cache line

// Into the second level: the nearest is full.
void ask_ahead(const PairTile& t, std::int64_t term) {
  for (std::int64_t r = 0; r < t.ahead_rows; ++r)
    __builtin_prefetch(t.ahead + r * t.ahead_stride + term * 4, 0, 2);
}

// A pair of a row, broadcast, times a vector of columns. 12 × 2 sums, two columns and a broadcast
// fill the registers.
template <int kWide>
__attribute__((target("avx512f,avx512bf16"))) void avx512_tile(const PairTile& t) {
  constexpr int kRows = avx512_layout().rows, kLanes = 16;
  constexpr std::int64_t kTermsAhead = 16, kWidth = std::int64_t{kWide} * kLanes;
  __m512 sums[kRows * kWide];
#pragma GCC unroll 48
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  const Bf16Pair* a = t.panel;
  const Bf16Pair* b = t.x;
  for (std::int64_t begin = 0; begin < t.terms; begin += kLine) {
    ask_ahead(t, begin);
    const std::int64_t count = std::min(kLine, t.terms - begin);
    for (std::int64_t l = 0; l < count; ++l) {
      __m512bh right[kWide];
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) {
        right[v] = reinterpret_cast<__m512bh>(_mm512_load_si512(b + v * kLanes));
        __builtin_prefetch(b + kTermsAhead * kWidth + v * kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        int pair = 0;
        __builtin_memcpy(&pair, a + i * kPitch, 4);
        const auto left = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
#pragma GCC unroll 4
        for (int v = 0; v < kWide; ++v)
          sums[i * kWide + v] = _mm512_dpbf16_ps(sums[i * kWide + v], left, right[v]);
      }
      a += 1;
      b += kWidth;
    }
  }
#pragma GCC unroll 48
  for (int i = 0; i < kRows * kWide; ++i) {
    float* to = t.sums + i / kWide * t.sums_stride + i % kWide * kLanes;
    if (t.accumulate) sums[i] = _mm512_add_ps(_mm512_loadu_ps(to), sums[i]);
    _mm512_storeu_ps(to, sums[i]);
  }
}

// Eight tile registers of 16 rows of 64 bytes: 0 to 3 are sums, 4 and 5 rows, 6 and 7 columns. A
// register of rows holds 16 × 16 pairs, one of columns 16 pairs of each of 16 columns.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);
const TileConfiguration kTileConfiguration;

__attribute__((target("amx-tile"))) void enter_amx() { _tile_loadconfig(&kTileConfiguration); }
__attribute__((target("amx-tile"))) void leave_amx() { _tile_release(); }

// The registers have to be named in the source, so that one and two vectors are written down.
__attribute__((target("amx-tile,amx-bf16"))) void amx_tile_1(const PairTile& t) {
  const std::int64_t stride = t.sums_stride * 4;
  float* below = t.sums + 16 * t.sums_stride;
  if (t.accumulate) {
    _tile_loadd(0, t.sums, stride);
    _tile_loadd(2, below, stride);
  } else {
    _tile_zero(0);
    _tile_zero(2);
  }
  const Bf16Pair* a = t.panel;
  const Bf16Pair* b = t.x;
  for (std::int64_t l = 0; l < t.terms; l += kLine, a += kLine, b += kLine * 16) {
    ask_ahead(t, l);
    _tile_loadd(6, b, 64);
    _tile_loadd(4, a, kPitch * 4);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, a + 16 * kPitch, kPitch * 4);
    _tile_dpbf16ps(2, 5, 6);
  }
  _tile_stored(0, t.sums, stride);
  _tile_stored(2, below, stride);
}

__attribute__((target("amx-tile,amx-bf16"))) void amx_tile_2(const PairTile& t) {
  const std::int64_t stride = t.sums_stride * 4;
  float* below = t.sums + 16 * t.sums_stride;
  if (t.accumulate) {
    _tile_loadd(0, t.sums, stride);
    _tile_loadd(1, t.sums + 16, stride);
    _tile_loadd(2, below, stride);
    _tile_loadd(3, below + 16, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const Bf16Pair* a = t.panel;
  const Bf16Pair* b = t.x;
  for (std::int64_t l = 0; l < t.terms; l += kLine, a += kLine, b += kLine * 32) {
    ask_ahead(t, l);
    _tile_loadd(6, b, 128);
    _tile_loadd(4, a, kPitch * 4);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + 16, 128);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + 16 * kPitch, kPitch * 4);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, t.sums, stride);
  _tile_stored(1, t.sums + 16, stride);
  _tile_stored(2, below, stride);
  _tile_stored(3, below + 16, stride);
}

struct Features {
  bool amx = false, avx512_bf16 = false;
};
Features features_of_processor() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Features features;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  const unsigned most = a;
  features.amx = (d >> 22 & 1) != 0 && (d >> 24 & 1) != 0;  // bf16, tiles
  const bool has_avx512 = (b >> 16 & 1) != 0;
  if (most >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0)
    features.avx512_bf16 = has_avx512 && (a >> 5 & 1) != 0;
  return features;
}

// Whether the system keeps these registers when it changes threads: bits of XCR0.
bool system_keeps(std::uint64_t state) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool can_be_asked = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 27 & 1) != 0;  // OSXSAVE
  if (!can_be_asked) return false;
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((std::uint64_t{high} << 32 | low) & state) == state;
}

// Linux gives a process the 8 KiB of tiles for each thread only if it asks.
bool has_leave_for_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const PairUnit& amx_unit() {
  static constexpr PairUnit kUnit = [] {
    PairUnit unit = amx_layout();
    unit.name = "amx";
    unit.tile = {amx_tile_1, amx_tile_2};
    unit.enter = enter_amx;
    unit.leave = leave_amx;
    return unit;
  }();
  return kUnit;
}
const PairUnit& avx512_unit() {
  static constexpr PairUnit kUnit = [] {
    PairUnit unit = avx512_layout();
    unit.name = "avx512-bf16";
    unit.tile = {avx512_tile<1>, avx512_tile<2>};
    return unit;
  }();
  return kUnit;
}

std::string why_no_amx() {
  if (!features_of_processor().amx) return "the processor has no AMX for bf16";
  if (!system_keeps(3 << 17)) return "the system does not keep AMX tiles";
  if (!has_leave_for_tiles()) return "the system gave no leave to use AMX tiles";
  return {};
}
std::string why_no_avx512() {
  if (!features_of_processor().avx512_bf16) return "the processor has no AVX-512 BF16";
  if (!system_keeps(0xe6)) return "the system does not keep AVX-512 registers";
  return {};
}

}  // namespace assay::kernels
#endif
