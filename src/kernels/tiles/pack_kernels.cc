// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/pack_kernels.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tiles/pack_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "kernels/math/exp_log-inl.h"
#include "kernels/tiles/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

// What becomes of an element on its way: `along_terms` for a vector of terms l, l+1, … of one i,
// `along_width` for a vector of i, i+1, … at one term.

template <typename T>
struct Same {
  static constexpr bool kIdentity = true;
  template <class D, class V>
  HWY_INLINE V along_terms(D, V x, int, std::int64_t) const {
    return x;
  }
  template <class D, class V>
  HWY_INLINE V along_width(D, V x, int, std::int64_t) const {
    return x;
  }
};

// e^(x − shift). The difference is rounded; what the rounding lost goes into the exponential with
// it, so that the result is as good as exp itself (docs/methods/semiring.md).
template <typename T>
struct ExpShifted {
  static constexpr bool kIdentity = false;
  const T* shift;  // one for each i, padded

  template <class D, class V>
  HWY_INLINE V of(D d, V x, V s) const {
    const V difference = hn::Sub(x, s);
    const V back = hn::Sub(difference, x);  // about −s
    const V lost = hn::Sub(hn::Sub(x, hn::Sub(difference, back)), hn::Add(s, back));
    // Where the difference is −∞, so that `lost` is NaN, the result is 0 all the same.
    return exp_nonpositive(d, difference, lost);
  }
  template <class D, class V>
  HWY_INLINE V along_terms(D d, V x, int i, std::int64_t) const {
    return of(d, x, hn::Set(d, shift[i]));
  }
  template <class D, class V>
  HWY_INLINE V along_width(D d, V x, int i, std::int64_t) const {
    return of(d, x, hn::LoadU(d, shift + i));
  }
};

template <typename T>
struct Centred {
  static constexpr bool kIdentity = false;
  const T* centre;  // one for each term

  template <class D, class V>
  HWY_INLINE V along_terms(D d, V x, int, std::int64_t l) const {
    return hn::Sub(x, hn::LoadU(d, centre + l));
  }
  template <class D, class V>
  HWY_INLINE V along_width(D d, V x, int, std::int64_t l) const {
    return hn::Sub(x, hn::Set(d, centre[l]));
  }
};

// kBlock rows of contiguous terms become columns of a panel: panel[l·step + i] = rows[i][l].
template <typename T>
HWY_INLINE void copy_block_of_rows(const T* const* rows, std::int64_t terms, std::int64_t step,
                                   T* HWY_RESTRICT panel) {
  // Known to the compiler: the stores below do not change where rows begin.
  const T* r0 = rows[0];
  const T* r1 = rows[kBlock<T> > 1 ? 1 : 0];
  const T* r2 = rows[kBlock<T> > 2 ? 2 : 0];
  const T* r3 = rows[kBlock<T> > 2 ? 3 : 0];
  const auto transpose_while = [&](auto d, std::int64_t l) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (; l + lanes <= terms; l += lanes) {
      transpose_blocks(d, r0 + l, r1 + l, r2 + l, r3 + l, step, panel + l * step);
    }
    return l;
  };
  std::int64_t l = transpose_while(TwoBlocks<T>(), 0);
  l = transpose_while(Block<T>(), l);
  for (; l < terms; ++l) {
    for (int r = 0; r < kBlock<T>; ++r) panel[l * step + r] = rows[r][l];
  }
}

template <typename T>
void copy_rows(const T* const* rows, int count, std::int64_t terms, std::int64_t step,
               T* HWY_RESTRICT panel) {
  int i = 0;
  for (; i + kBlock<T> <= count; i += kBlock<T>) {
    copy_block_of_rows(rows + i, terms, step, panel + i);
  }
  for (; i < count; ++i) {
    for (std::int64_t l = 0; l < terms; ++l) panel[l * step + i] = rows[i][l];
  }
}

// Terms of a row that are staged at once, in a buffer that stays in the first-level cache.
constexpr std::int64_t kStage = 256;

// Row i of the panel, terms [begin, begin + count), contiguous and transformed: in place where it
// lies so, else in `buffer`.
template <typename T, class F>
HWY_INLINE const T* staged_row(const PanelSource<T>& x, const F& f, int i, std::int64_t begin,
                               std::int64_t count, T* HWY_RESTRICT buffer) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* row = x.data + i * x.width_stride + begin * x.term_stride;
  if (x.term_stride != 1) {
    for (std::int64_t l = 0; l < count; ++l) buffer[l] = row[l * x.term_stride];
    row = buffer;
  }
  if constexpr (F::kIdentity) return row;
  std::int64_t l = 0;
  for (; l + lanes <= count; l += lanes) {
    hn::StoreU(f.along_terms(d, hn::LoadU(d, row + l), i, begin + l), d, buffer + l);
  }
  const hn::CappedTag<T, 1> one;
  for (; l < count; ++l) {
    hn::StoreU(f.along_terms(one, hn::LoadU(one, row + l), i, begin + l), one, buffer + l);
  }
  return buffer;
}

