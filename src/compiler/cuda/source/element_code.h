// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values of a region as statements.

#include <optional>
#include <string>
#include <vector>

#include "compiler/cuda/source/names.h"

namespace assay::compiler::cuda {

// Where elements are: names of the indices of all axes but the last, of the first of `lanes`
// neighbours along the last.
struct At {
  std::vector<std::string> row;
  std::string column;
  int lanes = 1;
};

class ElementCode {
 public:
  // `first`: what value 0 is, of an epilogue. All that is given lives as long.
  ElementCode(const Kernel& kernel, const Region& region, const SymbolNames& names,
              std::optional<std::string> first = std::nullopt);

  // How many reductions there are on the way to a value, one on top of another.
  int depth(std::uint32_t value) const { return depths_[value]; }
  int most_depth() const { return most_depth_; }
  bool is_reduction(std::uint32_t value) const;

  // Values of rows of that depth, those that are reduced left out: scalars v<number>.
  std::string row_values(int depth, const At& at) const;
  // Elements v<number>[lanes] of what the numbers are computed of, themselves included; values of
  // rows are there.
  std::string elements(const std::vector<std::uint32_t>& numbers, const At& at) const;
  // What is stored of elements, or of rows.
  std::string stores(bool of_row, const At& at) const;
  std::vector<std::uint32_t> stored_elements() const;
  // Reductions whose operand has that depth.
  std::vector<std::uint32_t> reductions(int depth) const;

 private:
  // Statements for a value, whose operands are `lane` of arrays, or scalars.
  std::string scalar(std::uint32_t number, const At& at, const std::string& to,
                     const std::string& lane) const;
  std::string expression(const Region::Value& value, const std::vector<std::string>& x) const;
  std::string gathered(const Region::Value& value, const std::string& index,
                       const std::string& to) const;
  std::string cast(DType from, DType to, const std::string& x) const;

  const Kernel& kernel_;
  const Region& region_;
  const SymbolNames& names_;
  std::optional<std::string> first_;
  std::vector<int> depths_;
  int most_depth_ = 0;
};

}  // namespace assay::compiler::cuda
