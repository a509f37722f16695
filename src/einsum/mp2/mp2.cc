// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/mp2/mp2.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/attend.h"
#include "base/error.h"
#include "einsum/kernels/parallel.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kTileElements = 1 << 17;  // 1 MiB of T: half of a second-level cache
constexpr std::int64_t kMaxBlock = 256;          // virtual orbitals in one direction of a tile
constexpr std::int64_t kPatch = 8;               // of the epilogue: one cache line squared

// A sum that keeps what rounding takes away (Neumaier).
struct Sum {
  double value = 0, lost = 0;
  void add(double x) {
    const double sum = value + x;
    lost += std::abs(value) >= std::abs(x) ? (value - sum) + x : (x - sum) + value;
    value = sum;
  }
  double total() const { return value + lost; }
};

struct PairSums {
  Sum opposite, same;
};

// Σ over a patch: x = T_ab, y = T_ba, both counted. On the diagonal (a = b) there is x alone.
//
//   opposite spin (x² + y²)/Δ,  same spin (x − y)²/Δ
void add_patch(const double* x, std::int64_t ldx, const double* y, std::int64_t ldy,
               std::int64_t rows, std::int64_t columns, double pair_energy, const double* ea,
               const double* eb, bool diagonal, PairSums& sums) {
  double turned[kPatch][kPatch];
  for (std::int64_t b = 0; b < columns; ++b) {
    for (std::int64_t a = 0; a < rows; ++a) turned[a][b] = y[b * ldy + a];
  }
  double opposite[kPatch] = {}, same[kPatch] = {};
  for (std::int64_t a = 0; a < rows; ++a) {
    const double base = pair_energy - ea[a];
    const double* row = x + a * ldx;
    const std::int64_t first = diagonal ? a + 1 : 0;
    for (std::int64_t b = first; b < columns; ++b) {
      const double reciprocal = 1 / (base - eb[b]);
      const double t = row[b], u = turned[a][b], difference = t - u;
      opposite[b] += (t * t + u * u) * reciprocal;
      same[b] += difference * difference * reciprocal;
    }
    if (diagonal && a < columns) opposite[a] += row[a] * row[a] / (base - eb[a]);
  }
  double o = 0, s = 0;
  for (std::int64_t b = 0; b < columns; ++b) {
    o += opposite[b];
    s += same[b];
  }
  sums.opposite.add(o);
  sums.same.add(s);
}

// A piece of work: one i, some j ≥ i whose tiles fit the cache together.
struct Task {
  std::int64_t i, first_j, last_j;
};

class Mp2 {
 public:
  Mp2(const double* b, std::int64_t nvir, std::int64_t naux, std::span<const double> occupied,
      std::span<const double> virtuals)
      : b_(b), nvir_(nvir), naux_(naux), occupied_(occupied), virtuals_(virtuals) {
    block_ = std::min(nvir, kMaxBlock);
    const std::int64_t together =
        nvir <= kMaxBlock ? std::max<std::int64_t>(1, kTileElements / (nvir * nvir)) : 1;
    const auto nocc = static_cast<std::int64_t>(occupied.size());
    for (std::int64_t i = 0; i < nocc; ++i) {
      for (std::int64_t j = i; j < nocc; j += together)
        tasks_.push_back({i, j, std::min(nocc, j + together)});
    }
  }

  Mp2Energy run(int threads) const {
    std::vector<PairSums> sums(tasks_.size());
    const auto workers = std::min<std::int64_t>(threads, static_cast<std::int64_t>(tasks_.size()));
    parallel_parts(static_cast<int>(workers), workers, [&](std::int64_t w, std::int64_t) {
      // Tasks shrink towards the end of a row: dealing them out in turn balances them.
      std::vector<double> tile(static_cast<std::size_t>(tile_elements()));
      for (auto t = static_cast<std::size_t>(w); t < tasks_.size() && still_wanted();
           t += static_cast<std::size_t>(workers)) {
        run_task(tasks_[t], tile.data(), sums[t]);
      }
    });
    attend();
    Sum opposite, same;
    for (const auto& s : sums) {
      opposite.add(s.opposite.total());
      same.add(s.same.total());
    }
    return {opposite.total() + same.total(), opposite.total(), same.total()};
  }

