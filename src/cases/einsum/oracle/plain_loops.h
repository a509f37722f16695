// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contractions by plain loops, for what providers are given and for what they are held to. Shares
// nothing with any of them: only tensors as they are stored.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace assay::cases::einsum {

// A row-major tensor whose axes are named by letters, each once.
struct PlainTensor {
  std::string labels;
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

// Indices along the axes of some letters, ascending; those of the others are all of them.
using PlainPart = std::map<char, std::vector<std::int64_t>>;

// That part of the tensor, in f64.
PlainTensor plain_tensor(std::string_view labels, const Tensor& tensor, const PlainPart& part = {});

// Σ x·y over all letters that are not in `kept`, which is the order of the result. Products and
// sums in long double where `precise`, else in f64.
PlainTensor plain_contract(const PlainTensor& x, const PlainTensor& y, const std::string& kept,
                           bool precise);

// Two nodes of a network at a time: terms are nodes 0 … n−1, results n, n+1, …
using PlainPath = std::vector<std::pair<int, int>>;

// The labels that each step of a path keeps: those of its operands that another node or `output`
// has. The last is `output` itself.
std::vector<std::string> kept_labels(const std::vector<std::string>& terms,
                                     const std::string& output, const PlainPath& path);

}  // namespace assay::cases::einsum
