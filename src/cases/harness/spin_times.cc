// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/harness/spin_times.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/hash.h"
#include "lab/record/point.h"

namespace assay::cases::harness {
namespace {

constexpr double kBasisPoint = 1e-4;
constexpr double kSpike = 3;  // as long as any other call

std::uint64_t identity(std::string_view attempt) {
  return std::stoull(short_hash(attempt), nullptr, 16);
}

}  // namespace

SpinTimes::SpinTimes(const Json& point, std::string_view attempt, bool slower)
    : stream_(static_cast<std::uint64_t>(lab::point_int(point, "seed")), identity(attempt)),
      mean_s_(1e-6 * static_cast<double>(lab::point_int(point, "mean_us"))),
      call_sigma_(kBasisPoint * static_cast<double>(lab::point_int(point, "call_bp"))),
      spike_chance_(kBasisPoint * static_cast<double>(lab::point_int(point, "spikes_bp"))) {
  if (slower) mean_s_ *= 1 + kBasisPoint * static_cast<double>(lab::point_int(point, "slower_bp"));
  process_ = 1 + kBasisPoint * static_cast<double>(lab::point_int(point, "process_bp")) * normal(0);
}

double SpinTimes::of_call(std::uint64_t i) const {
  const std::uint64_t at = 4 * (i + 1);  // four numbers of the stream for each; the first are taken
  const double spike = unit_interval(stream_[at + 2]) < spike_chance_ ? kSpike : 1;
  const double seconds = mean_s_ * process_ * (1 + call_sigma_ * normal(at)) * spike;
  return std::max(seconds, 0.1 * mean_s_);
}

double SpinTimes::normal(std::uint64_t i) const {
  const double radius = std::sqrt(-2 * std::log(1 - unit_interval(stream_[i])));
  return radius * std::cos(2 * std::numbers::pi * unit_interval(stream_[i + 1]));
}

}  // namespace assay::cases::harness