 private:
  std::int64_t tile_elements() const {
    std::int64_t largest = 0;
    for (const auto& t : tasks_) largest = std::max(largest, t.last_j - t.first_j);
    return nvir_ <= kMaxBlock ? largest * nvir_ * nvir_ : 2 * block_ * block_;
  }
  const double* rows(std::int64_t orbital, std::int64_t a) const {
    return b_ + (orbital * nvir_ + a) * naux_;
  }
  void product(const double* a, std::int64_t m, const double* b, std::int64_t n, double* t) const {
    blas::gemm<double>(blas::Op::kNone, blas::Op::kTranspose, static_cast<int>(m),
                       static_cast<int>(n), static_cast<int>(naux_), 1, a, static_cast<int>(naux_),
                       b, static_cast<int>(naux_), 0, t, static_cast<int>(n));
  }

  void run_task(const Task& task, double* tile, PairSums& sums) const {
    if (nvir_ <= kMaxBlock) {
      const std::int64_t width = (task.last_j - task.first_j) * nvir_;
      product(rows(task.i, 0), nvir_, rows(task.first_j, 0), width, tile);
      for (std::int64_t j = task.first_j; j < task.last_j; ++j) {
        const double* t = tile + (j - task.first_j) * nvir_;
        PairSums pair;
        add_block(t, width, t, width, 0, nvir_, 0, nvir_, task.i, j, pair);
        join(pair, task.i == j, sums);
      }
      return;
    }
    // Too wide for one tile: T_ab and T_ba of two blocks of virtual orbitals at a time.
    PairSums pair;
    for (std::int64_t a = 0; a < nvir_; a += block_) {
      const std::int64_t na = std::min(block_, nvir_ - a);
      for (std::int64_t b = a; b < nvir_; b += block_) {
        const std::int64_t nb = std::min(block_, nvir_ - b);
        double* const other = a == b ? tile : tile + block_ * block_;
        product(rows(task.i, a), na, rows(task.first_j, b), nb, tile);
        if (a != b) product(rows(task.i, b), nb, rows(task.first_j, a), na, other);
        add_block(tile, nb, other, na, a, na, b, nb, task.i, task.first_j, pair);
      }
    }
    join(pair, task.i == task.first_j, sums);
  }

  static void join(const PairSums& pair, bool same_orbital, PairSums& sums) {
    const double weight = same_orbital ? 1 : 2;
    sums.opposite.add(weight * pair.opposite.total());
    sums.same.add(weight * pair.same.total());
  }

  // Virtual orbitals [a0, a0 + na) × [b0, b0 + nb); the same range twice is summed over a ≤ b.
  void add_block(const double* x, std::int64_t ldx, const double* y, std::int64_t ldy,
                 std::int64_t a0, std::int64_t na, std::int64_t b0, std::int64_t nb, std::int64_t i,
                 std::int64_t j, PairSums& pair) const {
    const double energy =
        occupied_[static_cast<std::size_t>(i)] + occupied_[static_cast<std::size_t>(j)];
    for (std::int64_t a = 0; a < na; a += kPatch) {
      for (std::int64_t b = a0 == b0 ? a : 0; b < nb; b += kPatch) {
        add_patch(x + a * ldx + b, ldx, y + b * ldy + a, ldy, std::min(kPatch, na - a),
                  std::min(kPatch, nb - b), energy, virtuals_.data() + a0 + a,
                  virtuals_.data() + b0 + b, a0 == b0 && a == b, pair);
      }
    }
  }

  const double* b_;
  std::int64_t nvir_, naux_, block_ = 1;
  std::span<const double> occupied_, virtuals_;
  std::vector<Task> tasks_;
};

