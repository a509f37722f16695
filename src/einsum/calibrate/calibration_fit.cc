// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The fit: downhill simplex (Nelder and Mead) over the logarithms of the model's parameters. They
// are few, the model is not smooth (max), and all of them are positive.
#include "einsum/calibrate/calibration_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay::einsum {
namespace {

constexpr double PartModel::*kParameters[] = {
    &PartModel::fixed,       &PartModel::per_call,  &PartModel::rate,
    &PartModel::half_m,      &PartModel::half_n,    &PartModel::half_k,
    &PartModel::exposed,     &PartModel::bandwidth, &PartModel::cache_bandwidth,
    &PartModel::cache_bytes, &PartModel::per_jump};
constexpr std::size_t kCount = std::size(kParameters);
constexpr double kSmallest = 1e-12;  // stands for 0 where a logarithm is taken
constexpr double kPull = 1e-4;      // towards the start, for parameters that the shapes do not show
constexpr double kLeastBand = 0.1;  // what a shared machine's noise alone makes

using Point = std::vector<double>;

PartModel model_at(const PartModel& start, const Point& logs) {
  PartModel model = start;
  for (std::size_t i = 0; i < kCount; ++i) model.*kParameters[i] = std::exp(logs[i]);
  return model;
}

double misfit(const PartModel& model, const std::vector<Measurement>& measurements) {
  double sum = 0;
  for (const auto& m : measurements) {
    const double error = std::log(seconds(model, m.work) / m.measured_s);
    // Least squares near the fit, absolute values far from it: one disturbed shape is one of many.
    sum += std::abs(error) < 0.3 ? error * error : 0.6 * std::abs(error) - 0.09;
  }
  return sum;
}

Point minimize(const std::function<double(const Point&)>& f, const Point& start, double width,
               int steps) {
  std::vector<std::pair<double, Point>> simplex = {{f(start), start}};
  for (std::size_t i = 0; i < start.size(); ++i) {
    Point p = start;
    p[i] += width;
    simplex.emplace_back(f(p), p);
  }
  for (int step = 0; step < steps; ++step) {
    std::ranges::stable_sort(simplex, {}, [](const auto& v) { return v.first; });
    Point center(start.size(), 0);
    for (std::size_t v = 0; v + 1 < simplex.size(); ++v) {
      for (std::size_t i = 0; i < center.size(); ++i) {
        center[i] += simplex[v].second[i] / static_cast<double>(simplex.size() - 1);
      }
    }
    auto& worst = simplex.back();
    const auto along = [&](double t) {
      Point p(center.size());
      for (std::size_t i = 0; i < p.size(); ++i)
        p[i] = center[i] + t * (worst.second[i] - center[i]);
      const double value = f(p);
      return std::pair(value, p);
    };
    const auto reflected = along(-1);
    if (reflected.first < simplex.front().first) {
      const auto expanded = along(-2);
      worst = expanded.first < reflected.first ? expanded : reflected;
    } else if (reflected.first < simplex[simplex.size() - 2].first) {
      worst = reflected;
    } else {
      const auto contracted = along(0.5);
      if (contracted.first < worst.first) {
        worst = contracted;
      } else {
        const Point best = simplex.front().second;
        for (std::size_t v = 1; v < simplex.size(); ++v) {
          auto& p = simplex[v].second;
          for (std::size_t i = 0; i < p.size(); ++i) p[i] = 0.5 * (p[i] + best[i]);
          simplex[v].first = f(p);
        }
      }
    }
  }
  return std::ranges::min_element(simplex, {}, [](const auto& v) { return v.first; })->second;
}

PartModel minimum(const PartModel& start, const std::vector<Measurement>& measurements) {
  Point logs;
  for (const auto parameter : kParameters) {
    logs.push_back(std::log(std::max(start.*parameter, kSmallest)));
  }
  const Point first = logs;
  const auto value = [&](const Point& p) {
    double pull = 0;
    for (std::size_t i = 0; i < p.size(); ++i) pull += (p[i] - first[i]) * (p[i] - first[i]);
    return misfit(model_at(start, p), measurements) + kPull * pull;
  };
  // Restarted from where it ended, with a smaller simplex each time: the first ones get stuck.
  for (const double width : {1.5, -1.0, 0.7, -0.4, 0.2}) logs = minimize(value, logs, width, 600);
  return model_at(start, logs);
}

double relative_error(double x, double y) { return std::exp(std::abs(std::log(x / y))) - 1; }

double nine_of_ten(std::vector<double> errors) {
  std::ranges::sort(errors);
  return errors[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size()))) - 1];
}

// Errors of shapes that the fit did not see: what a plan meets is never one of the shapes measured.
// Every fifth is left out in turn.
double error_of_unseen(const PartModel& start, const std::vector<Measurement>& measurements) {
  constexpr std::size_t kFolds = 5;
  std::vector<double> errors;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<Measurement> seen;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      if (i % kFolds != fold) seen.push_back(measurements[i]);
    }
    if (seen.empty()) continue;
    const PartModel model = minimum(start, seen);
    for (std::size_t i = fold; i < measurements.size(); i += kFolds) {
      errors.push_back(
          relative_error(seconds(model, measurements[i].work), measurements[i].measured_s));
    }
  }
  return errors.empty() ? 1 : nine_of_ten(std::move(errors));
}

}  // namespace

PartModel fit(const PartModel& start, const std::vector<Measurement>& measurements) {
  if (measurements.empty()) return start;
  PartModel fitted = minimum(start, measurements);
  std::vector<double> noise;
  for (const auto& m : measurements) {
    noise.push_back(m.again_s > 0 ? relative_error(m.again_s, m.measured_s) : 0);
  }
  const double unseen = error_of_unseen(start, measurements);
  fitted.band = std::max(kLeastBand, std::hypot(unseen, nine_of_ten(std::move(noise))));
  fitted.shapes = static_cast<int>(measurements.size());
  return fitted;
}

}  // namespace assay::einsum
