// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/gett_terms.h"

namespace assay::einsum {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t by) { return (x + by - 1) / by; }

auto nearest(std::vector<Loop>& loops, std::int64_t Loop::*stride) {
  return std::ranges::min_element(loops, {},
                                  [stride](const Loop& loop) { return std::abs(loop.*stride); });
}

// Takes the loop with the smallest stride out of the list.
Loop take_nearest(std::vector<Loop>& loops, std::int64_t Loop::*stride) {
  const auto at = nearest(loops, stride);
  if (at == loops.end()) return {};
  const Loop loop = *at;
  loops.erase(at);
  return loop;
}

// How many of the label that continues the run of `loop` on its side, which becomes the fastest of
// `rest`, make the run as long as wanted. 1 where there is none, or the run is long enough.
std::int64_t continue_run(std::vector<Loop>& rest, const Loop& loop, std::int64_t Loop::*stride,
                          std::int64_t wanted) {
  if (loop.*stride != 1 || loop.extent >= wanted) return 1;
  const auto next =
      std::ranges::find_if(rest, [&](const Loop& other) { return other.*stride == loop.extent; });
  if (next == rest.end()) return 1;
  std::rotate(next, next + 1, rest.end());
  return std::min(rest.back().extent, divide_up(wanted, loop.extent));
}

}  // namespace

TermOrder::TermOrder(std::vector<Loop> k, std::int64_t most, std::int64_t wanted)
    : rest_(std::move(k)) {
  const bool same = nearest(rest_, &Loop::a) == nearest(rest_, &Loop::b);
  p_ = take_nearest(rest_, &Loop::a);
  if (!same) q_ = take_nearest(rest_, &Loop::b);
  rests_ = iterations(rest_);
  std::int64_t together = continue_run(rest_, same ? p_ : q_, &Loop::b, wanted);
  if (together == 1) together = continue_run(rest_, p_, &Loop::a, wanted);
  // Even pieces, the longer side first, until the box is small enough.
  std::int64_t pieces_p = 1, pieces_q = 1;
  block_p_ = p_.extent;
  block_q_ = q_.extent;
  while (block_p_ * block_q_ > std::max<std::int64_t>(1, most / together)) {
    if (block_p_ >= block_q_) {
      block_p_ = divide_up(p_.extent, ++pieces_p);
    } else {
      block_q_ = divide_up(q_.extent, ++pieces_q);
    }
  }
  block_r_ = std::clamp<std::int64_t>(most / (block_p_ * block_q_), 1, rests_);
  block_r_ = divide_up(rests_, divide_up(rests_, block_r_));
}

TermBlock TermOrder::block_at(std::int64_t begin) const {
  TermBlock b{};
  const std::int64_t plane = p_.extent * q_.extent;
  b.r0 = begin / (block_r_ * plane) * block_r_;
  b.r = std::min(block_r_, rests_ - b.r0);
  begin -= b.r0 * plane;
  b.q0 = begin / (b.r * block_q_ * p_.extent) * block_q_;
  b.q = std::min(block_q_, q_.extent - b.q0);
  begin -= b.r * b.q0 * p_.extent;
  b.p0 = begin / (b.r * b.q * block_p_) * block_p_;
  b.p = std::min(block_p_, p_.extent - b.p0);
  return b;
}

}  // namespace assay::einsum