void check_shapes(const TensorView& b, std::span<const double> occupied,
                  std::span<const double> virtuals, const Mp2Options& o) {
  if (b.rank() != 3)
    fail("mp2: B has axes (occupied, virtual, auxiliary), not shape {}", b.shape().to_string());
  if (b.dtype() != DType::kF32 && b.dtype() != DType::kF64) {
    fail("mp2: B is f32 or f64, not {}", name_of(b.dtype()));
  }
  const auto fits = [](std::int64_t axis, std::size_t energies, const char* which) {
    if (axis != static_cast<std::int64_t>(energies)) {
      fail("mp2: B has {} {} orbitals, but there are {} energies", axis, which, energies);
    }
  };
  fits(b.extent(0), occupied.size(), "occupied");
  fits(b.extent(1), virtuals.size(), "virtual");
  const auto frozen = [](std::int64_t count, std::int64_t all, const char* which) {
    if (count < 0 || count > all)
      fail("mp2: of {} {} orbitals, {} cannot be frozen", all, which, count);
  };
  frozen(o.frozen_occupied, b.extent(0), "occupied");
  frozen(o.frozen_virtual, b.extent(1), "virtual");
}

}  // namespace

ActiveOrbitals active_orbitals(const TensorView& b, std::span<const double> occupied,
                               std::span<const double> virtuals, const Mp2Options& o) {
  check_shapes(b, occupied, virtuals, o);
  const auto view =
      b.slice(0, o.frozen_occupied, b.extent(0)).slice(1, 0, b.extent(1) - o.frozen_virtual);
  const auto occ = occupied.subspan(static_cast<std::size_t>(o.frozen_occupied));
  const auto vir = virtuals.first(virtuals.size() - static_cast<std::size_t>(o.frozen_virtual));
  for (const auto& energies : {occ, vir}) {
    for (const double e : energies) {
      if (!std::isfinite(e)) fail("mp2: an orbital energy is {}", e);
    }
  }
  if (view.element_count() == 0) return {view, occ, vir};
  const double highest = *std::ranges::max_element(occ), lowest = *std::ranges::min_element(vir);
  if (2 * highest - 2 * lowest >= 0) {
    fail("mp2: the highest occupied energy {} is not below the lowest virtual one {}", highest,
         lowest);
  }
  return {view, occ, vir};
}

Mp2Energy finite_energy(const Mp2Energy& energy, const TensorView& dense, const Mp2Options& o) {
  if (std::isfinite(energy.total)) return energy;
  const double* const data = dense.data<double>();
  for (std::int64_t i = 0; i < dense.element_count(); ++i) {
    if (!std::isfinite(data[i])) {
      const std::int64_t row = i / dense.extent(2);
      fail("mp2: B[{}, {}, {}] is {}", o.frozen_occupied + row / dense.extent(1),
           row % dense.extent(1), i % dense.extent(2), data[i]);
    }
  }
  fail("mp2: the integrals are so large that the energy is {}", energy.total);
}

Mp2Energy mp2_energy(const TensorView& b, std::span<const double> occupied,
                     std::span<const double> virtuals, const Mp2Options& o) {
  const auto [view, occ, vir] = active_orbitals(b, occupied, virtuals, o);
  if (view.element_count() == 0) return {};
  std::optional<Tensor> copy;  // where B does not lie as the products need it
  if (view.dtype() != DType::kF64 || !view.is_contiguous())
    copy = Tensor::converted(view, DType::kF64);
  const TensorView dense = copy ? copy->view() : view;
  const double* const data = dense.data<double>();
  return finite_energy(Mp2(data, view.extent(1), view.extent(2), occ, vir).run(o.threads), dense,
                       o);
}

Tensor ao_to_mo(Engine& engine, const TensorView& b_ao, const TensorView& c_occupied,
                const TensorView& c_virtual) {
  return engine.einsum("mi,na,mnP->iaP", {c_occupied, c_virtual, b_ao});
}

double mp2_flop(std::int64_t nocc, std::int64_t nvir, std::int64_t naux) {
  return static_cast<double>(nocc) * static_cast<double>(nocc + 1) * static_cast<double>(nvir) *
         static_cast<double>(nvir) * static_cast<double>(naux);
}

}  // namespace assay::einsum
