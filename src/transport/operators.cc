// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/error.h"
#include "transport/unknowns.h"

namespace assay::transport {
namespace {

// A sparse matrix under construction: entries of V and of g by row.
struct Entries {
  int rows = 0, columns = 0;
  std::vector<std::map<int, double>> v, g;

  Entries(int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        v(static_cast<std::size_t>(rows_)),
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
        if (l != i) {
          e.v[row][l + j * grid.n_theta] =
              a_theta[row] * d_theta[static_cast<std::size_t>(i * grid.n_theta + l)];
        }
      }
      for (int l = 0; l < grid.n_zeta; ++l) {
        if (l != j) {
          e.v[row][i + l * grid.n_theta] =
              a_zeta[row] * d_zeta[static_cast<std::size_t>(j * grid.n_zeta + l)];
        }
      }
      e.g[row][r] = g[row];
    }
  }
  return e;
}

// to.Aᵀ·M·from.A: the matrix between other unknowns. `to` and `from` are isometries up to the
// weights of `Unknowns`, see there.
Entries change_unknowns(const Entries& full, const Unknowns& to, const Unknowns& from) {
  Entries e(to.count(), from.count());
  const auto convert = [&](const std::vector<std::map<int, double>>& in,
                           std::vector<std::map<int, double>>& out) {
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
  convert(full.v, e.v);
  convert(full.g, e.g);
  return e;
}

Entries minus_transposed(const Entries& in) {
  Entries out(in.columns, in.rows);
  for (int r = 0; r < in.rows; ++r) {
    for (const auto& [c, value] : in.v[static_cast<std::size_t>(r)]) {
      out.v[static_cast<std::size_t>(c)][r] = -value;
    }
    for (const auto& [c, value] : in.g[static_cast<std::size_t>(r)]) {
      out.g[static_cast<std::size_t>(c)][r] = value;
    }
  }
  return out;
}

Combination<double> terms_by_row(const Entries& e) {
  std::size_t width = 0;
  for (const auto& row : e.v) width = std::max(width, row.size());
  Combination<double> out{
      .inputs = e.columns, .outputs = e.rows, .width = static_cast<int>(width) + 1};
  for (std::size_t r = 0; r < e.v.size(); ++r) {
    check(e.g[r].size() <= 1, "g has at most one entry in a row");
    const auto add = [&](int source, double weight) {
      out.source.push_back(source);
      out.weight.push_back(weight);
    };
    e.g[r].empty() ? add(0, 0) : add(e.g[r].begin()->first, e.g[r].begin()->second);
    for (const auto& [c, value] : e.v[r]) add(c, value);
    for (std::size_t i = e.v[r].size(); i < width; ++i) add(0, 0);
  }
  return out;
}

std::shared_ptr<const Streaming> streaming(const Entries& e) {
  auto columns = minus_transposed(e);
  for (auto& row : columns.v) {
    for (auto& [r, value] : row) value = -value;
  }
  auto s = std::make_shared<Streaming>();
  s->by_row = terms_by_row(e);
  s->by_column = terms_by_row(columns);
  return s;
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
  const Entries into_even = change_unknowns(full, even_k, odd_k);
  const Entries into_odd = change_unknowns(full, odd_k, even_k);
  s.lower = {streaming(into_even), streaming(into_odd)};
  if (adjoint) {  // U into even rows is the transpose of L into odd rows
    s.upper = {streaming(minus_transposed(into_odd)), streaming(minus_transposed(into_even))};
    s.upper_shift = 0;
    s.symmetric = true;
  } else {
    s.upper = s.lower;
  }
  if (electric) {
    s.electric = terms_by_row(change_unknowns(
        derivative_entries(geometry, e_theta, e_zeta, Field(n, 0.0)), even_k, odd_k));
  }
  const auto of_k = [&](std::size_t k) -> const Unknowns& { return k % 2 == 0 ? even_k : odd_k; };
  for (std::size_t k = 0; k < 3; ++k) {
    s.source[0][k] = of_k(k).restrict_field(source1[k]);
    s.source[1][k] = of_k(k).restrict_field(source3[k]);
    s.functional[0][k] = of_k(k).restrict_functional(functional1[k]);
    s.functional[1][k] = of_k(k).restrict_functional(functional3[k]);
  }
  s.expand = {even_k.expansion(), odd_k.expansion()};
  return s;
}

}  // namespace

template <typename T>
void weigh(const Combination<double>& terms, double scale, double shift, Combination<T>& out) {
  out.inputs = terms.inputs;
  out.outputs = terms.outputs;
  out.width = terms.width;
  out.source = terms.source;
  out.weight.resize(terms.weight.size());
  const auto width = static_cast<std::size_t>(terms.width);
  for (std::size_t i = 0; i < terms.weight.size(); ++i) {
    out.weight[i] = static_cast<T>(terms.weight[i] * (i % width == 0 ? scale * shift : scale));
  }
}
template void weigh(const Combination<double>&, double, double, Combination<double>&);
template void weigh(const Combination<double>&, double, double, Combination<float>&);

template <typename T>
void BlockSystem::lower_by_column(int k, double factor, Combination<T>& out) const {
  weigh(lower[static_cast<std::size_t>(k % 2)]->by_column, factor * k / (2.0 * k - 1), k - 1, out);
}
template void BlockSystem::lower_by_column(int, double, Combination<double>&) const;
template void BlockSystem::lower_by_column(int, double, Combination<float>&) const;

template <typename T>
void BlockSystem::upper_by_row(int k, double factor, Combination<T>& out) const {
  weigh(upper[static_cast<std::size_t>(k % 2)]->by_row, factor * (k + 1) / (2.0 * k + 3),
        -(k + upper_shift), out);
}
template void BlockSystem::upper_by_row(int, double, Combination<double>&) const;
template void BlockSystem::upper_by_row(int, double, Combination<float>&) const;

void BlockSystem::lower_by_row(int k, Combination<double>& out) const {
  weigh(lower[static_cast<std::size_t>(k % 2)]->by_row, k / (2.0 * k - 1), k - 1, out);
}

void BlockSystem::upper_by_column(int k, Combination<double>& out) const {
  weigh(upper[static_cast<std::size_t>(k % 2)]->by_column, (k + 1) / (2.0 * k + 3),
        -(k + upper_shift), out);
}

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
