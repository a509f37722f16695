// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/chip_network.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace assay::cases::chip {
namespace {

// +1 or -1: the way from a to b on a ring that is no longer than the other.
std::int64_t way(std::int64_t a, std::int64_t b, std::int64_t size) {
  const std::int64_t up = ((b - a) % size + size) % size;
  return 2 * up <= size ? 1 : -1;
}

}  // namespace

ChipNetwork::ChipNetwork(std::string_view kind, std::int64_t ranks) : ranks_(ranks) {
  for (const std::string_view known : {"ring", "torus", "switch", "fully_connected"}) {
    if (kind == known) kind_ = known;
  }
  if (kind_.empty()) fail("no such network: '{}'", kind);
  for (std::int64_t r = 1; r * r <= ranks; ++r) {
    if (ranks % r == 0) rows_ = r;
  }
  columns_ = ranks / rows_;
}

std::vector<ChipNetwork::Link> ChipNetwork::route(std::int64_t from, std::int64_t to) const {
  if (is("fully_connected")) return {{from, to}};
  if (is("switch")) return {{from, ranks_}, {ranks_, to}};
  std::vector<Link> links;
  const auto walk = [&](std::int64_t& at, std::int64_t target, std::int64_t size, auto node) {
    const std::int64_t step = way(at, target, size);
    while (at != target) {
      const std::int64_t next = (at + step + size) % size;
      links.emplace_back(node(at), node(next));
      at = next;
    }
  };
  if (is("ring")) {
    walk(from, to, ranks_, [](std::int64_t at) { return at; });
    return links;
  }
  std::int64_t row = from / columns_, column = from % columns_;
  walk(column, to % columns_, columns_, [&](std::int64_t at) { return row * columns_ + at; });
  walk(row, to / columns_, rows_, [&](std::int64_t at) { return at * columns_ + column; });
  return links;
}

std::int64_t ChipNetwork::degree() const {
  std::set<std::int64_t> neighbours;
  for (std::int64_t to = 1; to < ranks_; ++to) neighbours.insert(route(0, to).front().second);
  return static_cast<std::int64_t>(neighbours.size());
}

std::int64_t ChipNetwork::nearest() const {
  auto least = std::ssize(route(0, 1));
  for (std::int64_t to = 2; to < ranks_; ++to) least = std::min(least, std::ssize(route(0, to)));
  return least;
}

std::int64_t ChipNetwork::farthest() const {
  std::int64_t most = 0;
  for (std::int64_t to = 1; to < ranks_; ++to) most = std::max(most, std::ssize(route(0, to)));
  return most;
}

}  // namespace assay::cases::chip
