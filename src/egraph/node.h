// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace assay::egraph {

// What a node does. Numbers are the user's (vocabulary.h gives them names).
using Operator = std::uint32_t;

// A class of equal nodes; also the node that began it. Nodes and classes share their numbers, so
// that every number is one particular term: its operator over the terms of its children.
using ClassId = std::uint32_t;
inline constexpr ClassId kNoClass = ~ClassId{0};

// A node: an operator over classes. The payload is part of what it is (the bits of a constant, the
// number of a name); 0 where an operator has none.
struct NodeView {
  Operator op = 0;
  std::uint64_t payload = 0;
  std::span<const ClassId> children;
};

}  // namespace assay::egraph
