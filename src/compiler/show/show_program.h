// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs for people: a table, a drawing, a trace.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "compiler/program/program.h"

namespace assay::compiler {

// What a machine can do at most, for predictions.
struct MachineLimits {
  double bytes_per_second = 0, operations_per_second = 0;
};
struct ProgramFacts {
  Bindings symbols;
  std::optional<MachineLimits> limits;  // predicted times
  std::vector<double> step_seconds;     // measured, for each step; empty: not measured
  std::vector<std::string> units;       // what multiplies, for each kernel; empty: not known
};

// One line for each kernel: how often it runs, what it reads and writes, its time predicted and
// measured, the unit that multiplies, the rules that made it; then the sum, the arena, and layers
// that repeat.
std::string explained(const Program& program, const ProgramFacts& facts);
Json explained_as_json(const Program& program, const ProgramFacts& facts);
// For Graphviz: steps as boxes, buffers between them.
std::string as_dot(const Program& program);
// For Perfetto and chrome://tracing: a slice for each step of one call.
std::string as_trace(const Program& program, const ProgramFacts& facts);

// How often a list of kernels stands in a row, and how long it is: the longest piece that repeats
// three times or more.
struct Repeat {
  std::size_t first = 0, length = 0, count = 0;
};
std::optional<Repeat> repeat_of(const Program& program);

}  // namespace assay::compiler
