// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16/pair_packing.h"

#include <algorithm>

#include "kernels/tiles/pack_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bf16/pair_packing.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
// Vectors of elements; four of them are the run of a group of two pairs.
using Whole = hn::ScalableTag<std::uint16_t>;
using Four = hn::CappedTag<std::uint16_t, 4>;

HWY_INLINE std::uint16_t* elements_of(Bf16Pair* pair) {
  return reinterpret_cast<std::uint16_t*>(pair);
}

// Finds what is below the least normal number and not 0: its bits without the sign, doubled, less
// one, are below 255.
template <class D>
class LeastSize {
 public:
  HWY_INLINE LeastSize() : vector_(hn::Set(D(), kNormal)) {}
  HWY_INLINE void see(hn::Vec<D> x) {
    vector_ = hn::Min(vector_, hn::Sub(hn::Add(x, x), hn::Set(D(), 1)));
  }
  HWY_INLINE void see_one(std::uint16_t x) {
    one_ = std::min(one_, static_cast<std::uint16_t>(2 * x - 1));
  }
  HWY_INLINE bool is_below_normal() const {
    std::uint16_t lanes[hn::MaxLanes(D())];
    hn::StoreU(vector_, D(), lanes);
    return std::min(one_, *std::min_element(lanes, lanes + hn::MaxLanes(D()))) < kNormal;
  }

 private:
  static constexpr std::uint16_t kNormal = 0xff;
  hn::Vec<D> vector_;
  std::uint16_t one_ = kNormal;
};

template <class D>
HWY_INLINE void copy_elements(D d, const std::uint16_t* HWY_RESTRICT from, std::int64_t count,
                              std::uint16_t* HWY_RESTRICT to, LeastSize<D>& least) {
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto x = hn::LoadU(d, from + i);
    least.see(x);
    hn::StoreU(x, d, to + i);
  }
  for (; i < count; ++i) {
    least.see_one(from[i]);
    to[i] = from[i];
  }
}

// Elements of one row or column lie together, in the panel as well.
template <class D>
bool pack_runs(D d, const Bf16Source& x, int width, std::int64_t group, Bf16Pair* panel) {
  LeastSize<D> least;
  for (std::int64_t l = 0; l < x.elements; l += 2 * group) {
    const std::int64_t count = std::min(2 * group, x.elements - l);
    Bf16Pair* to = panel + l / 2 * width;
    for (int i = 0; i < x.count; ++i)
      copy_elements(d, x.data + i * x.width_stride + l, count, elements_of(to + i * group), least);
  }
  return least.is_below_normal();
}

// They lie together, and in the panel one pair of each: a transposition of pairs.
bool pack_transposed(const Bf16Source& x, int width, Bf16Pair* panel) {
  const auto& kernels = pack_kernels(float{});
  constexpr std::int64_t kElements = 512;
  constexpr int kRows = 16;
  alignas(64) std::uint16_t rows[kRows][kElements + 32];
  LeastSize<Whole> least;
  for (std::int64_t l = 0; l < x.elements; l += kElements) {
    const std::int64_t count = std::min(kElements, x.elements - l);
    for (int i = 0; i < x.count; i += kRows) {
      const int some = std::min(kRows, x.count - i);
      const float* pairs[kRows];
      for (int r = 0; r < some; ++r) {
        copy_elements(Whole(), x.data + (i + r) * x.width_stride + l, count, rows[r], least);
        rows[r][count] = 0;  // beside the last of an odd number
        pairs[r] = reinterpret_cast<const float*>(rows[r]);
      }
      kernels.copy_rows(pairs, some, (count + 1) / 2, width,
                        reinterpret_cast<float*>(panel + l / 2 * width + i));
    }
  }
  return least.is_below_normal();
}

// to[kTerms · i + t] = x(i, l + t), where neighbours in i lie together.
template <int kTerms>
HWY_INLINE void interleave(const Bf16Source& x, std::int64_t l, std::uint16_t* HWY_RESTRICT to,
                           LeastSize<Whole>& least) {
  static constexpr std::uint16_t kZeros[PairUnit::kMostWidth] = {};
  constexpr std::int64_t kTermsAhead = 32;
  const std::uint16_t* terms[kTerms];
  for (int t = 0; t < kTerms; ++t) {
    const std::uint16_t* row = x.data + (l + t) * x.term_stride;
    terms[t] = l + t < x.elements ? row : kZeros;
    __builtin_prefetch(row + kTermsAhead * x.term_stride);  // lines too far apart to be foreseen
  }
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Whole d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  for (; i + kLanes <= x.count; i += kLanes) {
    hn::Vec<Whole> v[kTerms];
    for (int t = 0; t < kTerms; ++t) {
      v[t] = hn::LoadU(d, terms[t] + i);
      least.see(v[t]);
    }
    if constexpr (kTerms == 2)
      hn::StoreInterleaved2(v[0], v[1], d, to + 2 * i);
    else
      hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, to + 4 * i);
  }
