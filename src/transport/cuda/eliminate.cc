// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/eliminate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::transport::cuda {
namespace {

constexpr std::size_t kBoth = 2;  // sources, side by side

// Columns begin on boundaries of 64 bytes.
int padded(int n) { return (n + 7) / 8 * 8; }
std::size_t elements_of(int rows, int columns) {
  return static_cast<std::size_t>(padded(rows)) * static_cast<std::size_t>(columns);
}
int largest(const BlockSystem& system) { return std::max(system.size[0], system.size[1]); }

std::size_t unknowns_of(const BlockSystem& system) {
  std::size_t all = 0;
  for (int k = 0; k <= system.n_xi; ++k) all += static_cast<std::size_t>(system.block_size(k));
  return all;
}

}  // namespace

double bytes_of_case(const BlockSystem& system) {
  double numbers = static_cast<double>(elements_of(largest(system), largest(system)));  // turned
  for (int k = 0; k <= system.n_xi; ++k) {
    numbers += static_cast<double>(elements_of(system.block_size(k), system.block_size(k)));
  }
  numbers += kBoth * (3.0 * static_cast<double>(unknowns_of(system)) + largest(system));
  return 8 * numbers + BatchedInverse::bytes_of_matrix(largest(system)) +
         static_cast<double>(sizeof(DeviceSums)) * (system.n_xi + 1);
}

BatchedElimination::BatchedElimination(const DeviceSystem& system, int most_cases,
                                       kernels::cuda::Stream stream,
                                       const kernels::cuda::Cublas& cublas)
    : system_(&system),
      most_(most_cases),
      stream_(stream),
      cublas_(&cublas),
      inverse_(largest(system.host()), most_cases, memory_, stream, cublas) {
  const auto& host = system.host();
  const auto cases = static_cast<std::size_t>(most_cases);
  const auto numbers = [&](std::size_t each) {
    return static_cast<double*>(memory_.allocate(cases * each * sizeof(double)));
  };
  for (int k = 0; k <= host.n_xi; ++k) {
    kept_.push_back(numbers(elements_of(host.block_size(k), host.block_size(k))));
  }
  transposed_.resize(kept_.size());
  turned_ = numbers(elements_of(largest(host), largest(host)));
  const auto all = unknowns_of(host);
  const auto vectors = [&](std::size_t unknowns) {
    return Vectors{numbers(kBoth * unknowns), static_cast<std::int64_t>(unknowns)};
  };
  f_ = vectors(all);
  r_ = vectors(all);
  better_ = vectors(all);
  step_ = vectors(static_cast<std::size_t>(largest(host)));
  nu_ = numbers(1);
  epsi_ = numbers(1);
  open_ = static_cast<std::int32_t*>(memory_.allocate(cases * sizeof(std::int32_t)));
  taken_ = static_cast<std::int32_t*>(memory_.allocate(cases * sizeof(std::int32_t)));
  columns_ = numbers(kBoth * static_cast<std::size_t>(host.block_size(0)));
  const auto first = block(0, most_cases);
  lu_ = kernels::cuda::Cublas::Factors::make(first.n, {first.data, first.ld, first.step},
                                             {columns_, first.n, static_cast<int>(kBoth) * first.n},
                                             most_cases, memory_);
  sums_.resize(cases * kept_.size());
  device_sums_ = static_cast<DeviceSums*>(memory_.allocate(sums_.size() * sizeof(DeviceSums)));
}

Matrices BatchedElimination::block(int k, int cases) const {
  const int n = system_->host().block_size(k);
  return {kept_[static_cast<std::size_t>(k)], n, padded(n),
          static_cast<std::int64_t>(elements_of(n, n)), cases};
}

Vectors BatchedElimination::part(const Vectors& x, int k) const {
  return {x.data + static_cast<std::int64_t>(kBoth) * system_->offset(k), x.step};
}

