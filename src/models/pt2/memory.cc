// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/memory.h"

#include "base/error.h"

namespace assay::models::pt2 {

using compiler::GraphTensor;
using compiler::View;

Held Memory::hold(const GraphTensor& value) {
  // A view that repeats or skips elements of a node cannot be written through.
  const auto kept = expects_writes_ ? value.contiguous() : value;
  nodes_.push_back(kept.node());
  return {nodes_.size() - 1, kept.view()};
}

Held Memory::hold_view(const GraphTensor& value, const Held& of) {
  if (value.node() != nodes_.at(of.storage)) return hold(value);
  return {of.storage, value.view()};
}

GraphTensor Memory::read(const Held& held) const {
  return GraphTensor::of_node(*graph_, nodes_.at(held.storage), held.view);
}

GraphTensor Memory::whole(std::size_t storage) const {
  return GraphTensor::of_node(*graph_, nodes_.at(storage));
}

void Memory::write(const Held& held, const GraphTensor& value) {
  const auto before = whole(held.storage);
  const auto values = value.broadcast_to(held.view.shape);
  check(values.dtype() == before.dtype(), "a write keeps the dtype");
  const auto count = product(before.shape());
  if (held.view.is_contiguous() && product(held.view.shape) == count) {
    nodes_[held.storage] = values.contiguous().node();
    return;
  }
  for (std::size_t i = 0; i < held.view.rank(); ++i) {
    if (held.view.is_broadcast(i) && !held.view.shape[i].is(1)) {
      fail("a write through a view that repeats elements: {}", held.view.to_string());
    }
  }
  // The view of 0, 1, 2, … says where each element goes.
  const auto places =
      GraphTensor::of_node(*graph_, GraphTensor::iota(*graph_, count).node(), held.view);
  nodes_[held.storage] = scatter(before, places, values).node();
}

}  // namespace assay::models::pt2
