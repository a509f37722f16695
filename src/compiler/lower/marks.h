// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// Which nodes were seen on a walk. The next walk begins without looking at them all.
class Marks {
 public:
  explicit Marks(std::size_t nodes) : last_(nodes) {}
  void begin() { ++walk_; }
  // False where it was marked on this walk already.
  bool mark(NodeId id) {
    const bool is_new = last_[id] != walk_;
    last_[id] = walk_;
    return is_new;
  }

 private:
  std::vector<std::uint32_t> last_;  // walk on which a node was seen
  std::uint32_t walk_ = 0;
};

}  // namespace assay::compiler
