// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people write: "bij,bjk->bik", and what it means for operands of given shapes.
//
// A label is a letter or {n} with an integer n ≥ 0; white space means nothing. "..." stands for
// axes without a name, aligned at the right. Without "->" the result has the labels that occur
// once, in the order A … Z, a … z, {0}, {1}, …, with the axes of "..." in front. A label may repeat
// in a term (its diagonal), occur in one term only (summed), and meet axes of extent 1 (broadcast).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace assay::einsum {

// A term is a list of symbols: kEllipsis, the code of a letter, or kFirstInteger + n.
using Symbol = std::int32_t;
inline constexpr Symbol kEllipsis = -1;
inline constexpr Symbol kFirstInteger = 256;
// Integer labels above this are refused: they are more likely extents in the wrong place.
inline constexpr std::int32_t kMaxIntegerLabel = 1 << 20;

struct Notation {
  std::vector<std::vector<Symbol>> inputs;
  std::optional<std::vector<Symbol>> output;  // absent: implicit
};

// Reads the text. Throws UserError naming the operand, the character and its place.
Notation parse_notation(std::string_view text);
// The interleaved form: one list of integer labels for each operand (−1 is the ellipsis), and one
// for the result if it is explicit. Throws UserError.
Notation integer_notation(std::span<const std::vector<std::int32_t>> inputs,
                          const std::optional<std::vector<std::int32_t>>& output);
// "ij,jk->ik": the notation as text that parse_notation reads back.
std::string to_string(const Notation& notation);

// Dense numbers of the labels of one problem: 0, 1, …
using Label = int;
inline constexpr int kMaxLabels = 512;
inline constexpr int kMaxOperands = 512;

// A contraction with every label and extent known.
struct Problem {
  std::vector<std::string> names;         // of the labels: "i", "{7}", "...[-1]"
  std::vector<std::int64_t> extents;      // of the labels, broadcasts resolved
  std::vector<std::vector<Label>> terms;  // the label of each axis of each operand
  std::vector<Label> output;              // the label of each axis of the result

  Shape output_shape() const;
  bool has_zero_extent() const;
  // The terms and the result with the names of the labels, ellipses spelled out.
  std::string expression() const;
};

// Gives labels their extents. Throws UserError naming operand, axis, label and both sizes when they
// disagree, and whatever else is wrong: the count or rank of operands, a repeated or unknown label
// of the result, axes of "..." that the result leaves out, too many labels.
Problem bind_labels(const Notation& notation, std::span<const Shape> shapes);

}  // namespace assay::einsum
