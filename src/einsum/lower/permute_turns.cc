// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower/permute_turns.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

namespace assay::einsum {
namespace {

constexpr std::int64_t kLeastSquares = 4;  // along p and q: runs of 64 bytes
// Of a block's lanes: an H200 turned 25 MB with an eighth of them in 49 µs, twice what boxes take.
constexpr double kLeastFilled = 0.25;

std::int64_t parts_of(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }

// The share of lanes that have a square.
double filled(std::int64_t squares, std::int64_t lanes) {
  return static_cast<double>(squares) / static_cast<double>(parts_of(squares, lanes) * lanes);
}

enum class Along : std::uint8_t { kNeither, kP, kQ };
struct Axis {
  std::int64_t count, a, c;
  std::int64_t distance;  // in the copy, from one block to the next
  Along along;
};

using LoopAt = std::span<const Loop>::iterator;

// The loop, other than `not_this`, whose steps lead from the end of one run of `of` to the next;
// the end if there is none.
LoopAt follower(std::span<const Loop> loops, LoopAt of, LoopAt not_this,
                std::int64_t Loop::*stride) {
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    if (loop != of && loop != not_this && (*loop).*stride == of->extent) return loop;
  }
  return loops.end();
}

}  // namespace

std::optional<PermuteTurns> permute_turns(std::span<const Loop> loops, std::size_t element_size) {
  const auto side = static_cast<std::int64_t>(16 / element_size);
  if (side < 2 || loops.size() > PermuteTurns::kMaxAxes) return std::nullopt;
  const auto p = std::ranges::find(loops, 1, &Loop::a), q = std::ranges::find(loops, 1, &Loop::c);
  if (p == loops.end() || q == loops.end() || p == q) return std::nullopt;
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    const bool begins_whole =
        (loop == p || loop->a % side == 0) && (loop == q || loop->c % side == 0);
    const bool ends_whole = (loop != p && loop != q) || loop->extent % side == 0;
    if (!begins_whole || !ends_whole) return std::nullopt;
  }
  PermuteTurns t;
  t.side = static_cast<int>(side);
  t.turns = element_size == 8 ? 2 : 1;  // as many bytes under way as with 4
  t.a_q = q->a;
  t.c_p = p->c;
  if (std::min(p->extent, q->extent) / side < kLeastSquares) return std::nullopt;
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max(), kMost = kInt / 512;
  const std::int64_t p_inner = p->extent / side, q_inner = q->extent / side;
  if (std::max(p_inner, q_inner) > kMost) return std::nullopt;
  auto after_p = follower(loops, p, q, &Loop::a), after_q = follower(loops, q, p, &Loop::c);
  if (after_q == after_p) (p_inner < q_inner ? after_q : after_p) = loops.end();
  if (after_p != loops.end() && after_p->extent > kMost / p_inner) after_p = loops.end();
  if (after_q != loops.end() && after_q->extent > kMost / q_inner) after_q = loops.end();
  const auto times = [&](auto loop) { return loop == loops.end() ? 1 : loop->extent; };
  const std::int64_t p_squares = p_inner * times(after_p), q_squares = q_inner * times(after_q);
  if (after_p != loops.end()) t.c_after_p = after_p->c;
  if (after_q != loops.end()) t.a_after_q = after_q->a;
  double best = 0;
  for (const int bits : {4, 5, 3, 6, 2}) {  // the squarest first
    const std::int64_t q_lanes = std::int64_t{t.turns} << (PermuteTurns::kThreadBits - bits);
    const double now = filled(p_squares, std::int64_t{1} << bits) * filled(q_squares, q_lanes);
    if (now <= 1.1 * best) continue;
    best = now;
    t.p_bits = bits;
  }
  if (best < kLeastFilled) return std::nullopt;
  // Blocks follow each other as the copy lies, so that a sector that two of them share is whole
  // again before it leaves the cache.
  const std::int64_t p_each = std::int64_t{1} << t.p_bits, q_each = t.q_lanes() * t.turns;
  std::vector<Axis> axes;
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    if (loop == p) {
      axes.push_back({parts_of(p_squares, p_each), 0, 0, p_each * side * p->c, Along::kP});
    } else if (loop == q) {
      axes.push_back({parts_of(q_squares, q_each), 0, 0, q_each * side, Along::kQ});
    } else if (loop != after_p && loop != after_q) {
      axes.push_back({loop->extent, loop->a, loop->c, loop->c, Along::kNeither});
    }
  }
  std::ranges::stable_sort(axes, {}, [](const Axis& axis) { return std::abs(axis.distance); });
  std::int64_t blocks = 1;
  for (const auto& axis : axes) {
    if (axis.count > kInt / blocks) return std::nullopt;
    blocks *= axis.count;
    if (axis.along == Along::kP) t.p_axis = t.axes;
    if (axis.along == Along::kQ) t.q_axis = t.axes;
    t.count[t.axes] = static_cast<std::int32_t>(axis.count);
    t.a[t.axes] = axis.a;
    t.c[t.axes++] = axis.c;
  }
  t.p_inner = static_cast<std::int32_t>(p_inner);
  t.q_inner = static_cast<std::int32_t>(q_inner);
  t.p_squares = static_cast<std::int32_t>(p_squares);
  t.q_squares = static_cast<std::int32_t>(q_squares);
  t.blocks = static_cast<std::int32_t>(blocks);
  return t;
}

}  // namespace assay::einsum
