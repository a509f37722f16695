// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs of torch.export write in place, through views of views; graphs have values that never
// change. Here a tensor is a view of a storage, and a write gives the storage a new value: whoever
// reads it afterwards, through whichever view, reads that.

#include <cstddef>
#include <vector>

#include "compiler/graph/graph_tensor.h"

namespace assay::models::pt2 {

struct Held {
  std::size_t storage = 0;
  compiler::View view;  // of the elements of the storage's value
};

class Memory {
 public:
  explicit Memory(compiler::Graph& graph) : graph_(&graph) {}

  // Whether anything is written at all: where nothing is, values keep the views they come with.
  void expect_writes() { expects_writes_ = true; }

  Held hold(const compiler::GraphTensor& value);
  // What a view operation made of `of`: the same storage, unless it had to copy.
  Held hold_view(const compiler::GraphTensor& value, const Held& of);
  compiler::GraphTensor read(const Held& held) const;
  // Elements of `value`, which broadcasts to the view and has its dtype.
  void write(const Held& held, const compiler::GraphTensor& value);
  // What the whole storage is now.
  compiler::GraphTensor whole(std::size_t storage) const;

 private:
  compiler::Graph* graph_;
  std::vector<compiler::NodeId> nodes_;  // the value of each storage: its elements in order
  bool expects_writes_ = false;
};

}  // namespace assay::models::pt2
