// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// torch refuses an index outside of its axis, a whole number divided by 0 and what a program itself
// asserts of its tensors, when it meets them. Graphs go on with something: the nearest index
// inside, 0. So that nothing of that is taken for a result, a program says by outputs of its own
// what it met, and whoever runs it looks at them.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/graph_tensor.h"

namespace assay::models::pt2 {

struct Check {
  enum class Kind : std::uint8_t { kIndex, kNonzero };
  Kind kind = Kind::kIndex;
  std::string call;  // "'embedding' (aten.embedding.default)"
  // Outputs, i64 without axes: the least and the greatest index. Of what must not be 0 there is no
  // greatest, and the least is 0 where any element is.
  std::string least, greatest;
  compiler::Dim low, end;  // low ≤ index < end
  std::string of_zero;     // what is wrong where there is a 0
};

// What is wrong with the values of these outputs; empty where nothing is.
std::string violation(const Check& check, std::int64_t least, std::int64_t greatest,
                      const compiler::Bindings& symbols);

// Those of a program, as its calls ask for them.
class Checks {
 public:
  // The call that asks from here on.
  void begin_call(std::string call) { call_ = std::move(call); }
  void add_index(const compiler::GraphTensor& index, const compiler::Dim& low,
                 const compiler::Dim& end);
  void add_nonzero(const compiler::GraphTensor& x, const std::string& of_zero);
  // Sets the outputs.
  std::vector<Check> finish();

 private:
  struct Asked {
    Check check;
    std::vector<compiler::GraphTensor> extremes;  // least, greatest
  };
  // Whether nobody has asked for the same.
  bool is_new(const compiler::GraphTensor& x, const std::string& what);

  std::string call_;
  std::vector<Asked> asked_;
  std::set<std::string> known_;
};

}  // namespace assay::models::pt2
