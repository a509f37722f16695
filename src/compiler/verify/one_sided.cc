// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/one_sided.h"

#include <fmt/format.h>

#include <cmath>

#include "tensor/view.h"

namespace assay::compiler {

void OneSided::look(const std::string& output, const BoundedTensor& expected,
                    const TensorView& got) {
  if (got.dtype() != DType::kBF16 && got.dtype() != DType::kF16) return;
  constexpr std::int64_t kEnough = 64;
  const auto want = expected.value.view();
  std::int64_t smaller = 0, larger = 0, all = 0;
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double x = std::abs(value_as_double(want, i)), y = std::abs(value_as_double(got, i));
    if (std::isinf(expected.bounds[static_cast<std::size_t>(i)]) || !std::isfinite(x)) continue;
    ++all;
    smaller += y < x;
    larger += y > x;
  }
  if (all < kEnough) return;
  auto& trials = outputs_[output];
  const auto off = smaller + larger;
  if (off * 8 < all) {
    ++trials.neither;
  } else if (smaller * 20 > off * 19) {
    ++trials.towards;
  } else if (larger * 20 > off * 19) {
    ++trials.away;
  } else {
    ++trials.neither;
  }
}

std::optional<std::string> OneSided::mistake() const {
  for (const auto& [output, trials] : outputs_) {
    const auto [towards, away, neither] = trials;
    if (neither > 0 || (towards > 0 && away > 0) || towards + away < 2) continue;
    return fmt::format("output '{}': errors are within their bounds, but nearly all point {}",
                       output, towards > 0 ? "towards 0, as if cut off" : "away from 0");
  }
  return std::nullopt;
}

}  // namespace assay::compiler
