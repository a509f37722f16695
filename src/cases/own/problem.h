// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mathematics of a case of one's own: what goes in, what comes out. Runner and workers share
// it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cases/own/expression.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace assay::cases::own {

inline constexpr std::size_t kMostAxes = 16;
inline constexpr std::uint64_t kLargestBound = std::uint64_t{1} << 32;  // of random integers

// A tensor whose form follows from a point.
struct TensorSpec {
  std::string name;
  std::vector<Expression> shape;
  std::string dtype;  // the name of a dtype, or of a parameter whose value is one

  // Both throw UserError: what an expression says, an extent below 1, more elements than any
  // machine has, a dtype that NumPy's files have not, complex ones.
  Shape shape_at(const Json& point) const;
  DType dtype_at(const Json& point) const;
  // Bytes of its elements.
  double bytes_at(const Json& point) const;
};

// Where the values of an input come from.
enum class Fill {
  kUniform,      // between low and high
  kNormal,       // mean and deviation
  kBelow,        // integers from 0 to below − 1
  kPermutation,  // of 0 … n − 1
  kConstant,     // one value
  kFile,         // .npy
};

struct InputSpec : TensorSpec {
  Fill fill = Fill::kUniform;
  double low = 0, high = 1;
  double mean = 0, deviation = 1;
  Expression below;
  double constant = 0;
  std::string file;  // absolute

  // Whether every input set has the same values.
  bool is_fixed() const { return fill == Fill::kConstant || fill == Fill::kFile; }
  // The name of its random stream: its own, or where that is longer than a stream's may be, seven
  // digits of its hash.
  std::string stream() const;
  // Throws UserError when the values make no sense for the dtype and shape at this point.
  void check_at(const Json& point) const;
};

struct Problem {
  std::vector<InputSpec> inputs;
  std::vector<TensorSpec> outputs;
};

std::string_view name_of(Fill fill);  // as in a case file: "uniform", "normal", …
Fill fill_from_name(std::string_view name, std::string_view what);

Json problem_to_json(const Problem& problem);
// Throws UserError naming `what`.
Problem problem_from_json(const Json& json, std::string_view what);

}  // namespace assay::cases::own