// Terms contiguous, or nothing is: row by row through the transposition.
template <typename T, class F>
void pack_rows(const PanelSource<T>& x, const F& f, int width, T* HWY_RESTRICT panel) {
  HWY_ALIGN T buffers[kBlock<T>][kStage];
  for (std::int64_t begin = 0; begin < x.terms; begin += kStage) {
    const std::int64_t count = std::min(kStage, x.terms - begin);
    T* target = panel + begin * width;
    int i = 0;
    for (; i + kBlock<T> <= x.count; i += kBlock<T>) {
      const T* rows[kBlock<T>];
      for (int r = 0; r < kBlock<T>; ++r) {
        rows[r] = staged_row(x, f, i + r, begin, count, buffers[r]);
      }
      copy_block_of_rows(rows, count, width, target + i);
    }
    for (; i < x.count; ++i) {
      const T* row = staged_row(x, f, i, begin, count, buffers[0]);
      for (std::int64_t l = 0; l < count; ++l) target[l * width + i] = row[l];
    }
    for (; i < width; ++i) {
      for (std::int64_t l = 0; l < count; ++l) target[l * width + i] = 0;
    }
  }
}

// The width contiguous: term by term. A whole panel takes vectors that divide its width.
template <class D, typename T, class F>
void pack_terms(D d, const PanelSource<T>& x, const F& f, int width, T* HWY_RESTRICT panel) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const hn::CappedTag<T, 1> one;
  for (std::int64_t l = 0; l < x.terms; ++l) {
    const T* from = x.data + l * x.term_stride;
    T* to = panel + l * width;
    int i = 0;
    for (; i + lanes <= x.count; i += lanes) {
      hn::StoreU(f.along_width(d, hn::LoadU(d, from + i), i, l), d, to + i);
    }
    for (; i < x.count; ++i) {
      hn::StoreU(f.along_width(one, hn::LoadU(one, from + i), i, l), one, to + i);
    }
    for (; i < width; ++i) to[i] = 0;
  }
}

template <typename T, class F>
void pack(const PanelSource<T>& x, const F& f, int width, T* panel) {
  const hn::ScalableTag<T> d;
  if (x.width_stride != 1) return pack_rows(x, f, width, panel);
  if (width % static_cast<int>(hn::Lanes(d)) == 0) return pack_terms(d, x, f, width, panel);
  pack_terms(Block<T>(), x, f, width, panel);
}

template <typename T>
void copy(const PanelSource<T>& x, int width, T* panel) {
  pack(x, Same<T>{}, width, panel);
}
template <typename T>
void copy_exp(const PanelSource<T>& x, int width, const T* shift, T* panel) {
  pack(x, ExpShifted<T>{shift}, width, panel);
}
template <typename T>
void copy_centred(const PanelSource<T>& x, int width, const T* centre, T* panel) {
  pack(x, Centred<T>{centre}, width, panel);
}

template <typename T>
void copy_replicated(const PanelSource<T>& x, int width, int replicate, T* HWY_RESTRICT panel) {
  for (std::int64_t l = 0; l < x.terms; ++l) {
    for (int i = 0; i < width; ++i) {
      const T value = i < x.count ? x.data[i * x.width_stride + l * x.term_stride] : T{0};
      std::fill_n(panel + (l * width + i) * replicate, replicate, value);
    }
  }
}

// 0·x is NaN for every x that is not finite, so one sum says whether there is anything to look for.
template <typename T>
std::uint8_t flags(const T* panel, std::int64_t size) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d), other = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    sum = hn::MulAdd(hn::LoadU(d, panel + i), hn::Zero(d), sum);
    other = hn::MulAdd(hn::LoadU(d, panel + i + lanes), hn::Zero(d), other);
  }
  T rest = 0;
  for (; i < size; ++i) rest += panel[i] * 0;
  if (hn::AllTrue(d, hn::Eq(hn::Add(sum, other), hn::Zero(d))) && rest == 0) return 0;
  unsigned found = 0;
  for (i = 0; i < size; ++i) {
    const T x = panel[i];
    if (x != x) found |= kHasNan;
    if (x == std::numeric_limits<T>::infinity()) found |= kHasPlusInf;
    if (x == -std::numeric_limits<T>::infinity()) found |= kHasMinusInf;
  }
  return static_cast<std::uint8_t>(found);
}

template <typename T>
constexpr PackKernels<T> kTable{copy<T>,     copy_rows<T>,    copy_replicated<T>,
                                copy_exp<T>, copy_centred<T>, flags<T>};

const PackKernels<float>* pack_kernels_f32() { return &kTable<float>; }
const PackKernels<double>* pack_kernels_f64() { return &kTable<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

ASSAY_DISPATCH(PackKernels, pack_kernels);

}  // namespace assay::kernels
#endif
