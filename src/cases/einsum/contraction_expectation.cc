// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/contraction_expectation.h"

#include <algorithm>
#include <cmath>

#include "lab/record/sample_rows.h"

namespace assay::cases::einsum {
namespace {

constexpr double kOracleMac = 0x1p27;  // of the loops over one part, about a tenth of a second
// The ends and one that is drawn, however much that takes.
constexpr std::int64_t kFewest = 3;

using Extents = std::map<char, std::int64_t>;

// Multiply-adds of the path where labels have these extents, and the longest sum of a step.
struct PathWork {
  double mac = 0, longest = 1;
};
PathWork work_of(const Contraction& c, const Extents& extent_of) {
  PathWork work;
  auto nodes = c.terms();
  const auto kept = kept_labels(nodes, c.output(), c.path);
  for (std::size_t s = 0; s < c.path.size(); ++s) {
    const auto both = nodes[static_cast<std::size_t>(c.path[s].first)] +
                      nodes[static_cast<std::size_t>(c.path[s].second)];
    double all = 1, sum = 1;
    for (const auto& [label, extent] : extent_of) {
      if (both.find(label) == std::string::npos) continue;
      all *= static_cast<double>(extent);
      if (kept[s].find(label) == std::string::npos) sum *= static_cast<double>(extent);
    }
    work.mac += all;
    work.longest = std::max(work.longest, sum);
    nodes.push_back(kept[s]);
  }
  return work;
}

std::vector<std::int64_t> drawn(std::int64_t extent, std::int64_t wanted, std::int64_t seed) {
  return lab::sample_rows(extent, 1, static_cast<double>(wanted), kFewest, seed).rows;
}

// As many indices along each axis behind the first as are affordable in every row.
PlainPart places_in_every_row(const Contraction& c, std::int64_t draw) {
  const auto output = c.output();
  std::int64_t wanted = 1024;
  for (; wanted > kFewest; wanted /= 2) {
    auto extents = c.extent_of();
    for (const char l : output.substr(1)) extents[l] = std::min(extents[l], wanted);
    if (work_of(c, extents).mac <= kOracleMac) break;
  }
  PlainPart part;
  const auto extent_of = c.extent_of();
  for (std::size_t axis = 1; axis < output.size(); ++axis) {
    // Another seed for each axis, or equal axes would be sampled along their diagonal.
    part[output[axis]] = drawn(extent_of.at(output[axis]), std::max(wanted, kFewest),
                               draw + static_cast<std::int64_t>(axis));
  }
  return part;
}

std::vector<double> contract(const ContractionPoint& p, const std::vector<Tensor>& operands,
                             const PlainPart& part) {
  const auto& c = p.contraction;
  const auto terms = c.terms();
  const auto kept = kept_labels(terms, c.output(), c.path);
  std::vector<PlainTensor> nodes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    nodes.push_back(plain_tensor(terms[i], operands[i], part));
  }
  for (std::size_t s = 0; s < c.path.size(); ++s) {
    nodes.push_back(plain_contract(nodes[static_cast<std::size_t>(c.path[s].first)],
                                   nodes[static_cast<std::size_t>(c.path[s].second)], kept[s],
                                   p.dtype != DType::kF32));
  }
  return std::move(nodes.back().values);
}

// The indices of a part along one axis.
std::vector<std::int64_t> along(const PlainPart& part, char label, std::int64_t extent) {
  const auto it = part.find(label);
  return it == part.end() ? drawn(extent, extent, 0) : it->second;
}

// Rows and positions within a row of a part.
void set_places(const ContractionPoint& p, const PlainPart& part, lab::Expectation& e) {
  const auto output = p.contraction.output();
  e.rows = output.empty() ? std::vector<std::int64_t>{0} : along(part, output[0], p.output[0]);
  const bool whole_rows =
      std::ranges::none_of(output, [&](char l) { return l != output[0] && part.contains(l); });
  if (whole_rows) return;
  e.columns = {0};
  for (std::size_t axis = 1; axis < output.size(); ++axis) {
    const auto indices = along(part, output[axis], p.output[axis]);
    std::vector<std::int64_t> next;
    for (const auto before : e.columns) {
      for (const auto i : indices) next.push_back(before * p.output[axis] + i);
    }
    e.columns = std::move(next);
  }
}

// A sum of k products of unit-variance factors: partial sums grow like √j and each addition rounds
// by u of it, 8·u·k in all (cases/semiring/tolerance.cc has the derivation). In a network the
// errors of a step are multiplied by the later factors like the values are: relative to the typical
// element √K of all summed labels together, K·u·8/√K·(steps), and √ of the longest sum of a step is
// what its rounding adds to its own elements.
void set_tolerance(const ContractionPoint& p, lab::Expectation& e) {
  const double u = p.dtype == DType::kF32 ? 0x1p-24 : 0x1p-52;
  const double kept = static_cast<double>(std::max<std::int64_t>(1, p.output.element_count()));
  const double terms = p.product_of_extents / kept;
  const double steps = static_cast<double>(p.shapes.size() - 1);
  const double longest = work_of(p.contraction, p.contraction.extent_of()).longest;
  e.rtol = 8 * u * steps;
  e.atol =
      p.shapes.size() == 2 ? 8 * u * terms : 8 * u * steps * std::sqrt(terms) * std::sqrt(longest);
}

}  // namespace

std::vector<PlainPart> judged_parts(const ContractionPoint& point, std::int64_t draw) {
  const auto output = point.contraction.output();
  if (output.empty()) return {{}};
  const auto rows = lab::sample_rows(
      point.output[0], point.contraction.flop / 2 / static_cast<double>(point.output[0]),
      kOracleMac, kFewest, draw);
  if (!rows.seed) return {{}};
  std::vector<PlainPart> parts = {{{output[0], rows.rows}}};
  if (output.size() > 1) parts.push_back(places_in_every_row(point.contraction, draw));
  return parts;
}

std::vector<lab::Expectation> expectations(const ContractionPoint& point, int set,
                                           std::int64_t draw) {
  auto operands = make_operands(point);
  fill_operands(point, set, operands);
  std::vector<lab::Expectation> all;
  for (const auto& part : judged_parts(point, draw)) {
    lab::Expectation e;
    e.output = "c";
    e.dtype = name_of(point.dtype);
    e.shape.assign(point.output.extents().begin(), point.output.extents().end());
    set_places(point, part, e);
    if (!part.empty()) e.sample_seed = draw;
    e.values = contract(point, operands, part);
    set_tolerance(point, e);
    e.oracle = point.dtype == DType::kF32 ? "plain loops in f64" : "plain loops in long double";
    all.push_back(std::move(e));
  }
  return all;
}

}  // namespace assay::cases::einsum
