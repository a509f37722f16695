// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/point.h"

#include <cmath>

#include "base/error.h"
#include "lab/record/point.h"

namespace assay::cases::chip {

namespace ch = assay::chip;

GemmPoint::GemmPoint(const Json& point) : topology(ch::default_topology()) {
  options.shape = {lab::point_int(point, "m"), lab::point_int(point, "k"),
                   lab::point_int(point, "n")};
  options.variant = ch::parse_variant(lab::point_word(point, "variant"));
  options.seed = static_cast<std::uint64_t>(lab::point_int(point, "seed"));
  if (point.contains("depth")) topology.pe.buffer_depth = lab::point_int(point, "depth");
  if (point.contains("pes")) {
    const auto pes = lab::point_int(point, "pes");
    const auto side = std::llround(std::sqrt(static_cast<double>(pes)));
    if (side * side != pes) fail("pes must be a square number, got {}", pes);
    topology = ch::with_grid(topology, side, side);
  }
}

std::uint64_t data_seed(const Json& point, int set) {
  constexpr std::uint64_t kSets = 8;  // more than there are
  return static_cast<std::uint64_t>(lab::point_int(point, "seed")) * kSets +
         static_cast<std::uint64_t>(set);
}

AllReducePoint::AllReducePoint(const Json& point) : topology(ch::default_topology()) {
  options.bytes = lab::point_int(point, "bytes");
  options.algorithm = ch::parse_algorithm(lab::point_word(point, "algorithm"));
  options.seed = data_seed(point, 0);
  const auto ranks = lab::point_int(point, "ranks");
  auto network = lab::point_word(point, "network");
  if (network == "torus") {
    auto rows = std::llround(std::floor(std::sqrt(static_cast<double>(ranks))));
    while (ranks % rows != 0) --rows;
    network = fmt::format("torus:{}x{}", rows, ranks / rows);
  }
  topology.network = ch::parse_network(network, ranks, topology.network);
}

}  // namespace assay::cases::chip
