// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/algebra.h"

#include <array>
#include <string>

namespace assay::semiring {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 6> kNames = {"real",     "log",       "max_plus",
                                                    "min_plus", "euclidean", "boolean"};
static_assert(kNames.size() == std::size(kAllAlgebras));

}  // namespace

std::string_view name_of(Algebra algebra) {
  const auto index = static_cast<std::size_t>(algebra);
  check(index < kNames.size(), "an Algebra is one of its enumerators");
  return kNames[index];
}

Algebra algebra_from_name(std::string_view name, std::string_view what) {
  std::string known;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Algebra>(i);
    known.append(i == 0 ? "" : ", ").append(kNames[i]);
  }
  fail("{}: expected an algebra ({}), got '{}'", what, known, name);
}

}  // namespace assay::semiring
