// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Archives of torch.export as graphs.

#include <map>
#include <memory>
#include <string>

#include "compiler/graph/graph.h"
#include "models/pt2/archive.h"
#include "tensor/view.h"

namespace assay::models::pt2 {

struct Imported {
  // Inputs: what the module's forward() takes, by torch's names; parameters, buffers and constants
  // by their names in the module. Outputs: "output", or "output.0", "output.key", … as the tree of
  // results has it; what is written in place replaces the input of the same name.
  compiler::Graph graph;
  // Of the archive: a value for every input that forward() does not take. Valid while it lives.
  std::map<std::string, TensorView> stored;
  // Symbols that forward() takes as whole numbers: the name of the argument.
  std::map<std::string, std::string> symbol_arguments;
};

// Throws UserError, one line that names the file and what is wrong: all operators that are not
// covered at once, with how often each is called; a call whose arguments, shapes or dtypes make no
// sense, by the name of its result.
Imported import_archive(const Archive& archive);

// A symbol without an upper end in the archive ends here.
inline constexpr std::int64_t kGreatestSize = std::int64_t{1} << 20;

}  // namespace assay::models::pt2
