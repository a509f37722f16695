// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How dtypes, dimensions and operands are called in generated sources.

#include <map>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler::cuda {

std::string storage_type(DType dtype);  // "bf16", "float", "b8"
std::string wide_type(DType dtype);     // what is computed with: "float", "bool"
std::string sum_type(DType dtype);      // what sums are kept in

// Symbols by position: y0, y1, … of those that the kernel mentions and of `others`, in the order of
// their names.
class SymbolNames {
 public:
  explicit SymbolNames(const Kernel& kernel, const std::vector<std::string>& others = {});
  const std::vector<std::string>& symbols() const { return symbols_; }
  std::string code(const Dim& dim) const;  // an i64 expression, in parentheses if need be
  std::string declarations() const;        // "const i64 y0 = symbols[0]; …"

 private:
  std::vector<std::string> symbols_;
};

// extern "C" __global__ void <name>(…) up to the brace, with all symbols declared. `most_threads`
// of a block. `least_blocks`: so many have room on a multiprocessor; with 1 the assembler may take
// as many registers as there are: it spends them on loads in flight, and else on none. `more`:
// arguments before the operands.
std::string entry_head(const Kernel& kernel, const SymbolNames& names, const std::string& name,
                       int most_threads, int least_blocks = 0, const std::string& more = {});
// The same as a part of a bundle: a function that is told where it runs.
std::string part_head(const Kernel& kernel, const SymbolNames& names, const std::string& name);
// "i64" offset of an element: of the view, at the indices.
std::string place(const SymbolNames& names, const View& view,
                  const std::vector<std::string>& indices);
// Indices `name`0 … of a flat, row-major number over `shape`; statements that declare them.
std::string unflattened(const SymbolNames& names, const std::vector<Dim>& shape,
                        const std::string& flat, const std::string& name);

}  // namespace assay::compiler::cuda
