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
  Along along;
};

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
  const std::int64_t p_squares = p->extent / side, q_squares = q->extent / side;
  if (std::min(p_squares, q_squares) < kLeastSquares) return std::nullopt;
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
    const std::int64_t squares = loop->extent / side;
    if (loop == p) {
      axes.push_back({parts_of(squares, p_each), p_each * side, p_each * side * p->c, Along::kP});
    } else if (loop == q) {
      axes.push_back({parts_of(squares, q_each), q_each * side * q->a, q_each * side, Along::kQ});
    } else {
      axes.push_back({loop->extent, loop->a, loop->c, Along::kNeither});
    }
  }
  std::ranges::stable_sort(axes, {}, [](const Axis& axis) { return std::abs(axis.c); });
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
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
  if (std::max(p_squares, q_squares) > kInt / 512) return std::nullopt;
  t.p_squares = static_cast<std::int32_t>(p_squares);
  t.q_squares = static_cast<std::int32_t>(q_squares);
  t.blocks = static_cast<std::int32_t>(blocks);
  return t;
}

}  // namespace assay::einsum
