// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/checks.h"

#include <numeric>

#include "base/error.h"
#include "models/pt2/aten/forms.h"

namespace assay::models::pt2 {
namespace {

using compiler::Dim;
using compiler::GraphTensor;

// The least or the greatest of all elements, as i64; of none, one that nothing is wrong with.
GraphTensor extreme(const GraphTensor& x, bool is_greatest) {
  constexpr double kFar = 0x1p62;
  auto wide = x.cast(DType::kI64);
  if (product(wide.shape()).range(x.graph().symbols()).low < 1) {
    wide = pad(wide.flatten(), 0, 0, 1, is_greatest ? -kFar : kFar);
  }
  std::vector<std::size_t> axes(wide.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return is_greatest ? max_over(wide, axes, false) : min_over(wide, axes, false);
}

}  // namespace

std::string violation(const Check& check, std::int64_t least, std::int64_t greatest,
                      const compiler::Bindings& symbols) {
  if (check.kind == Check::Kind::kNonzero) {
    return least == 0 ? fmt::format("{}: {}", check.call, check.of_zero) : "";
  }
  const auto end = check.end.at(symbols);
  const bool is_low = least < check.low.at(symbols);
  if (!is_low && greatest < end) return {};
  return fmt::format("{}: index {} is outside of an axis of size {}", check.call,
                     is_low ? least : greatest, end);
}

bool Checks::is_new(const GraphTensor& x, const std::string& what) {
  return known_.insert(fmt::format("{} {} {}", x.node(), x.view().to_string(), what)).second;
}

void Checks::add_index(const GraphTensor& index, const Dim& low, const Dim& end) {
  if (!is_new(index, fmt::format("from {} to {}", low.to_string(), end.to_string()))) return;
  asked_.push_back({{.kind = Check::Kind::kIndex, .call = call_, .low = low, .end = end},
                    {extreme(index, false), extreme(index, true)}});
}

void Checks::add_nonzero(const GraphTensor& x, const std::string& of_zero) {
  if (!is_new(x, of_zero)) return;
  asked_.push_back({{.kind = Check::Kind::kNonzero, .call = call_, .of_zero = of_zero},
                    {extreme(nonzero(x), false)}});
}

std::vector<Check> Checks::finish() {
  std::vector<Check> all;
  for (auto& [check, extremes] : asked_) {
    // No name of torch's has a blank.
    check.least = fmt::format("check {} least", all.size());
    extremes[0].set_output(check.least);
    if (extremes.size() > 1) {
      check.greatest = fmt::format("check {} greatest", all.size());
      extremes[1].set_output(check.greatest);
    }
    all.push_back(std::move(check));
  }
  asked_.clear();
  return all;
}

}  // namespace assay::models::pt2
