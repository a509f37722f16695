// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Exchanges with the rank whose number differs in one bit: recursive doubling, halving-doubling.
//
// They want a power of two. With p = q + extra ranks, q the largest power of two, rank q + e first
// folds its data into rank e, which then acts for both, and gets its share of the result at the
// end. All-to-all by recursive doubling is Bruck's algorithm, which takes any number of ranks.

#include <bit>

#include "chip/collective/schedule_builder.h"

namespace assay::chip {
namespace {

class Hypercube {
 public:
  explicit Hypercube(ScheduleBuilder& builder)
      : builder_(builder),
        q_(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(builder.ranks())))),
        extra_(builder.ranks() - q_) {}

  std::int32_t size() const { return q_; }
  Ranges everything() const { return {{0, builder_.options().length}}; }

  // What vertex v answers for: its own part and that of the rank folded into it.
  Ranges parts_of(std::int32_t v) const {
    if (v < extra_) return {builder_.part(v), builder_.part(v + q_)};
    return {builder_.part(v)};
  }
  // The parts of all vertices w with (w ^ v) & mask == 0, in increasing order.
  Ranges parts_like(std::int32_t v, std::int32_t mask) const {
    Ranges low, high;
    for (std::int32_t w = 0; w < q_; ++w) {
      if (((w ^ v) & mask) != 0) continue;
      low.push_back(builder_.part(w));
      if (w < extra_) high.push_back(builder_.part(w + q_));
    }
    low.insert(low.end(), high.begin(), high.end());
    return low;
  }

  // Extra ranks hand over `what(rank)`; `adds` it to what is there or not.
  template <typename What>
  void fold(What what, bool adds) {
    for (std::int32_t e = 0; e < extra_; ++e) {
      builder_.stage(q_ + e).sends.push_back(builder_.transfer(e, what(q_ + e)));
      builder_.stage(e).receives.push_back(builder_.transfer(q_ + e, what(q_ + e), adds));
    }
  }
  // Extra ranks get `what(rank)` back.
  template <typename What>
  void unfold(What what) {
    for (std::int32_t e = 0; e < extra_; ++e) {
      builder_.stage(e).sends.push_back(builder_.transfer(q_ + e, what(q_ + e)));
      builder_.stage(q_ + e).receives.push_back(builder_.transfer(e, what(q_ + e)));
    }
  }

  // v exchanges with v ^ distance: sends `out(v)`, gets `out(v ^ distance)` unless `in` differs.
  template <typename Out, typename In>
  void exchange(std::int32_t distance, Out out, In in, bool adds) {
    for (std::int32_t v = 0; v < q_; ++v) {
      StagePlan& here = builder_.stage(v);
      here.sends.push_back(builder_.transfer(v ^ distance, out(v)));
      here.receives.push_back(builder_.transfer(v ^ distance, in(v), adds));
    }
  }

 private:
  ScheduleBuilder& builder_;
  std::int32_t q_, extra_;
};

// Sums: after the exchange over distance d a vertex keeps the vertices that agree with it in the
// bits up to d. Nearest first, so that the largest messages take the shortest way.
void halve(Hypercube& cube) {
  for (std::int32_t d = 1; d < cube.size(); d *= 2) {
    const std::int32_t mask = 2 * d - 1;
    cube.exchange(
        d, [&](std::int32_t v) { return cube.parts_like(v ^ d, mask); },
        [&](std::int32_t v) { return cube.parts_like(v, mask); }, true);
  }
}

// Gathers: the way back, farthest first.
void double_back(Hypercube& cube) {
  for (std::int32_t d = cube.size() / 2; d >= 1; d /= 2) {
    const std::int32_t mask = 2 * d - 1;
    cube.exchange(
        d, [&](std::int32_t v) { return cube.parts_like(v, mask); },
        [&](std::int32_t v) { return cube.parts_like(v ^ d, mask); }, false);
  }
}

// A block for the rank o ahead travels, for every bit of o that is set, that far. Step by step each
// rank sends all it holds with the step's bit.
void bruck_all_to_all(ScheduleBuilder& builder) {
  const std::int32_t p = builder.ranks();
  for (std::int32_t r = 0; r < p; ++r) {
    for (std::int32_t d = 1; d < p; d *= 2) {
      const std::int32_t next = (r + d) % p, previous = (r + p - d) % p;
      const auto held_with_bit = [&](std::int32_t rank) {
        Ranges blocks;
        for (std::int32_t o = 1; o < p; ++o) {
          if ((o & d) == 0) continue;
          const std::int32_t source = (rank + p - (o & (d - 1))) % p;
          blocks.push_back(builder.block(source, (source + o) % p));
        }
        return blocks;
      };
      StagePlan& here = builder.stage(r);
      here.sends.push_back(builder.transfer(next, held_with_bit(r)));
      here.receives.push_back(builder.transfer(previous, held_with_bit(previous)));
    }
  }
}

}  // namespace

void build_recursive_doubling(ScheduleBuilder& builder) {
  const Collective collective = builder.options().collective;
  if (collective == Collective::kAllToAll) return bruck_all_to_all(builder);
  Hypercube cube(builder);
  const auto all = [&](std::int32_t) { return cube.everything(); };
  const auto own = [&](std::int32_t rank) { return Ranges{builder.part(rank)}; };
  if (collective == Collective::kAllGather) {
    cube.fold(own, false);
    for (std::int32_t d = 1; d < cube.size(); d *= 2) {
      // Held so far: the vertices that agree in the bits from d upwards.
      const std::int32_t mask = ~(d - 1);
      cube.exchange(
          d, [&](std::int32_t v) { return cube.parts_like(v, mask); },
          [&](std::int32_t v) { return cube.parts_like(v ^ d, mask); }, false);
    }
    cube.unfold(all);
    return;
  }
  // Whole vectors; a reduce-scatter keeps its part of the sum and forgets the rest.
  cube.fold(all, true);
  for (std::int32_t d = 1; d < cube.size(); d *= 2) cube.exchange(d, all, all, true);
  if (collective == Collective::kReduceScatter) {
    cube.unfold(own);
  } else {
    cube.unfold(all);
  }
}

void build_halving_doubling(ScheduleBuilder& builder) {
  const Collective collective = builder.options().collective;
  Hypercube cube(builder);
  const auto all = [&](std::int32_t) { return cube.everything(); };
  const auto own = [&](std::int32_t rank) { return Ranges{builder.part(rank)}; };
  if (collective == Collective::kAllGather) {
    cube.fold(own, false);
    double_back(cube);
    cube.unfold(all);
    return;
  }
  cube.fold(all, true);
  halve(cube);
  if (collective == Collective::kReduceScatter) {
    cube.unfold(own);
    return;
  }
  double_back(cube);
  cube.unfold(all);
}

}  // namespace assay::chip