// Not transposed:  Y = Δ_k⁻¹ → Y L → (Y L)ᵀ → (Y L)ᵀ Uᵀ = (U Y L)ᵀ.
// Transposed:      Yᵀ → Yᵀ Uᵀ → U Y → U Y L.
void BatchedElimination::descend(int k, const DeviceCases& cases) {
  const auto& host = system_->host();
  const int n = host.block_size(k), below = host.block_size(k - 1);
  const bool transposed = transposed_[static_cast<std::size_t>(k)];
  const auto lower = system_->lower_by_column(k), upper = system_->upper_by_row(k - 1);
  const Matrices between = {turned_, n, padded(below),
                            static_cast<std::int64_t>(elements_of(below, n)), cases.count};
  const auto next = block(k - 1, cases.count);
  combine_columns(transposed ? upper : lower, 1, n, block(k, cases.count), true, between, stream_);
  combine_columns(transposed ? lower : upper, -1, below, between, false, next, stream_);
  transposed_[static_cast<std::size_t>(k - 1)] = !transposed;
  add_diagonal_block(system_->diagonal(k - 1), BlockSystem::collisions(1, k - 1), cases,
                     !transposed, next, stream_);
}

void BatchedElimination::eliminate(const DeviceCases& cases, Elimination how) {
  const auto& host = system_->host();
  const int top = host.n_xi;
  fill_zero(block(top, cases.count), stream_);
  transposed_[static_cast<std::size_t>(top)] = false;
  add_diagonal_block(system_->diagonal(top), BlockSystem::collisions(1, top), cases, false,
                     block(top, cases.count), stream_);
  for (int k = top; k >= 1; --k) {
    inverse_.invert(block(k, cases.count), how == Elimination::kDense);
    descend(k, cases);
  }
  if (host.pinned) {
    pin_first_row(transposed_[0], block(0, cases.count), stream_);
    cublas_->factor(lu_, cases.count);
  } else {
    inverse_.invert(block(0, cases.count), true);
  }
}

void BatchedElimination::solve_block(int k, const Vectors& x, bool adding, const Vectors& y,
                                     const DeviceCases& cases) {
  const bool transposed = transposed_[static_cast<std::size_t>(k)];
  if (k > 0 || !system_->host().pinned) {
    return multiply(block(k, cases.count), transposed, x, adding, y, cases.open, stream_);
  }
  to_columns(x, lu_.n, columns_, cases.count, stream_);
  cublas_->solve(lu_, transposed, static_cast<int>(kBoth), cases.count);
  from_columns(columns_, lu_.n, y, cases.count, stream_);
}

// See solve_by_blocks of solver/factored.h.
void BatchedElimination::solve_by_blocks(const Vectors& x, int top, const DeviceCases& cases) {
  const auto& host = system_->host();
  for (int k = top; k >= 0; --k) {
    const auto here = part(x, k);
    add_terms(system_->upper_by_row(k), -1, k < top ? part(x, k + 1) : Vectors{}, here,
              k == 0 && host.pinned, step_, cases, stream_);
    solve_block(k, step_, false, here, cases);
  }
  for (int k = 1; k <= host.n_xi; ++k) {
    add_terms(system_->lower_by_row(k), -1, part(x, k - 1), Vectors{}, false, step_, cases,
              stream_);
    solve_block(k, step_, true, part(x, k), cases);
  }
}

void BatchedElimination::assess_all(const DeviceCases& cases, const Vectors& f) {
  assess(*system_, cases, f, r_, device_sums_, stream_);
  kernels::cuda::copy_to_host(
      sums_.data(), device_sums_,
      kept_.size() * static_cast<std::size_t>(cases.count) * sizeof(DeviceSums), stream_);
}

Refined BatchedElimination::refined(const Case& at, std::size_t i) const {
  std::vector<BlockSums> blocks;
  double value[2][2] = {};
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const auto& sums = sums_[i * kept_.size() + k];
    blocks.push_back(sums.sums);
    for (std::size_t a = 0; a < kBoth; ++a) {
      for (std::size_t b = 0; b < kBoth; ++b) value[a][b] += sums.value[a][b];
    }
  }
  Refined refined;
  refined.assessment = assessment_of(system_->host(), at.nu_hat, at.epsi_hat, blocks);
  refined.worst = worst_error(value, refined.assessment);
  return refined;
}

