// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/edge_inputs.h"

#include <algorithm>
#include <cmath>

#include "lab/record/case.h"
#include "lab/record/point.h"
#include "tensor/fill.h"

namespace assay::cases::semiring {
namespace {

std::int64_t degree(const EdgePoint& point, const Philox& stream, std::int64_t vertex) {
  if (!point.power_law) return point.k;
  const double u = unit_interval(stream[static_cast<std::uint64_t>(vertex)]);
  const double drawn = std::floor(2.0 / std::sqrt(1.0 - u));
  return std::min(point.k, static_cast<std::int64_t>(std::min(drawn, 1e9)));
}

}  // namespace

EdgePoint::EdgePoint(const Json& point)
    : reduce(assay::semiring::edge_reduce_from_name(lab::point_word(point, "reduce"), "point")),
      dtype(dtype_from_name(lab::point_word(point, "dtype"), "point")),
      power_law(lab::point_word(point, "degrees") == "power_law"),
      n(lab::point_int(point, "n")),
      k(lab::point_int(point, "k")),
      d(lab::point_int(point, "d")),
      seed(lab::point_int(point, "seed")) {}

EdgeInputs::EdgeInputs(const EdgePoint& p)
    : v(p.dtype, Shape({p.n, p.k})),
      idx(DType::kI32, Shape({p.n, p.k})),
      x(p.dtype, Shape({p.n, p.d})),
      w(p.dtype, Shape({p.d, p.d})) {}

void fill_inputs(const EdgePoint& point, int set, EdgeInputs& inputs) {
  const auto stream = [&](std::string_view name) {
    return lab::input_stream(point.seed, name, set);
  };
  const double width = std::sqrt(3.0);
  fill_uniform(inputs.v.mutable_view(), stream("v"), 0, 1);
  fill_uniform(inputs.x.mutable_view(), stream("x"), -width, width);
  fill_uniform(inputs.w.mutable_view(), stream("w"), -width, width);
  fill_below(inputs.idx.mutable_view(), stream("idx"), static_cast<std::uint64_t>(point.n));
  if (!point.power_law) return;
  const auto degrees = stream("degree");
  const auto idx = inputs.idx.mutable_view();
  for (std::int64_t i = 0; i < point.n; ++i) {
    for (std::int64_t p = degree(point, degrees, i); p < point.k; ++p)
      idx.at<std::int32_t>(i, p) = -1;
  }
}

std::int64_t count_edges(const EdgePoint& point, int set) {
  if (!point.power_law) return point.n * point.k;
  const auto degrees = lab::input_stream(point.seed, "degree", set);
  std::int64_t edges = 0;
  for (std::int64_t i = 0; i < point.n; ++i) edges += degree(point, degrees, i);
  return edges;
}

}  // namespace assay::cases::semiring
