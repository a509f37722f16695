// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A network of chips as its definition says it: who is joined to whom, and which way a message
// takes. Nodes 0 … ranks-1 are chips; a switch is node `ranks`.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cases::chip {

class ChipNetwork {
 public:
  // "ring", "torus", "switch" or "fully_connected"; a torus has the most nearly square sides.
  ChipNetwork(std::string_view kind, std::int64_t ranks);

  std::int64_t ranks() const { return ranks_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  bool is(std::string_view kind) const { return kind_ == kind; }

  // Directed links of a message, as pairs of nodes. Ring and torus go the shorter way, upwards
  // where both are equal; a torus along the row first.
  using Link = std::pair<std::int64_t, std::int64_t>;
  std::vector<Link> route(std::int64_t from, std::int64_t to) const;

  // Links that leave a rank; of the routes between two ranks the shortest and the longest.
  std::int64_t degree() const;
  std::int64_t nearest() const;
  std::int64_t farthest() const;

 private:
  std::string_view kind_;
  std::int64_t ranks_, rows_ = 1, columns_ = 1;
};

}  // namespace assay::cases::chip
