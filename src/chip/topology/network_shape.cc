// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The network as a word of the command line: "ring", "torus:4x4".

#include <charconv>

#include "chip/topology/topology.h"

namespace assay::chip {

NetworkTopology parse_network(std::string_view text, std::int64_t ranks,
                              const NetworkTopology& base) {
  NetworkTopology network = base;
  network.links.clear();
  network.rows = network.columns = network.leaves = network.ranks_per_leaf = network.spines = 0;
  network.switches = 0;
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  std::vector<std::int64_t> sizes;
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const char* at = rest.data();
  const char* const end = at + rest.size();
  while (at != end) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    const bool more = next != end && *next == 'x' && next + 1 != end;
    if (error != std::errc() || size < 1 || size > kMaxRanks || (next != end && !more)) {
      sizes.clear();
      break;
    }
    sizes.push_back(size);
    at = next == end ? end : next + 1;
  }
  const auto is = [&](NetworkKind which, std::size_t dimensions) {
    const bool plain = dimensions == 0 && colon == std::string_view::npos;
    if (kind != name_of(which) || !(plain || (dimensions > 0 && sizes.size() == dimensions))) {
      return false;
    }
    network.kind = which;
    return true;
  };
  std::int64_t product = ranks;
  if (is(NetworkKind::kRing, 0) || is(NetworkKind::kSwitch, 0) ||
      is(NetworkKind::kFullyConnected, 0)) {
    if (ranks == 0) fail("the network '{}' needs a number of ranks", text);
  } else if (is(NetworkKind::kMesh, 2) || is(NetworkKind::kTorus, 2)) {
    network.rows = sizes[0];
    network.columns = sizes[1];
    product = sizes[0] * sizes[1];
  } else if (is(NetworkKind::kFatTree, 3)) {
    network.leaves = sizes[0];
    network.ranks_per_leaf = sizes[1];
    network.spines = sizes[2];
    product = sizes[0] * sizes[1];
  } else {
    fail(
        "expected a network ring, fully_connected, switch, mesh:RxC, torus:RxC or "
        "fat_tree:LEAVESxRANKSxSPINES, got '{}'",
        text);
  }
  network.ranks = ranks == 0 ? product : ranks;
  if (network.ranks != product) {
    fail("the network '{}' has {} ranks, asked for {}", text, product, ranks);
  }
  if (network.ranks < 2 || network.ranks > kMaxRanks) {
    fail("the number of ranks must be between 2 and {}, got {}", kMaxRanks, network.ranks);
  }
  return network;
}

}  // namespace assay::chip
