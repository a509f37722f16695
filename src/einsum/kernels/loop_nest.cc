// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/loop_nest.h"

#include <array>
#include <bit>
#include <cmath>

#include "einsum/kernels/loop_kernels.h"

namespace assay::einsum {
namespace {

constexpr std::array kStrides = {&Loop::a, &Loop::b, &Loop::c};
using Stride = std::int64_t Loop::*;

constexpr double kLine = 64;
// What a nest can count on of each cache, the rest being someone else's.
constexpr double kNear = 24 << 10, kFar = 768 << 10;
constexpr double kNearShare = 0.4;  // time of a line from the far cache, against one from beyond

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

// Bytes of each tensor that are walked one after the other, whatever the loops around.
std::array<double, 3> runs(const InnerLoops& in, double size) {
  std::array<double, 3> found{};
  const Terms together = terms_together(in, static_cast<std::size_t>(size));
  const bool by_block = in.tiled && in.row.c != 0 && together.h * together.k > 8;
  const double block = static_cast<double>(4 * loop_vector_bytes());
  for (std::size_t t = 0; t < 3; ++t) {
    const Stride s = kStrides[t];
    double run = size;
    for (const Loop* loop : {&in.row, &in.k, &in.p}) {
      const double step = size * static_cast<double>(std::abs(loop->*s));
      if (step == 0 || loop->extent == 1) continue;
      if (step > run) break;
      run = step * static_cast<double>(loop->extent);
      if (by_block && t < 2 && loop == &in.row) run = std::min(run, block);
    }
    found[t] = run;
  }
  return found;
}

// Bytes that have to come from beyond a cache of this size: the innermost loops whose lines fit it
// together fetch them once, and the loops around those fetch again what they do not share. Lines
// that are not walked one after the other cost more.
double moved(std::span<const Loop> loops, const InnerLoops& in, double cache, double size) {
  std::size_t fits = loops.size();
  std::array<double, 3> touched = {1, 1, 1};
  double sum = 0;
  while (fits > 0) {
    std::array<double, 3> next{};
    sum = 0;
    for (std::size_t t = 0; t < 3; ++t) {
      next[t] = lines(loops, fits - 1, kStrides[t], size);
      sum += kLine * next[t];
    }
    touched = next;
    --fits;
    if (sum > cache) break;
  }
  if (sum > cache) {
    constexpr double kJump = 1.5;  // what an unforeseen line costs, in further lines
    const auto run = runs(in, size);
    for (std::size_t t = 0; t < 3; ++t) touched[t] *= 1 + kJump * kLine / std::max(run[t], kLine);
  }
  double again = 1;
  for (std::size_t i = 0; i < fits; ++i) again *= static_cast<double>(loops[i].extent);
  double again_c = again;
  if (in.tiled && in.row.c != 0 && fits + 1 == loops.size()) {  // sums stay in registers
    const Terms together = terms_together(in, static_cast<std::size_t>(size));
    again_c /= static_cast<double>(together.h * together.k);
  }
  return kLine * (again * (touched[0] + touched[1]) + 2 * again_c * touched[2]);  // c: both ways
}

// Accesses that need an address which was not translated lately: the innermost loops whose pages
// are few enough to be remembered cost nothing, all others cost every time.
double page_jumps(std::span<const Loop> loops, double size) {
  constexpr double kPage = 4096, kRemembered = 40;
  std::array<double, 3> pages = {1, 1, 1};
  std::size_t first = loops.size();
  while (first > 0 && pages[0] + pages[1] + pages[2] <= kRemembered) {
    --first;
    for (std::size_t t = 0; t < 3; ++t) {
      const Loop& loop = loops[first];
      const double step = size * static_cast<double>(std::abs(loop.*kStrides[t]));
      if (step >= kPage) pages[t] *= static_cast<double>(loop.extent);
    }
  }
  if (pages[0] + pages[1] + pages[2] <= kRemembered) return 0;
  return static_cast<double>(iterations(loops.first(first))) * (pages[0] + pages[1] + pages[2]);
}

// Cycles of the innermost loops, once: instructions over how many of them start in a cycle. The
// counts are those of loop_kernels.cc.
double tile_cycles(const InnerLoops& in, double size) {
  constexpr double kPerCycle = 2;   // loads, and fused multiplications, that start in a cycle
  constexpr double kTerm = 1.5;     // least of one term of a tile: its counters, the sums' latency
  constexpr double kTile = 8;       // setting up sums, writing them
  constexpr double kAcross = 8;     // adding up the lanes of a vector
  constexpr double kElement = 1.5;  // an element that is written by itself
  const auto lanes = static_cast<double>(loop_vector_bytes()) / size;
  const auto extent = static_cast<double>(in.row.extent), planes = static_cast<double>(in.p.extent),
             terms = static_cast<double>(in.k.extent * in.h.extent);
  const auto x = in.swapped ? &Loop::b : &Loop::a, y = in.swapped ? &Loop::a : &Loop::b;
  const double groups = std::ceil(planes / static_cast<double>(kTilePlanes));
  const auto whole = static_cast<double>(static_cast<std::int64_t>(extent / lanes));
  const auto rest = static_cast<std::uint64_t>(extent - whole * lanes);
  if (in.row.c == 0) {
    const double vectors = whole + static_cast<double>(rest / 4 + rest % 4);
    const double loads = vectors * (planes + (in.p.*y == 0 ? groups : planes));
    return terms * (loads / kPerCycle + groups * kTerm) + groups * kTile + planes * kAcross;
  }
  const double vectors = whole + static_cast<double>(std::popcount(rest));
  const double tiles = groups * std::ceil(vectors / 2);
  const double from_x = vectors * (in.p.*x == 0 ? groups : planes);
  const double from_y = planes * (in.row.*y == 0 ? std::ceil(vectors / 2) : vectors);
  const double term =
      std::max({(from_x + from_y) / kPerCycle, planes * vectors / kPerCycle, tiles * kTerm});
  const double writing = in.row.c == 1 ? planes * vectors : kElement * planes * extent;
  return terms * term + tiles * kTile + writing;
}

double plain_cycles(const InnerLoops& in, double size) {
  // A vector, an element by itself, one with gaps around it; what a row costs besides.
  constexpr double kVector = 1.5, kElement = 1.25, kStrided = 2, kRow = 5;
  const auto rows = static_cast<double>(in.p.extent * in.h.extent * in.k.extent);
  const auto extent = static_cast<double>(in.row.extent);
  const bool dense = in.row.c == 1 && (in.row.a | 1) == 1 && (in.row.b | 1) == 1;
  if (!dense) return rows * (kStrided * extent + kRow);
  const double lanes = 16 / size;  // the compiler's own
  const double whole = std::floor(extent / lanes);
  return rows * (kVector * whole + kElement * (extent - whole * lanes) + kRow);
}

// One number for the choice between orders of the same loops.
double score(std::span<const Loop> loops, std::size_t element_size) {
  const Work w = nest_work(loops, element_size);
  return w.flop * 0.25e-9 + w.bytes * 0.05e-9 + w.calls * 4e-8 + w.jumps * 4e-9;
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

InnerLoops inner_loops_of(std::span<const Loop> loops, bool has_b) {
  InnerLoops in;
  in.outer = loops.size();
  if (loops.empty()) return in;
  in.row = loops[--in.outer];
  if (in.outer > 0 && loops[in.outer - 1].c == 0) in.k = loops[--in.outer];
  if (in.outer > 0 && loops[in.outer - 1].c == 0) in.h = loops[--in.outer];
  if (in.outer > 0 && loops[in.outer - 1].c != 0) in.p = loops[--in.outer];
  // Without a sum there is nothing to keep in registers.
  if (in.row.c != 0 && in.k.extent * in.h.extent == 1) return in;
  if (!has_b) {
    in.tiled = in.row.a == 1;
    return in;
  }
  const auto fits = [&](std::int64_t x, std::int64_t y) {
    return x == 1 && (y == 1 || (y == 0 && in.row.c != 0));
  };
  in.tiled = fits(in.row.a, in.row.b) || fits(in.row.b, in.row.a);
  // Of two that are contiguous, x is the one that is read once: it decides how it is walked.
  const bool either = fits(in.row.a, in.row.b) && fits(in.row.b, in.row.a);
  in.swapped = either ? in.p.a == 0 && in.p.b != 0 : in.tiled && in.row.b == 1;
  return in;
}

Terms terms_together(const InnerLoops& in, std::size_t element_size) {
  constexpr std::int64_t kFar = 1024, kLongRow = 256, kNear = 32 << 10, kFew = 8, kBlock = 256;
  const auto size = static_cast<std::int64_t>(element_size);
  const Terms all{in.h.extent, in.k.extent};
  const auto x = in.swapped ? &Loop::b : &Loop::a;
  if (!in.tiled || in.row.c == 0 || all.h * all.k <= kFew) return all;
  const bool shares = in.p.*x == 0;
  const std::int64_t read = in.row.extent * all.k * all.h * (shares ? 1 : in.p.extent) * size;
  const bool far = std::abs(in.k.*x) * size >= kFar && in.row.extent * size >= kLongRow;
  if (far && read > kNear && in.row.c == 1) return {1, std::min(all.k, kFew)};
  // What all p share stays in the nearest cache.
  if (shares && in.p.extent > kTilePlanes && all.h * all.k > kBlock) {
    return {all.k >= kBlock ? 1 : kBlock / all.k, std::min(all.k, kBlock)};
  }
  return all;
}

bool is_transposition(std::span<const Loop> loops) {
  if (loops.size() < 2) return false;
  const Loop &row = loops.back(), &column = loops[loops.size() - 2];
  if (row.c == 0 || column.c == 0) return false;
  bool row_closer = false, column_closer = false;
  for (const Stride s : kStrides) {
    const auto r = std::abs(row.*s), c = std::abs(column.*s);
    if (r == 0 || c == 0) continue;
    (r < c ? row_closer : column_closer) = true;
  }
  return row_closer && column_closer;
}

Work nest_work(std::span<const Loop> loops, std::size_t element_size) {
  const auto size = static_cast<double>(element_size);
  Work work;
  if (loops.empty()) return work;
  const bool has_b = std::ranges::any_of(loops, [](const Loop& l) { return l.b != 0; });
  const InnerLoops in = inner_loops_of(loops, has_b);
  work.calls = static_cast<double>(iterations(loops.first(in.outer)));
  work.flop = 2 * work.calls * (in.tiled ? tile_cycles(in, size) : plain_cycles(in, size));
  // Squares of lines are walked at once.
  const double near = is_transposition(loops) ? kFar : kNear;
  work.jumps = page_jumps(loops, size);
  work.bytes = moved(loops, in, kFar, size) + kNearShare * moved(loops, in, near, size);
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
  // The row: what some tensor has contiguous, or else the longest.
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (std::abs(loops[i].a) == 1 || std::abs(loops[i].b) == 1 || std::abs(loops[i].c) == 1) {
      rows.push_back(i);
    }
  }
  if (rows.empty()) {
    const auto longest = std::ranges::max_element(loops, {}, &Loop::extent);
    rows.push_back(static_cast<std::size_t>(longest - loops.begin()));
  }
  for (const std::size_t r : rows) {
    auto others = loops;
    const Loop row = others[r];
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(r));
    for (const auto first : kStrides) {
      // The others as one tensor has them; those it does not have are outside.
      auto tried = others;
      std::ranges::stable_sort(tried, [&](const Loop& p, const Loop& q) {
        const auto sp = std::abs(p.*first), sq = std::abs(q.*first);
        if (sp == 0 || sq == 0) return sp == 0 && sq != 0;
        return sp > sq;
      });
      tried.push_back(row);
      consider(tried);
      // The same with what another tensor has contiguous just outside: a transposition.
      if (row.c != 0) {
        for (const auto other : kStrides) {
          if (std::abs(row.*other) == 1) continue;
          const auto at = std::ranges::find_if(tried.begin(), tried.end() - 1, [&](const Loop& l) {
            return l.c != 0 && std::abs(l.*other) == 1;
          });
          if (at == tried.end() - 1) continue;
          auto transposed = tried;
          const auto from = transposed.begin() + (at - tried.begin());
          std::rotate(from, from + 1, transposed.end() - 1);
          consider(transposed);
        }
      }
      // The same with all sums inside, and with another loop of c just outside of them: one along
      // which the row's operand stays where it is.
      std::ranges::stable_partition(tried.begin(), tried.end() - 1,
                                    [](const Loop& loop) { return loop.c != 0; });
      consider(tried);
      const auto sums = std::ranges::find(tried.begin(), tried.end() - 1, 0, &Loop::c);
      const auto x = row.a == 1 ? &Loop::a : &Loop::b;
      const auto stays =
          std::ranges::find_if(tried.begin(), sums, [&](const Loop& l) { return l.*x == 0; });
      if (stays == sums) continue;
      std::rotate(stays, stays + 1, sums);
      consider(tried);
    }
  }
  return best;
}

}  // namespace assay::einsum
