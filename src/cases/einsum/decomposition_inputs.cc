// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/decomposition_inputs.h"

#include <cmath>

#include "einsum/einsum.h"
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

// "ar,br,cr->abc", or with a core "rst,ar,bs,ct->abc".
Tensor product(const std::vector<Tensor>& factors, const Tensor* core) {
  const std::string modes = "abcdefgh", ranks = core != nullptr ? "rstuvwxy" : "rrrrrrrr";
  std::string text, result;
  std::vector<TensorView> views;
  if (core != nullptr) {
    text = ranks.substr(0, factors.size()) + ",";
    views.push_back(core->view());
  }
  for (std::size_t m = 0; m < factors.size(); ++m) {
    text += (m == 0 ? "" : ",") + modes.substr(m, 1) + ranks.substr(m, 1);
    result += modes[m];
    views.push_back(factors[m].view());
  }
  assay::einsum::Engine engine;
  return engine.einsum(text + "->" + result, views);
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

Tensor cp_tensor(const DecompositionPoint& p, int set) {
  return product(exact_factors(p, set), nullptr);
}

Tensor tucker_tensor(const DecompositionPoint& p, int set) {
  const auto core = uniform_tensor(
      p, "core", set, Shape(std::vector<std::int64_t>(static_cast<std::size_t>(p.order), p.rank)));
  return product(exact_factors(p, set), &core);
}

}  // namespace assay::cases::einsum
