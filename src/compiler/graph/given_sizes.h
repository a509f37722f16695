// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph's symbols are, as what is given says.

#include <map>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "tensor/shape.h"

namespace assay::compiler {

class GivenSizes {
 public:
  // Throws UserError where an extent overflows at numbers as small as 31.
  explicit GivenSizes(const Graph& graph);

  // Adds to `known` what the shape of an input decides: an extent with one symbol that it is linear
  // in (s, 2*s, s + 3) does where there is a whole number for it; other extents say nothing. Throws
  // UserError that names the input where a symbol is outside of its interval, or is something else
  // already.
  void add_shape(const std::string& input, const Shape& shape, Bindings& known) const;
  // The same by a number: `by` is who says so.
  void add(const std::string& symbol, std::int64_t value, const std::string& by,
           Bindings& known) const;
  // By a number that an expression is, as by an extent.
  void add_value(const Dim& size, std::int64_t value, const std::string& by, Bindings& known) const;
  // The graph's, with their intervals.
  const Symbols& symbols() const { return symbols_; }

 private:
  struct Line {  // extent = first + step · symbol
    std::size_t axis = 0;
    std::string symbol;
    std::int64_t first = 0, step = 0;
  };
  static bool is_line(const Dim& extent, Line& line);
  void add_line(const Line& line, std::int64_t extent, const std::string& by,
                Bindings& known) const;

  Symbols symbols_;
  std::map<std::string, std::vector<Line>> lines_;  // by input
};

}  // namespace assay::compiler
