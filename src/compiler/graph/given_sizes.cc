// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/given_sizes.h"

#include <set>

#include "base/error.h"

namespace assay::compiler {

GivenSizes::GivenSizes(const Graph& graph) : symbols_(graph.symbols()) {
  for (const auto id : graph.inputs()) {
    const auto& node = graph.node(id);
    auto& lines = lines_[node.name];
    for (std::size_t axis = 0; axis < node.shape.size(); ++axis) {
      if (Line line{.axis = axis}; is_line(node.shape[axis], line)) lines.push_back(line);
    }
  }
}

bool GivenSizes::is_line(const Dim& extent, Line& line) {
  std::set<std::string> symbols;
  extent.add_symbols(symbols);
  if (symbols.size() != 1) return false;
  line.symbol = *symbols.begin();
  // From 16 on, so that quotients and remainders by small numbers do not look linear.
  const auto at = [&](std::int64_t value) { return extent.at({{line.symbol, value}}); };
  const auto first = at(16), second = at(17), third = at(18), last = at(31);
  // What is further out is no size, and differences would not fit.
  constexpr std::int64_t kFar = std::int64_t{1} << 56;
  for (const auto value : {first, second, third, last}) {
    if (value < -kFar || value > kFar) return false;
  }
  line.step = second - first;
  line.first = first - 16 * line.step;
  return line.step != 0 && third - second == line.step && last - first == 15 * line.step;
}

void GivenSizes::add_line(const Line& line, std::int64_t extent, const std::string& by,
                          Bindings& known) const {
  if ((extent - line.first) % line.step == 0) {
    add(line.symbol, (extent - line.first) / line.step, by, known);
  }
}

void GivenSizes::add_shape(const std::string& input, const Shape& shape, Bindings& known) const {
  const auto lines = lines_.find(input);
  if (lines == lines_.end()) return;
  for (const auto& line : lines->second) {
    if (line.axis < shape.rank()) add_line(line, shape[line.axis], input, known);
  }
}

void GivenSizes::add_value(const Dim& size, std::int64_t value, const std::string& by,
                           Bindings& known) const {
  if (Line line; is_line(size, line)) add_line(line, value, by, known);
}

void GivenSizes::add(const std::string& symbol, std::int64_t value, const std::string& by,
                     Bindings& known) const {
  const auto declared = symbols_.find(symbol);
  if (declared == symbols_.end()) return;
  const auto [low, high] = declared->second;
  if (value < low || value > high) {
    fail("'{}' makes {} {}, which is from {} to {}", by, symbol, value, low, high);
  }
  const auto [at, is_new] = known.emplace(symbol, value);
  if (!is_new && at->second != value) {
    fail("{} is {} already, '{}' makes it {}", symbol, at->second, by, value);
  }
}

}  // namespace assay::compiler
