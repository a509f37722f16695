// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/term_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/verify/term_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, TermKernels::kStep>;
using V = hn::Vec<D>;
constexpr int kRight = TermKernels::kRight;

void add_terms(const double* left, const double* right, std::int64_t terms, TermSums* sums) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V size[kRight], squares[kRight], bound[kRight], deviation_squares[kRight];
#pragma GCC unroll 4
  for (int j = 0; j < kRight; ++j)
    size[j] = squares[j] = bound[j] = deviation_squares[j] = hn::Zero(d);
  for (std::int64_t k = 0; k < terms; k += lanes) {
    const V x = hn::LoadU(d, left + k), xx = hn::LoadU(d, left + terms + k);
    const V off = hn::LoadU(d, left + 2 * terms + k), apart = hn::LoadU(d, left + 3 * terms + k);
#pragma GCC unroll 4
    for (int j = 0; j < kRight; ++j) {
      const V y = hn::LoadU(d, right + j * terms + k);
      const V yy = hn::Mul(y, y);
      size[j] = hn::MulAdd(x, y, size[j]);
      squares[j] = hn::MulAdd(xx, yy, squares[j]);
      bound[j] = hn::MulAdd(off, y, bound[j]);
      deviation_squares[j] = hn::MulAdd(apart, yy, deviation_squares[j]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kRight; ++j) {
    sums[j].size += hn::GetLane(hn::SumOfLanes(d, size[j]));
    sums[j].squares += hn::GetLane(hn::SumOfLanes(d, squares[j]));
    sums[j].bound += hn::GetLane(hn::SumOfLanes(d, bound[j]));
    sums[j].deviation_squares += hn::GetLane(hn::SumOfLanes(d, deviation_squares[j]));
  }
}

constexpr TermKernels kTerms{add_terms};
const TermKernels* term_table() { return &kTerms; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(term_table);
const TermKernels& term_kernels() { return *HWY_DYNAMIC_DISPATCH(term_table)(); }

}  // namespace assay::compiler
#endif