// ‖r‖/√(unknowns) of s1 over the rows 0, 1, 2. Row 2 of the whole system is that of the kept three,
// since Δ_2 f_2 = D_2 f_2 + U_2 f_3.
double BatchedElimination::rest_of_s1(std::size_t i) const {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += sums_[i * kept_.size() + k].sums.rest[0];
  return std::sqrt(sum / static_cast<double>(system_->offset(3)));
}

// As refine() of solver/whole.h, each case for itself, but with one correction in any case: it
// takes back what explicit inverses have lost.
void BatchedElimination::refine(std::span<const Case> cases, const DeviceCases& on_device,
                                std::vector<Refined>& found, std::vector<double>& rest) {
  std::vector<std::int32_t> open(cases.size(), 1);
  auto still_open = on_device;
  still_open.open = open_;
  for (int round = 0; round < kMostCorrections; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (round > 0 && !(found[i].worst > kGoodEnough)) open[i] = 0;
    }
    if (std::ranges::count(open, 1) == 0) return;
    kernels::cuda::copy_to_device(open_, open.data(), open.size() * sizeof(std::int32_t), stream_);
    solve_by_blocks(r_, system_->host().n_xi, still_open);
    add(f_, r_, better_, system_->unknowns(), still_open, stream_);
    assess_all(still_open, better_);
    std::vector<std::int32_t> taken(cases.size(), 0);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (open[i] == 0) continue;
      auto now = refined(cases[i], i);
      open[i] = now.worst < kWorthIt * found[i].worst ? 1 : 0;
      if (!(now.worst < found[i].worst)) continue;
      taken[i] = 1;
      now.corrections = found[i].corrections + 1;
      found[i] = std::move(now);
      rest[i] = rest_of_s1(i);
    }
    kernels::cuda::copy_to_device(taken_, taken.data(), taken.size() * sizeof(std::int32_t),
                                  stream_);
    copy_where(taken_, better_, f_, system_->unknowns(), on_device.count, stream_);
  }
}

std::vector<EliminationResult> BatchedElimination::solve(std::span<const Case> cases,
                                                         Elimination how) {
  const auto& host = system_->host();
  check(cases.size() <= static_cast<std::size_t>(most_), "a batch has room for its cases");
  const DeviceCases on_device = {static_cast<int>(cases.size()), nu_, epsi_};
  std::vector<double> nu, epsi;
  for (const auto& c : cases) {
    check(c.epsi_hat == 0 || host.electric.has_value(), "this system has an electric term");
    nu.push_back(c.nu_hat);
    epsi.push_back(c.epsi_hat);
  }
  kernels::cuda::copy_to_device(nu_, nu.data(), nu.size() * sizeof(double), stream_);
  kernels::cuda::copy_to_device(epsi_, epsi.data(), epsi.size() * sizeof(double), stream_);
  eliminate(on_device, how);
  const auto singular = host.pinned ? kernels::cuda::Cublas::singular(lu_, on_device.count, stream_)
                                    : std::vector<bool>(cases.size());  // NaN would tell
  fill_sources(*system_, f_, on_device.count, stream_);
  solve_by_blocks(f_, 2, on_device);
  assess_all(on_device, f_);
  std::vector<Refined> found;
  std::vector<double> rest;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    found.push_back(refined(cases[i], i));
    rest.push_back(rest_of_s1(i));
  }
  refine(cases, on_device, found, rest);

  const auto three = static_cast<std::size_t>(system_->offset(3)) * kBoth;
  std::vector<double> modes(three * cases.size());
  kernels::cuda::copy_rows_to_host(modes.data(), three * sizeof(double), f_.data,
                                   static_cast<std::size_t>(f_.step) * kBoth * sizeof(double),
                                   cases.size(), stream_);
  std::vector<EliminationResult> results(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double* at = modes.data() + i * three;
    auto& result = results[i];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto size = static_cast<std::size_t>(host.block_size(static_cast<int>(k)));
      for (std::size_t j = 0; j < kBoth; ++j) {
        result.modes[j][k].resize(size);
        for (std::size_t u = 0; u < size; ++u) result.modes[j][k][u] = at[u * kBoth + j];
      }
      at += size * kBoth;
    }
    result.singular = singular[i];
    result.residual = rest[i];
    result.whole = std::move(found[i]);
  }
  return results;
}

}  // namespace assay::transport::cuda
