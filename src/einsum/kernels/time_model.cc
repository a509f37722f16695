// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/time_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/names.h"

namespace assay::einsum {
namespace {

bool is_wide(DType dtype) { return dtype == DType::kF64 || dtype == DType::kC128; }

}  // namespace

constexpr auto kPartNames = make_names<Part>({{Part::kGemm, "gemm"},
                                              {Part::kSmallGemm, "small-gemm"},
                                              {Part::kThinGemm, "thin-gemm"},
                                              {Part::kGemv, "gemv"},
                                              {Part::kLoops, "loops"},
                                              {Part::kPermute, "permute"},
                                              {Part::kGett, "gett"}});

std::string_view name_of(Part part) { return kPartNames[part]; }

double jumps(double elements, double run, double distance, double element_size) {
  constexpr double kPage = 4096;
  const bool far = std::abs(distance) * element_size >= kPage && run * element_size < kPage;
  return far ? elements / run : 0;
}

double seconds(const PartModel& p, const Work& w) {
  const auto saturation = [](double x, double half) { return (x + half) / x; };
  const double compute = w.flop / p.rate * saturation(w.m, p.half_m) * saturation(w.n, p.half_n) *
                         saturation(w.k, p.half_k);
  const double fill = w.bytes / p.cache_bytes;
  const double inside = 1 / (1 + fill * fill);
  const double bandwidth = p.bandwidth + (p.cache_bandwidth - p.bandwidth) * inside;
  const double move = w.bytes / bandwidth;
  return p.fixed + w.calls * p.per_call + (1 - inside) * w.jumps * p.per_jump +
         std::max(compute, move) + p.exposed * std::min(compute, move);
}

TimeModel::TimeModel() {
  for (const bool wide : {false, true}) {
    // As measured on a Neoverse N1; a Xeon with AVX-512 takes three quarters of these times.
    const double peak = wide ? 2.5e10 : 5e10;
    part(Part::kGemm, wide) = {.fixed = 1e-7,
                               .per_call = 1.5e-7,
                               .rate = peak,
                               .half_m = 2,
                               .half_n = 6,
                               .half_k = 6,
                               .exposed = 0.4,
                               .cache_bandwidth = 5e10};
    part(Part::kSmallGemm, wide) = part(Part::kGemm, wide);
    part(Part::kGett, wide) = {.fixed = 1e-6,
                               .per_call = 6e-7,
                               .rate = peak,
                               .half_m = 8,
                               .half_n = 4,
                               .half_k = 8,
                               .exposed = 0.5,
                               .cache_bandwidth = 5e10,
                               .per_jump = 4e-9};
    part(Part::kThinGemm, wide) = {.fixed = 1e-7,
                                   .per_call = 2e-7,
                                   .rate = peak / 6,
                                   .bandwidth = 8e9,
                                   .cache_bandwidth = 1.2e10,
                                   .per_jump = 1e-7};
    part(Part::kGemv, wide) = {.fixed = 1e-7,
                               .per_call = 1e-7,
                               .rate = peak / 5,
                               .bandwidth = 1.5e10,
                               .cache_bandwidth = 3e10,
                               .per_jump = 1e-7};
    part(Part::kLoops, wide) = {.fixed = 1e-7,
                                .per_call = 4e-8,
                                .rate = 4e9,
                                .exposed = 1,
                                .bandwidth = 3e10,
                                .cache_bandwidth = 1e11,
                                .per_jump = 4e-9};
    part(Part::kPermute, wide) = {.fixed = 2e-7,
                                  .per_call = 1e-8,
                                  .rate = 1e12,
                                  .bandwidth = 1e10,
                                  .cache_bandwidth = 2.5e10,
                                  .cache_bytes = 2 << 20,
                                  .per_jump = 5e-9};
  }
}

double TimeModel::seconds(Part p, DType dtype, Work work) const {
  if (is_complex(dtype)) work.flop *= 4;
  return einsum::seconds(part(p, is_wide(dtype)), work);
}

double TimeModel::band(Part p, DType dtype) const { return part(p, is_wide(dtype)).band; }

double PairTimeModel::seconds(const PairSize& size) const {
  const double bytes = static_cast<double>(size_of(dtype_)) * size.batch *
                       (size.m * size.k + size.k * size.n + size.m * size.n);
  const double flop = 2 * size.mac();
  const bool together = model_.on_device;
  const double product = model_.seconds(model_.gemm_part_of(size.m, size.n, size.k), dtype_,
                                        {.m = together ? size.m * size.batch : size.m,
                                         .n = size.n,
                                         .k = size.k,
                                         .calls = together ? 1 : size.batch,
                                         .flop = flop,
                                         .bytes = bytes});
  if (together) {
    // A term is read twice, and what a line brings is shared by neighbours at best.
    const double read = 2 * size.mac() * static_cast<double>(size_of(dtype_));
    return std::min(product,
                    model_.seconds(Part::kLoops, dtype_, {.flop = flop, .bytes = bytes + read}));
  }
  constexpr double kVector = 16;  // bytes for which loops count two flop (loop_nest.h)
  const double loops =
      model_.seconds(Part::kLoops, dtype_,
                     {.calls = size.mac() / std::max({size.m, size.n, size.k, size.batch}),
                      .flop = flop * static_cast<double>(size_of(dtype_)) / kVector,
                      .bytes = bytes});
  return std::min(product, loops);
}

}  // namespace assay::einsum
