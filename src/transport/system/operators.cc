// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/system/operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/error.h"

namespace assay::transport {
namespace {

using Rows = std::vector<std::map<int, double>>;  // entries by row: column → value

// An operator under construction: its derivatives along the two angles, and g, apart.
struct Entries {
  int rows = 0, columns = 0;
  Rows theta, zeta, g;

  Entries(int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        theta(static_cast<std::size_t>(rows_)),
        zeta(static_cast<std::size_t>(rows_)),
        g(static_cast<std::size_t>(rows_)) {}
};

// diag(a_θ) ∂_θ + diag(a_ζ) ∂_ζ on the grid, and diag(g).
Entries derivative_entries(const Geometry& geometry, const Field& a_theta, const Field& a_zeta,
                           const Field& g) {
  const auto& grid = geometry.grid;
  const int n = grid.points();
  const auto d_theta = derivative_matrix(grid.n_theta, 2 * std::numbers::pi);
  const auto d_zeta = derivative_matrix(grid.n_zeta, 2 * std::numbers::pi / geometry.nfp);
  Entries e(n, n);
  for (int j = 0; j < grid.n_zeta; ++j) {
    for (int i = 0; i < grid.n_theta; ++i) {
      const int r = i + j * grid.n_theta;
      const auto row = static_cast<std::size_t>(r);
      for (int l = 0; l < grid.n_theta; ++l) {
        e.theta[row][l + j * grid.n_theta] =
            a_theta[row] * d_theta[static_cast<std::size_t>(i * grid.n_theta + l)];
      }
      for (int l = 0; l < grid.n_zeta; ++l) {
        e.zeta[row][i + l * grid.n_theta] =
            a_zeta[row] * d_zeta[static_cast<std::size_t>(j * grid.n_zeta + l)];
      }
      e.g[row][r] = g[row];
    }
  }
  return e;
}

// The same operator between other unknowns.
Entries change_unknowns(const Entries& full, const Unknowns& to, const Unknowns& from) {
  Entries e(to.count(), from.count());
  const auto convert = [&](const Rows& in, Rows& out) {
    for (int r = 0; r < full.rows; ++r) {
      const auto& target = to.of_point[static_cast<std::size_t>(r)];
      if (target.unknown < 0) continue;
      for (const auto& [c, value] : in[static_cast<std::size_t>(r)]) {
        const auto& origin = from.of_point[static_cast<std::size_t>(c)];
        if (origin.unknown < 0) continue;
        out[static_cast<std::size_t>(target.unknown)][origin.unknown] +=
            target.restrict_weight * value * origin.expand_weight;
      }
    }
  };
  convert(full.theta, e.theta);
  convert(full.zeta, e.zeta);
  convert(full.g, e.g);
  return e;
}

// The transpose, derivatives times `sign`.
Entries transposed(const Entries& in, double sign) {
  Entries out(in.columns, in.rows);
  const auto turn = [&](const Rows& from, Rows& to, double factor) {
    for (std::size_t r = 0; r < from.size(); ++r) {
      for (const auto& [c, value] : from[r]) {
        to[static_cast<std::size_t>(c)][static_cast<int>(r)] = factor * value;
      }
    }
  };
  turn(in.theta, out.theta, sign);
  turn(in.zeta, out.zeta, sign);
  turn(in.g, out.g, 1);
  return out;
}

// Adds a block for each line: the rows and columns that lie on it, and the entries between them.
void add_lines(const Rows& entries, const Rows* g, const std::vector<int>& row_line,
               const std::vector<int>& column_line, Streaming::Terms& terms) {
  std::map<int, std::pair<std::vector<int>, std::vector<int>>> lines;  // rows, columns
  for (std::size_t r = 0; r < row_line.size(); ++r) {
    lines[row_line[r]].first.push_back(static_cast<int>(r));
  }
  for (std::size_t c = 0; c < column_line.size(); ++c) {
    lines[column_line[c]].second.push_back(static_cast<int>(c));
  }
  const auto value = [](const std::map<int, double>& row, int c) {
    const auto it = row.find(c);
    return it == row.end() ? 0.0 : it->second;
  };
  auto& v = terms.v;
  const bool first = v.blocks.empty();  // every unknown lies on one line of each angle
  for (const auto& [line, members] : lines) {
    const auto& [rows, columns] = members;
    v.blocks.push_back(
        {static_cast<std::int32_t>(columns.size()), static_cast<std::int32_t>(rows.size()),
         static_cast<std::int32_t>(v.source.size()), static_cast<std::int32_t>(v.output.size()),
         static_cast<std::int64_t>(v.weight.size()), first});
    v.source.insert(v.source.end(), columns.begin(), columns.end());
    v.output.insert(v.output.end(), rows.begin(), rows.end());
    for (const int c : columns) {
      for (const int r : rows) {
        const auto row = static_cast<std::size_t>(r);
        if (g != nullptr && (*g)[row].contains(c)) {
          terms.mirror.push_back(
              {c, r, static_cast<std::int64_t>(v.weight.size()), (*g)[row].at(c)});
        }
        v.weight.push_back(value(entries[row], c));
      }
    }
  }
}

Streaming::Terms terms_by_row(const Entries& e, const Unknowns& rows, const Unknowns& columns) {
  Streaming::Terms terms;
  terms.v.inputs = e.columns;
  terms.v.outputs = e.rows;
  add_lines(e.theta, &e.g, rows.theta_line, columns.theta_line, terms);
  add_lines(e.zeta, nullptr, rows.zeta_line, columns.zeta_line, terms);
  return terms;
}

std::shared_ptr<const Streaming> streaming(const Entries& e, const Unknowns& rows,
                                           const Unknowns& columns) {
  return std::make_shared<Streaming>(
      Streaming{terms_by_row(e, rows, columns), terms_by_row(transposed(e, 1), columns, rows)});
}

double row_length_of(const Combination<double>& v) {
  double sum = 0;
  for (const double w : v.weight) sum += w * w;
  return std::sqrt(sum / v.outputs);
}

BlockSystem make_system(const Geometry& geometry, const Unknowns& even_k, const Unknowns& odd_k,
                        bool electric, bool adjoint) {
  const std::size_t n = geometry.points();
  BlockSystem s;
  s.n_xi = geometry.grid.n_xi;
  s.size = {even_k.count(), odd_k.count()};
  s.pinned = electric;

  Field a_theta(n), a_zeta(n), g(n), e_theta(n), e_zeta(n);
  ThreeBlocks source1, source3, functional1, functional3;
  for (auto* blocks : {&source1, &source3, &functional1, &functional3}) {
    for (auto& block : *blocks) block.assign(n, 0.0);
  }
  for (std::size_t r = 0; r < n; ++r) {
    const double b = geometry.b[r], jacobian = geometry.jacobian[r], w = geometry.drift[r];
    a_theta[r] = geometry.b_sup_theta[r] / b;
    a_zeta[r] = geometry.b_sup_zeta[r] / b;
    g[r] = geometry.gradient[r] / (2 * b * b);
    e_theta[r] = -geometry.b_sub_zeta[r] / (jacobian * geometry.mean_b2);
    e_zeta[r] = geometry.b_sub_theta[r] / (jacobian * geometry.mean_b2);
    source1[0][r] = -2.0 / 3 * w;
    source1[2][r] = -1.0 / 3 * w;
    source3[1][r] = b;
    const double weight = jacobian / geometry.jacobian_sum;
    functional1[0][r] = -4.0 / 3 * weight * w;
    functional1[2][r] = -2.0 / 15 * weight * w;
    functional3[1][r] = 2.0 / 3 * weight * b;
  }

  const Entries full = derivative_entries(geometry, a_theta, a_zeta, g);
  const auto into = [&](const Unknowns& rows, const Unknowns& columns, bool turned) {
    return streaming(turned ? transposed(change_unknowns(full, columns, rows), -1)
                            : change_unknowns(full, rows, columns),
                     rows, columns);
  };
  const auto into_both = [&](bool turned) -> decltype(s.lower) {
    const auto into_even = into(even_k, odd_k, turned);
    return {into_even, &even_k == &odd_k ? into_even : into(odd_k, even_k, turned)};
  };
  s.lower = s.upper = into_both(false);
  if (adjoint) {  // U into even rows is the transpose of L into odd rows
    s.upper = into_both(true);
    s.upper_shift = 0;
    s.symmetric = true;
  }
  if (electric) {
    const Entries e = derivative_entries(geometry, e_theta, e_zeta, Field(n, 0.0));
    s.electric = terms_by_row(change_unknowns(e, even_k, odd_k), even_k, odd_k).v;
  }
  const auto of_k = [&](std::size_t k) -> const Unknowns& { return k % 2 == 0 ? even_k : odd_k; };
  for (std::size_t k = 0; k < 3; ++k) {
    s.source[0][k] = of_k(k).restrict_field(source1[k]);
    s.source[1][k] = of_k(k).restrict_field(source3[k]);
    s.functional[0][k] = of_k(k).restrict_functional(functional1[k]);
    s.functional[1][k] = of_k(k).restrict_functional(functional3[k]);
  }
  s.unknowns = {even_k, odd_k};
  for (std::size_t parity = 0; parity < 2; ++parity) {
    auto& weight = s.weight[parity];
    weight.assign(static_cast<std::size_t>(s.size[parity]), 0.0);
    for (std::size_t r = 0; r < n; ++r) {
      const auto& p = s.unknowns[parity].of_point[r];
      if (p.unknown < 0) continue;
      weight[static_cast<std::size_t>(p.unknown)] +=
          p.expand_weight * p.expand_weight * geometry.jacobian[r] / geometry.jacobian_sum;
    }
  }
  if (electric && geometry.cosine_only) {
    for (int r = 0; r < static_cast<int>(n); ++r)
      s.mirror.push_back(mirror_point(geometry.grid, r));
  }
  s.row_length = {row_length_of(s.lower[0]->by_row.v), 0, 0};
  for (const double x : g) s.row_length.g += x * x / static_cast<double>(n);
  s.row_length.g = std::sqrt(s.row_length.g);
  if (s.electric) s.row_length.e = row_length_of(*s.electric);
  return s;
}

}  // namespace

template <typename T>
void weigh(const Streaming::Terms& terms, double scale, double shift, Combination<T>& out) {
  const auto& v = terms.v;
  // In most calls the places are the same as last time: only the weights change with k.
  if (out.inputs != v.inputs || out.outputs != v.outputs || out.source != v.source ||
      out.output != v.output || out.blocks.size() != v.blocks.size()) {
    out.inputs = v.inputs;
    out.outputs = v.outputs;
    out.blocks = v.blocks;
    out.source = v.source;
    out.output = v.output;
  }
  out.weight.resize(v.weight.size());
  for (std::size_t i = 0; i < v.weight.size(); ++i) {
    out.weight[i] = static_cast<T>(scale * v.weight[i]);
  }
  for (const auto& g : terms.mirror) {
    const auto place = static_cast<std::size_t>(g.place);
    out.weight[place] = static_cast<T>(scale * (v.weight[place] + shift * g.value));
  }
}
template void weigh(const Streaming::Terms&, double, double, Combination<double>&);
template void weigh(const Streaming::Terms&, double, double, Combination<float>&);

BlockSystem plain_system(const Geometry& geometry) {
  const auto points = Unknowns::points(geometry);
  return make_system(geometry, points, points, true, false);
}

BlockSystem parity_system(const Geometry& geometry) {
  check(geometry.cosine_only, "the parity system needs a cosine-only B");
  return make_system(geometry, Unknowns::odd(geometry), Unknowns::even(geometry), false, false);
}

BlockSystem adjoint_system(const Geometry& geometry, bool parity) {
  check(!parity || geometry.cosine_only, "the parity system needs a cosine-only B");
  if (parity) {
    return make_system(geometry, Unknowns::odd(geometry).weighted(geometry),
                       Unknowns::even(geometry).weighted(geometry), false, true);
  }
  const auto points = Unknowns::points(geometry).weighted(geometry);
  return make_system(geometry, points, points, true, true);
}

}  // namespace assay::transport