#endif
  for (; i < x.count; ++i) {
    for (int t = 0; t < kTerms; ++t) least.see_one(to[kTerms * i + t] = terms[t][i]);
  }
}

// Neighbours in i lie together, and pairs or two pairs of each do in the panel.
template <int kTerms>
bool pack_interleaved(const Bf16Source& x, int width, Bf16Pair* panel) {
  LeastSize<Whole> least;
  for (std::int64_t l = 0; l < x.elements; l += kTerms)
    interleave<kTerms>(x, l, elements_of(panel + l / 2 * width), least);
  return least.is_below_normal();
}

// Neighbours in i lie together, and whole rows do in the panel: pairs are made, then transposed.
bool pack_turned(const Bf16Source& x, int width, std::int64_t group, Bf16Pair* panel) {
  const auto& kernels = pack_kernels(float{});
  constexpr int kPairs = 16;
  alignas(64) Bf16Pair pairs[kPairs][PairUnit::kMostWidth];
  LeastSize<Whole> least;
  for (std::int64_t l = 0; l < x.elements; l += 2 * kPairs) {
    const auto some = static_cast<int>(std::min<std::int64_t>(kPairs, (x.elements - l + 1) / 2));
    const float* rows[kPairs];
    for (int p = 0; p < some; ++p) {
      interleave<2>(x, l + 2 * p, elements_of(pairs[p]), least);
      rows[p] = reinterpret_cast<const float*>(pairs[p]);
    }
    const std::int64_t at = l / 2 / group * width * group + l / 2 % group;
    kernels.copy_rows(rows, some, x.count, group, reinterpret_cast<float*>(panel + at));
  }
  return least.is_below_normal();
}

bool pack_any(const Bf16Source& x, int width, std::int64_t group, Bf16Pair* panel) {
  LeastSize<Whole> least;
  for (int i = 0; i < x.count; ++i) {
    for (std::int64_t l = 0; l < x.elements; ++l) {
      const std::int64_t pair = l / 2;
      Bf16Pair* to = panel + (pair / group * width + i) * group + pair % group;
      elements_of(to)[l % 2] = x.data[i * x.width_stride + l * x.term_stride];
      least.see_one(elements_of(to)[l % 2]);
    }
  }
  return least.is_below_normal();
}

bool pack(const Bf16Source& x, int width, std::int64_t group, Bf16Pair* panel) {
  if (x.term_stride == 1 && group == 2) return pack_runs(Four(), x, width, group, panel);
  if (x.term_stride == 1 && group > 2) return pack_runs(Whole(), x, width, group, panel);
  if (x.term_stride == 1) return pack_transposed(x, width, panel);
  if (x.width_stride == 1 && group == 1) return pack_interleaved<2>(x, width, panel);
  if (x.width_stride == 1 && group == 2) return pack_interleaved<4>(x, width, panel);
  if (x.width_stride == 1 && group % 16 == 0) return pack_turned(x, width, group, panel);
  return pack_any(x, width, group, panel);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(pack);

// Of rows or columns that there are: what is missing to whole steps. Of the others: all.
void clear_rest(const Bf16Source& x, int width, std::int64_t group, std::int64_t terms,
                Bf16Pair* panel) {
  for (std::int64_t begin = 0; begin < terms; begin += group) {
    const std::int64_t all = 2 * std::min(group, terms - begin);
    const std::int64_t there = std::clamp<std::int64_t>(x.elements - 2 * begin, 0, all);
    for (int i = 0; i < width; ++i) {
      auto* run = reinterpret_cast<std::uint16_t*>(panel + begin * width + i * group);
      std::fill(run + (i < x.count ? there : 0), run + all, std::uint16_t{0});
    }
  }
}

}  // namespace

bool pack_pairs(const Bf16Source& x, int width, std::int64_t group, std::int64_t terms,
                Bf16Pair* panel) noexcept {
  if (x.count < width || x.elements < 2 * terms) clear_rest(x, width, group, terms, panel);
  return HWY_DYNAMIC_DISPATCH(pack)(x, width, group, panel);
}

}  // namespace assay::kernels
#endif
