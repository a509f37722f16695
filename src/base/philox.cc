// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/philox.h"

#include "base/error.h"

namespace assay {
namespace {

// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11, table 2.
constexpr std::uint64_t kMultiplier0 = 0xD2E7470EE14C6C93;
constexpr std::uint64_t kMultiplier1 = 0xCA5A826395121157;
constexpr std::uint64_t kWeyl0 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kWeyl1 = 0xBB67AE8584CAA73B;
constexpr int kRounds = 10;

}  // namespace

Philox::Block Philox::block(std::uint64_t b) const {
  Block x = {b + 1, b + 1 == 0 ? 1u : 0u, 0, 0};
  auto [k0, k1] = key_;
  for (int round = 0; round < kRounds; ++round) {
    const auto p0 = static_cast<Uint128>(kMultiplier0) * x[0];
    const auto p1 = static_cast<Uint128>(kMultiplier1) * x[2];
    x = {static_cast<std::uint64_t>(p1 >> 64) ^ x[1] ^ k0, static_cast<std::uint64_t>(p1),
         static_cast<std::uint64_t>(p0 >> 64) ^ x[3] ^ k1, static_cast<std::uint64_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return x;
}

std::uint64_t stream_key(std::string_view name) {
  check(name.size() <= 8, "an input's stream name has at most eight characters");
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    key |= std::uint64_t{static_cast<unsigned char>(name[i])} << (8 * i);
  }
  return key;
}

}  // namespace assay
