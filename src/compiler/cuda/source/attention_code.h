// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all forms of attention share: which keys a query sees, how elements are reached.

#include <string>

#include "compiler/cuda/source/product_code.h"

namespace assay::compiler::cuda {

class AttentionCode {
 public:
  AttentionCode(const SourceMaker& maker, const Attention& work);

  DType accumulate() const { return accumulate_; }  // f32, of f64: f64
  std::string sums() const { return wide_type(accumulate_); }
  std::string exponential() const { return accumulate_ == DType::kF64 ? "exp" : "expf"; }
  std::string scale() const;         // a literal
  std::string scale_of_two() const;  // f32, where powers are of two
  Dim query_count() const;           // of all batches

  // Declares batches, queries, keys, width, columns, and INFINITE.
  std::string extents() const;
  // b0, b1, … of `batch`.
  std::string batch() const;
  // Sets begin and end: what the query of that number sees lies between them.
  std::string seen(const std::string& query) const;
  // An operand's element at (b0 …, row, column).
  std::string element(const Access& access, const std::string& row,
                      const std::string& column) const;
  // Its place among the operand's elements.
  std::string at(const Access& access, const std::string& row, const std::string& column) const;
  // Changes the score of a query and a key by the mask, if there is one.
  std::string masked(const std::string& query, const std::string& key,
                     const std::string& score) const;
  // Stores `total`.
  std::string stored(const std::string& query, const std::string& column) const;

 private:
  const SourceMaker& maker_;
  const Attention& work_;
  DType accumulate_;
  std::vector<Dim> batch_;
};

}  // namespace assay::compiler::cuda
