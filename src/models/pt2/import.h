// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Archives of torch.export as graphs.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/graph/given_sizes.h"
#include "compiler/graph/graph.h"
#include "models/pt2/archive.h"
#include "models/pt2/checks.h"
#include "tensor/view.h"

namespace assay::models::pt2 {

// One leaf of what forward() takes.
struct TakenLeaf {
  // Of numbers, sizes are whole and decide symbols; a real one is the graph's input, f64.
  enum class Kind : std::uint8_t { kTensor, kSize, kReal, kConstant };
  Kind kind = Kind::kTensor;
  std::string name;     // of a tensor and a real number: the graph's input
  compiler::Dim size;   // of a size: what it is
  std::string value{};  // of a constant, which is in the program already: as JSON, {"as_int": 3}
  std::string below{};  // of a size that can be negative: the symbol that is taken off
};
// What a size that is `value` says of the graph's symbols. Throws UserError that names it where one
// of them is outside of its interval, or something else already.
void bind_size(const TakenLeaf& leaf, std::int64_t value, const compiler::GivenSizes& sizes,
               compiler::Bindings& symbols);
// One leaf of what it gives back.
struct GivenLeaf {
  std::string output;      // of the graph; empty: None
  bool is_number = false;  // of Python, and no tensor
};

struct Imported {
  // Inputs: what the module's forward() takes, by torch's names; parameters, buffers and constants
  // by their names in the module. Outputs: "output", or "output.0", "output.key", … as the tree of
  // results has it; what is written in place replaces the input of the same name.
  compiler::Graph graph;
  // Of the archive: a value for every input that forward() does not take. Valid while it lives.
  std::map<std::string, TensorView> stored;
  std::vector<TakenLeaf> arguments;  // in the order of forward()'s flat list
  std::vector<GivenLeaf> results;
  std::vector<Check> checks;  // what is to be looked at after every run
};

// Throws UserError, one line that names the file and what is wrong: all operators that are not
// covered at once, with how often each is called; a call whose arguments, shapes or dtypes make no
// sense, by the name of its result.
//
// torch looks at sizes 0 and 1 apart when it exports, writes 2 as the least of all others, and runs
// with them as well: `from_one` takes such a least size as 1. (0 has no greatest element.) Who does
// that looks at sizes before each run (compiler/graph/graph_sizes.h).
Imported import_archive(const Archive& archive, bool from_one = false);

// The same for a program that is in no file. `name` stands for the file in what is refused; `find`
// gives the tensors that the program has itself, null for one that it has not.
using FindTensor = std::function<const TensorView*(const std::string&)>;
Imported import_program(const JsonField& program, const std::string& name, const FindTensor& find,
                        bool from_one = false);

// A symbol without an upper end in the archive ends here, and numbers that are no sizes there.
inline constexpr std::int64_t kGreatestSize = std::int64_t{1} << 20;
inline constexpr std::int64_t kGreatestNumber = std::int64_t{1} << 53;

}  // namespace assay::models::pt2
