// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/mp2/hydrogen.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/names.h"
#include "einsum/decompose/matrix.h"

namespace assay::einsum {
namespace {

constexpr int kMaxAtoms = 40, kMaxIterations = 200, kDiisVectors = 8;
constexpr double kConverged = 1e-10;  // largest element of FDS − SDF
constexpr double kPi = std::numbers::pi;

struct Primitive {
  double exponent, coefficient;  // of a normalised Gaussian
};
struct Function {
  double center;  // along the chain
  std::vector<Primitive> primitives;
};

double self_overlap(double a, double b) { return std::pow(kPi / (a + b), 1.5); }

// Gaussians are given for normalised primitives; the contracted function is normalised too.
Function contracted(double center, const std::vector<std::pair<double, double>>& given) {
  Function f{center, {}};
  for (const auto& [exponent, coefficient] : given) {
    f.primitives.push_back({exponent, coefficient * std::pow(2 * exponent / kPi, 0.75)});
  }
  double square = 0;
  for (const auto& p : f.primitives) {
    for (const auto& q : f.primitives) {
      square += p.coefficient * q.coefficient * self_overlap(p.exponent, q.exponent);
    }
  }
  for (auto& p : f.primitives) p.coefficient /= std::sqrt(square);
  return f;
}

std::vector<Function> basis_functions(const HydrogenChain& chain) {
  std::vector<Function> functions;
  for (int i = 0; i < chain.atoms; ++i) {
    const double at = i * chain.spacing;
    if (chain.basis == HydrogenBasis::kSto3g) {
      functions.push_back(contracted(
          at, {{3.42525091, 0.15432897}, {0.62391373, 0.53532814}, {0.16885540, 0.44463454}}));
    } else {
      functions.push_back(contracted(
          at, {{18.7311370, 0.03349460}, {2.8253937, 0.23472695}, {0.6401217, 0.81375733}}));
      functions.push_back(contracted(at, {{0.1612778, 1.0}}));
    }
  }
  return functions;
}

// F₀(t) = ∫₀¹ exp(−t u²) du.
double boys(double t) {
  if (t < 1e-8) return 1 - t / 3;
  const double root = std::sqrt(t);
  return 0.5 * std::sqrt(kPi) / root * std::erf(root);
}

// The product of two Gaussians is one around a point between them.
struct Product {
  double exponent, center, factor;
};
std::vector<Product> products(const Function& f, const Function& g) {
  std::vector<Product> result;
  const double distance = f.center - g.center;
  for (const auto& p : f.primitives) {
    for (const auto& q : g.primitives) {
      const double sum = p.exponent + q.exponent;
      result.push_back({sum, (p.exponent * f.center + q.exponent * g.center) / sum,
                        p.coefficient * q.coefficient *
                            std::exp(-p.exponent * q.exponent / sum * distance * distance)});
    }
  }
  return result;
}

double overlap(const Function& f, const Function& g) {
  double sum = 0;
  for (const auto& p : products(f, g)) sum += p.factor * std::pow(kPi / p.exponent, 1.5);
  return sum;
}

double kinetic(const Function& f, const Function& g) {
  double sum = 0;
  const double r2 = (f.center - g.center) * (f.center - g.center);
  for (const auto& p : f.primitives) {
    for (const auto& q : g.primitives) {
      const double total = p.exponent + q.exponent, reduced = p.exponent * q.exponent / total;
      sum += p.coefficient * q.coefficient * reduced * (3 - 2 * reduced * r2) *
             std::pow(kPi / total, 1.5) * std::exp(-reduced * r2);
    }
  }
  return sum;
}

double attraction(const Function& f, const Function& g, const HydrogenChain& chain) {
  double sum = 0;
  for (const auto& p : products(f, g)) {
    for (int i = 0; i < chain.atoms; ++i) {
      const double d = p.center - i * chain.spacing;
      sum -= p.factor * 2 * kPi / p.exponent * boys(p.exponent * d * d);
    }
  }
  return sum;
}

double repulsion(const std::vector<Product>& bra, const std::vector<Product>& ket) {
  double sum = 0;
  for (const auto& p : bra) {
    for (const auto& q : ket) {
      const double d = p.center - q.center, total = p.exponent + q.exponent;
      sum += p.factor * q.factor * 2 * std::pow(kPi, 2.5) /
             (p.exponent * q.exponent * std::sqrt(total)) *
             boys(p.exponent * q.exponent / total * d * d);
    }
  }
  return sum;
}

// Rows of L with (pairs × pairs integrals) = LᵀL: the pair with the largest rest is taken next.
std::vector<std::vector<double>> cholesky_rows(const std::vector<std::vector<Product>>& pairs,
                                               double threshold) {
  const std::size_t count = pairs.size();
  std::vector<double> rest(count);
  for (std::size_t i = 0; i < count; ++i) rest[i] = repulsion(pairs[i], pairs[i]);
  std::vector<std::vector<double>> rows;
  while (rows.size() < count) {
    const auto pivot = static_cast<std::size_t>(std::ranges::max_element(rest) - rest.begin());
    if (rest[pivot] < threshold) break;
    std::vector<double> row(count);
    const double root = std::sqrt(rest[pivot]);
    for (std::size_t i = 0; i < count; ++i) {
      double value = repulsion(pairs[pivot], pairs[i]);
      for (const auto& known : rows) value -= known[pivot] * known[i];
      row[i] = value / root;
    }
    for (std::size_t i = 0; i < count; ++i) rest[i] -= row[i] * row[i];
    rest[pivot] = 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

using M = Matrix<double>;

M combine(const M& a, double x, const M& b, double y) {
  M c(a.rows, a.columns);
  for (std::size_t i = 0; i < c.data.size(); ++i) c.data[i] = x * a.data[i] + y * b.data[i];
  return c;
}

double trace_of_product(const M& a, const M& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) sum += a.data[i] * b.data[i];
  return sum;
}

class SelfConsistentField {
 public:
  SelfConsistentField(const HydrogenChain& chain, double threshold)
      : functions_(basis_functions(chain)), n_(static_cast<std::int64_t>(functions_.size())) {
    overlap_ = M(n_, n_);
    core_ = M(n_, n_);
    std::vector<std::vector<Product>> pairs;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        const auto &f = function(i), &g = function(j);
        overlap_(i, j) = overlap(f, g);
        core_(i, j) = kinetic(f, g) + attraction(f, g, chain);
        if (j <= i) pairs.push_back(products(f, g));
      }
    }
    const auto rows = cholesky_rows(pairs, threshold);
    result_.b = Tensor(DType::kF64, Shape({n_, n_, static_cast<std::int64_t>(rows.size())}));
    const auto b = result_.b.mutable_view();
    for (std::size_t p = 0; p < rows.size(); ++p) {
      vectors_.emplace_back(n_, n_);
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t j = 0; j < n_; ++j) {
          const std::int64_t pair = std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j);
          vectors_.back()(i, j) = rows[p][static_cast<std::size_t>(pair)];
          b.at<double>(i, j, p) = vectors_.back()(i, j);
        }
      }
    }
    for (int i = 0; i < chain.atoms; ++i) {
      for (int j = 0; j < i; ++j) nuclear_ += 1 / ((i - j) * chain.spacing);
    }
    result_.occupied = chain.atoms / 2;
  }

  MeanField run() {
    // S^(−1/2) turns the generalised eigenproblem into an ordinary one.
    const auto s = falling_eigen(overlap_);
    M scaled = s.vectors;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        if (!(s.values[static_cast<std::size_t>(j)] > 1e-10))
          fail("mean field: the basis is linearly dependent, overlap {}",
               s.values[static_cast<std::size_t>(j)]);
        scaled(i, j) /= std::sqrt(s.values[static_cast<std::size_t>(j)]);
      }
    }
    const M x = multiply(scaled, transposed(s.vectors));
    M fock = core_;
    std::vector<M> focks, errors;
    for (int iteration = 1; iteration <= kMaxIterations; ++iteration) {
      const M density = new_density(x, fock);
      fock = fock_of(density);
      // FDS − SDF vanishes at the solution.
      const M fds = multiply(fock, multiply(density, overlap_));
      const M error = multiply(x, multiply(combine(fds, 1, transposed(fds), -1), x));
      double largest = 0;
      for (const double e : error.data) largest = std::max(largest, std::abs(e));
      if (largest < kConverged) {
        new_density(x, fock);
        result_.energy =
            0.5 * (trace_of_product(density, core_) + trace_of_product(density, fock)) + nuclear_;
        result_.iterations = iteration;
        return std::move(result_);
      }
      focks.push_back(fock);
      errors.push_back(error);
      if (focks.size() > kDiisVectors) {
        focks.erase(focks.begin());
        errors.erase(errors.begin());
      }
      fock = extrapolated(focks, errors);
    }
    fail("mean field: no convergence in {} iterations", kMaxIterations);
  }

 private:
  const Function& function(std::int64_t i) const { return functions_[static_cast<std::size_t>(i)]; }

  // Orbitals of a Fock matrix; the density of the occupied ones, two electrons each.
  M new_density(const M& x, const M& fock) {
    const auto e = falling_eigen(multiply(x, multiply(fock, x)));
    const M c = multiply(x, e.vectors);
    M ordered(n_, n_);
    result_.orbital_energies.clear();
    for (std::int64_t j = 0; j < n_; ++j) {  // rising
      result_.orbital_energies.push_back(e.values[static_cast<std::size_t>(n_ - 1 - j)]);
      for (std::int64_t i = 0; i < n_; ++i) ordered(i, j) = c(i, n_ - 1 - j);
    }
    result_.coefficients = ordered.tensor();
    const M occupied = first_columns(ordered, result_.occupied);
    M density = multiply(occupied, transposed(occupied));
    for (double& d : density.data) d *= 2;
    return density;
  }

  // F = h + Σ_P [ tr(D B_P) B_P − ½ B_P D B_P ].
  M fock_of(const M& density) const {
    M fock = core_;
    for (const auto& b : vectors_) {
      const double coulomb = trace_of_product(density, b);
      const M exchange = multiply(b, multiply(density, b));
      for (std::size_t i = 0; i < fock.data.size(); ++i) {
        fock.data[i] += coulomb * b.data[i] - 0.5 * exchange.data[i];
      }
    }
    return fock;
  }

  // The combination of earlier Fock matrices whose error is least (Pulay), by Gaussian elimination.
  static M extrapolated(const std::vector<M>& focks, const std::vector<M>& errors) {
    const std::size_t n = focks.size(), size = n + 1;
    std::vector<std::vector<double>> a(size, std::vector<double>(size + 1, 0));
    double scale = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] = trace_of_product(errors[i], errors[j]);
      scale = std::max(scale, a[i][i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] /= scale;
      a[i][n] = a[n][i] = -1;
    }
    a[n][size] = -1;
    for (std::size_t c = 0; c < size; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c + 1; r < size; ++r) {
        if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
      }
      if (std::abs(a[pivot][c]) < 1e-14) return focks.back();  // errors are dependent: no help
      std::swap(a[c], a[pivot]);
      for (std::size_t r = 0; r < size; ++r) {
        if (r == c) continue;
        const double factor = a[r][c] / a[c][c];
        for (std::size_t k = c; k <= size; ++k) a[r][k] -= factor * a[c][k];
      }
    }
    M fock(focks[0].rows, focks[0].columns);
    for (std::size_t i = 0; i < n; ++i) fock = combine(fock, 1, focks[i], a[i][size] / a[i][i]);
    return fock;
  }

  std::vector<Function> functions_;
  std::int64_t n_;
  M overlap_, core_;
  std::vector<M> vectors_;
  double nuclear_ = 0;
  MeanField result_;
};

}  // namespace

HydrogenBasis hydrogen_basis_from_name(std::string_view name) {
  constexpr auto kBases = make_names<HydrogenBasis>(
      {{HydrogenBasis::kSto3g, "sto-3g"}, {HydrogenBasis::k631g, "6-31g"}});
  if (const auto basis = kBases.find(name)) return *basis;
  fail("the basis is sto-3g or 6-31g, not '{}'", name);
}

MeanField solve_mean_field(const HydrogenChain& chain, double cholesky) {
  if (chain.atoms < 2 || chain.atoms > kMaxAtoms || chain.atoms % 2 != 0) {
    fail("a chain has an even number of atoms from 2 to {}, not {}", kMaxAtoms, chain.atoms);
  }
  if (!(chain.spacing >= 0.5 && chain.spacing <= 100)) {
    fail("the spacing of a chain is from 0.5 to 100 bohr, not {}", chain.spacing);
  }
  return SelfConsistentField(chain, cholesky).run();
}

}  // namespace assay::einsum
