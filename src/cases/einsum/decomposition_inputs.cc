// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/decomposition_inputs.h"

#include <algorithm>
#include <cmath>

#include "lab/record/case.h"
#include "lab/record/point.h"
#include "tensor/fill.h"

namespace assay::cases::einsum {
namespace {

constexpr double kStartDistance = 0.1;

Tensor uniform_tensor(const DecompositionPoint& p, const std::string& stream, int set,
                      Shape shape) {
  Tensor t(p.dtype, std::move(shape));
  fill_uniform(t.mutable_view(), lab::input_stream(p.seed, stream, set), -std::sqrt(3.0),
               std::sqrt(3.0));
  return t;
}

// Noise of a hundredth of the elements' size: the error that the exact factors leave.
constexpr double kNoise = 0.01;

// One factor after the other, by plain loops in f64: "r" or "rst…", times "ar", "bs", …
PlainTensor product(PlainTensor x, const std::vector<Tensor>& factors, bool one_rank) {
  const std::string modes = "abcdefgh", ranks = one_rank ? "rrrrrrrr" : "rstuvwxy";
  for (std::size_t m = 0; m < factors.size(); ++m) {
    const auto u = plain_tensor(modes.substr(m, 1) + ranks[m], factors[m]);
    const bool last = m + 1 == factors.size();
    std::string kept;
    for (const char l : x.labels + modes[m]) {
      const bool summed = l == ranks[m] && (!one_rank || last);
      if (!summed) kept += l;
    }
    std::ranges::stable_sort(kept, {}, [&](char l) { return modes.find(l) == std::string::npos; });
    x = plain_contract(x, u, kept, false);
  }
  return x;
}

// Σ_r of the factors' columns.
PlainTensor sum(const DecompositionPoint& p, const std::vector<Tensor>& factors) {
  PlainTensor ones;
  ones.labels = "r";
  ones.extents = {p.rank};
  ones.values.assign(static_cast<std::size_t>(p.rank), 1.0);
  return product(std::move(ones), factors, true);
}

// The product plus noise, in the point's dtype.
Tensor noisy(const DecompositionPoint& p, int set, const PlainTensor& exact, double size) {
  Tensor x(DType::kF64, p.shape());
  fill_uniform(x.mutable_view(), lab::input_stream(p.seed, "noise", set), -std::sqrt(3.0),
               std::sqrt(3.0));
  const auto values = x.as<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = exact.values[i] + kNoise * size * values[i];
  }
  return Tensor::converted(x.view(), p.dtype);
}

}  // namespace

DecompositionPoint::DecompositionPoint(const Json& point)
    : n(lab::point_int(point, "n")),
      order(lab::point_int(point, "order")),
      rank(lab::point_int(point, "rank")),
      sweeps(lab::point_int(point, "sweeps")),
      seed(lab::point_int(point, "seed")),
      dtype(dtype_from_name(lab::point_word(point, "dtype"), "point")) {}

std::vector<Tensor> exact_factors(const DecompositionPoint& p, int set) {
  std::vector<Tensor> factors;
  for (std::int64_t m = 0; m < p.order; ++m) {
    factors.push_back(uniform_tensor(p, "u" + std::to_string(m), set, Shape({p.n, p.rank})));
  }
  return factors;
}

std::vector<Tensor> start_factors(const DecompositionPoint& p, int set) {
  auto factors = exact_factors(p, set);
  for (std::int64_t m = 0; m < p.order; ++m) {
    const auto away = uniform_tensor(p, "s" + std::to_string(m), set, Shape({p.n, p.rank}));
    visit_dtype(p.dtype, [&]<typename T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>) {
        const auto to = factors[static_cast<std::size_t>(m)].template as<T>();
        for (std::size_t i = 0; i < to.size(); ++i)
          to[i] += static_cast<T>(kStartDistance) * away.template as<T>()[i];
      }
    });
  }
  return factors;
}

PlainTensor exact_cp(const DecompositionPoint& p, int set) { return sum(p, exact_factors(p, set)); }
PlainTensor start_cp(const DecompositionPoint& p, int set) { return sum(p, start_factors(p, set)); }

PlainTensor exact_tucker(const DecompositionPoint& p, int set) {
  const auto core = uniform_tensor(
      p, "core", set, Shape(std::vector<std::int64_t>(static_cast<std::size_t>(p.order), p.rank)));
  const std::string ranks = "rstuvwxy";
  return product(plain_tensor(ranks.substr(0, static_cast<std::size_t>(p.order)), core),
                 exact_factors(p, set), false);
}

Tensor cp_tensor(const DecompositionPoint& p, int set) {
  return noisy(p, set, exact_cp(p, set), std::sqrt(static_cast<double>(p.rank)));
}

Tensor tucker_tensor(const DecompositionPoint& p, int set) {
  return noisy(p, set, exact_tucker(p, set),
               std::pow(static_cast<double>(p.rank), 0.5 * static_cast<double>(p.order)));
}

PlainTensor rebuild(const std::vector<Tensor>& factors, const Tensor& core) {
  const bool one_rank = core.shape().rank() == 1;
  const std::string ranks = one_rank ? "r" : "rstuvwxy";
  return product(plain_tensor(ranks.substr(0, core.shape().rank()), core), factors, one_rank);
}

}  // namespace assay::cases::einsum
