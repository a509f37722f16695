// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/loop_nest.h"

#include <array>

namespace assay::einsum {
namespace {

constexpr std::array kStrides = {&Loop::a, &Loop::b, &Loop::c};
using Stride = std::int64_t Loop::*;

constexpr double kLine = 64;
// What a nest can count on of each cache, the rest being someone else's.
constexpr double kNear = 24 << 10, kFar = 768 << 10;
constexpr double kNearShare = 0.4;  // time of a line from the far cache, against one from beyond
// A row that the compiler does not vectorise takes longer, by this share of the elements of a
// register of 16 bytes.
constexpr double kStrided = 0.75;

// Lines of a tensor that the loops from `first` on touch.
double lines(std::span<const Loop> loops, std::size_t first, Stride stride, double size) {
  // A run is what lies together; loops that continue it, or stay within a line, make it longer.
  double elements = 1, run = size;
  bool grows = true;
  for (std::size_t i = first; i < loops.size(); ++i) {
    if (loops[i].*stride != 0) elements *= static_cast<double>(loops[i].extent);
  }
  double inside = 1;  // elements of the run
  LabelSet joined;
  while (grows) {
    grows = false;
    for (std::size_t i = first; i < loops.size(); ++i) {
      const double step = size * static_cast<double>(std::abs(loops[i].*stride));
      if (step == 0 || joined.contains(static_cast<Label>(i))) continue;
      if (step > std::max(run, kLine / 2)) continue;
      const double extent = static_cast<double>(loops[i].extent);
      run = std::max(run, step * (extent - 1) + run);
      inside *= extent;
      joined.insert(static_cast<Label>(i));
      grows = true;
    }
  }
  const double touched = elements == 1 ? 1 : (run + kLine / 2) / kLine;
  return elements / inside * std::max(1.0, touched);
}

// Bytes that have to come from beyond a cache of this size: the innermost loops whose lines fit it
// together are walked once for all that the next loop shares of them, and again for each other one.
double moved(std::span<const Loop> loops, double cache, double size) {
  std::size_t fits = loops.size();
  std::array<double, 3> touched = {1, 1, 1};
  while (fits > 0) {
    std::array<double, 3> next{};
    double sum = 0;
    for (std::size_t t = 0; t < 3; ++t) {
      next[t] = lines(loops, fits - 1, kStrides[t], size);
      sum += kLine * next[t];
    }
    touched = next;
    --fits;
    if (sum > cache) break;
  }
  double again = 1;
  for (std::size_t i = 0; i < fits; ++i) again *= static_cast<double>(loops[i].extent);
  return again * kLine * (touched[0] + touched[1] + 2 * touched[2]);  // c is read and written
}

bool is_contiguous(const Loop& loop) {
  return std::abs(loop.a) <= 1 && std::abs(loop.b) <= 1 && std::abs(loop.c) <= 1;
}

// One number for the choice between orders of the same loops.
double score(std::span<const Loop> loops, std::size_t element_size) {
  const Work w = nest_work(loops, element_size);
  return w.flop * 0.25e-9 + w.bytes * 0.1e-9 + w.calls * 4e-9;
}

// Joins pairs that all three tensors walk as one, whichever of them is outside.
void fuse(std::vector<Loop>& loops) {
  for (bool found = true; found;) {
    found = false;
    for (std::size_t o = 0; o < loops.size() && !found; ++o) {
      for (std::size_t i = 0; i < loops.size() && !found; ++i) {
        if (i == o) continue;
        const auto joins = [&](Stride s) { return loops[o].*s == loops[i].*s * loops[i].extent; };
        if (!joins(&Loop::a) || !joins(&Loop::b) || !joins(&Loop::c)) continue;
        loops[i].extent *= loops[o].extent;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(o));
        found = true;
      }
    }
  }
}

}  // namespace

Work nest_work(std::span<const Loop> loops, std::size_t element_size) {
  const auto size = static_cast<double>(element_size);
  const auto mac = static_cast<double>(iterations(loops));
  Work work;
  if (loops.empty()) return work;
  const Loop& row = loops.back();
  double together = static_cast<double>(row.extent);
  if (loops.size() > 1) together *= static_cast<double>(loops[loops.size() - 2].extent);
  // A row costs a little of a call by itself.
  constexpr double kRow = 0.25;
  work.calls = mac / together + kRow * mac / static_cast<double>(row.extent);
  work.flop = 2 * mac * (is_contiguous(row) ? 1 : std::max(1.0, kStrided * 16 / size));
  work.bytes = moved(loops, kFar, size) + kNearShare * moved(loops, kNear, size);
  return work;
}

std::vector<Loop> nest_loops(std::vector<Loop> loops, std::size_t element_size) {
  std::erase_if(loops, [](const Loop& l) { return l.extent == 1; });
  fuse(loops);
  if (loops.size() < 2) return loops;
  std::vector<Loop> best;
  double least = 0;
  const auto consider = [&](const std::vector<Loop>& tried) {
    const double found = score(tried, element_size);
    if (!best.empty() && found >= least) return;
    least = found;
    best = tried;
  };
  std::array<int, 3> order = {0, 1, 2};
  do {
    // Loops that the first tensor does not have: innermost, where they use its elements again, or
    // outermost.
    for (const bool absent_inside : {true, false}) {
      auto tried = loops;
      std::ranges::stable_sort(tried, [&](const Loop& x, const Loop& y) {
        for (const int t : order) {
          const auto sx = std::abs(x.*kStrides[static_cast<std::size_t>(t)]),
                     sy = std::abs(y.*kStrides[static_cast<std::size_t>(t)]);
          if (sx == sy) continue;
          if (sx == 0 || sy == 0) return absent_inside ? sy == 0 : sx == 0;
          return sx > sy;
        }
        return x.extent > y.extent;
      });
      consider(tried);
      // The same with the sums just outside of a row of c, which then stays in the nearest cache.
      if (tried.back().c == 0) continue;
      std::ranges::stable_partition(tried.begin(), tried.end() - 1,
                                    [](const Loop& loop) { return loop.c != 0; });
      consider(tried);
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

}  // namespace assay::einsum
