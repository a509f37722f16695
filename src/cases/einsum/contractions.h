// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contractions of einsum_pair and einsum_network, by name. A point of these names one; its
// expression and extents follow. python/assay_worker/einsum.py has the same table, held to this one
// by a test.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "cases/einsum/oracle/plain_loops.h"
#include "tensor/tensor.h"

namespace assay::cases::einsum {

struct Contraction {
  std::string name;
  std::string expression;             // one letter for each label, an explicit output
  std::vector<std::int64_t> extents;  // of the labels in order of appearance
  double flop = 0;                    // the fewest that any order of pairwise steps needs
  PlainPath path;                     // an order that needs about as many: the oracle's

  std::vector<std::string> terms() const;
  std::string output() const;
  std::map<char, std::int64_t> extent_of() const;
};

// Of two terms: a product and, where something is summed, an addition for each combination of
// labels.
double flop_of_pair(const Contraction& pair);

const std::vector<Contraction>& pair_contractions();
const std::vector<Contraction>& network_contractions();
// The cases that contract, and their tables; empty for the one whose points say all.
struct ContractionTable {
  const char* name;
  const std::vector<Contraction>* contractions;
};
const std::vector<ContractionTable>& contraction_tables();

// A canonical point of a case, read: it names a contraction of the table, or spells one out
// (einsum_expression).
struct ContractionPoint {
  Contraction contraction;
  DType dtype = DType::kF32;
  std::int64_t seed = 0;
  std::vector<Shape> shapes;
  Shape output;
  double bytes = 0;               // of operands and result
  double product_of_extents = 1;  // what plain loops over all labels do

  ContractionPoint(const Json& point, const std::vector<Contraction>& table);
};

// Operand i of set `set` is uniform on [−√3, √3) from the stream "op<i>".
std::vector<Tensor> make_operands(const ContractionPoint& point);
void fill_operands(const ContractionPoint& point, int set, std::vector<Tensor>& operands);

}  // namespace assay::cases::einsum
