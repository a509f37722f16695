// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/mp2/mp2_synthetic.h"

#include "base/philox.h"

namespace assay::einsum {
namespace {

std::uint64_t splitmix64(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

}  // namespace

SyntheticMp2 synthetic_mp2(std::int64_t nocc, std::int64_t nvir, std::int64_t naux) {
  SyntheticMp2 s{Tensor(DType::kF64, Shape({nocc, nvir, naux})), {}, {}};
  const auto b = s.b.as<double>();
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 0.2 * (unit_interval(splitmix64(k)) - 0.5);
  for (std::int64_t i = 0; i < nocc; ++i) s.occupied.push_back(-0.5 - static_cast<double>(i) / 8);
  for (std::int64_t a = 0; a < nvir; ++a) s.virtuals.push_back(0.125 + static_cast<double>(a) / 16);
  return s;
}

}  // namespace assay::einsum
