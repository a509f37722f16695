// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/algebra.h"

#include "base/names.h"

namespace assay::semiring {
namespace {

constexpr auto kAlgebras = make_names<Algebra>({{Algebra::kReal, "real"},
                                                {Algebra::kLog, "log"},
                                                {Algebra::kMaxPlus, "max_plus"},
                                                {Algebra::kMinPlus, "min_plus"},
                                                {Algebra::kEuclidean, "euclidean"},
                                                {Algebra::kBoolean, "boolean"}});
static_assert(kAlgebras.entries.size() == std::size(kAllAlgebras));

}  // namespace

std::string_view name_of(Algebra algebra) { return kAlgebras[algebra]; }

Algebra algebra_from_name(std::string_view name, std::string_view what) {
  if (const auto algebra = kAlgebras.find(name)) return *algebra;
  fail("{}: expected an algebra ({}), got '{}'", what, kAlgebras.list(), name);
}

}  // namespace assay::semiring
