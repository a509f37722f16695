// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order in which a packed contraction walks its summed indices.
//
// The two operands rarely have the same summed label contiguous: in `abcd,dbea->ec` it is d on the
// left and a on the right. Walking one of them in order would read the other a line for each
// element. So the terms of a block are a box: a range of the left's label (p), times a range of the
// right's (q), times some combinations of the other labels (r). Both sides are read along their own
// label, and the box is small enough for the lines to stay in cache.

#include <cstdint>
#include <vector>

#include "einsum/labels/layout.h"

namespace assay::einsum {

// Terms r ∈ [r0, r0 + r), p ∈ [p0, p0 + p), q ∈ [q0, q0 + q), in this order, q fastest: the right
// panel is then written as it is read. It is the wider one, and terms p apart in it would often be
// whole pages apart, which few of a cache's sets hold.
struct TermBlock {
  std::int64_t r0, r, q0, q, p0, p;
  std::int64_t terms() const { return r * q * p; }
};

class TermOrder {
 public:
  // Blocks of at most `most` terms; `k` are the summed loops, strides a (left) and b (right). Runs
  // of fewer than `wanted` contiguous elements, each perhaps on a page of its own, are made longer
  // by the label that lies next to them, if there is one.
  TermOrder(std::vector<Loop> k, std::int64_t most, std::int64_t wanted);

  // The block whose first term is number `begin`. Blocks follow one another without gaps.
  TermBlock block_at(std::int64_t begin) const;

  const Loop& p() const { return p_; }
  const Loop& q() const { return q_; }  // of extent 1 where both sides run along p
  const std::vector<Loop>& rest() const { return rest_; }

 private:
  Loop p_, q_;
  std::vector<Loop> rest_;
  std::int64_t rests_ = 1;
  std::int64_t block_p_ = 1, block_q_ = 1, block_r_ = 1;
};

}  // namespace assay::einsum
