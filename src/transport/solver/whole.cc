// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/whole.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/attend.h"
namespace assay::transport {
namespace {

constexpr std::size_t kBoth = 2;  // sources, side by side

using Two = std::array<double, kBoth>;

Two squares(const std::vector<double>& x) {
  Two sum = {};
  for (std::size_t i = 0; i < x.size(); ++i) sum[i % kBoth] += x[i] * x[i];
  return sum;
}

// M R f or M (−1)^k f of block k without the signs of the two sources.
std::vector<double> adjoint_block(const BlockSystem& system, int k, bool mirrored,
                                  const std::vector<double>& f) {
  const auto& weight = system.weight[static_cast<std::size_t>(k % 2)];
  const double sign = !mirrored && k % 2 == 1 ? -1 : 1;
  std::vector<double> out(f.size());
  for (std::size_t u = 0; u < weight.size(); ++u) {
    const auto from = mirrored ? static_cast<std::size_t>(system.mirror[u]) : u;
    const double factor = sign * 2 / (2.0 * k + 1) * weight[u];
    for (std::size_t j = 0; j < kBoth; ++j) out[u * kBoth + j] = factor * f[from * kBoth + j];
  }
  return out;
}

// What one row of A f loses by rounding, as a statistical sum of its terms, in units of the
// rounding: block k of source j.
double row_noise(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                 std::span<const BlockSums> blocks, std::size_t j) {
  const auto rms = [&](int at) {
    if (at < 0 || at > system.n_xi) return 0.0;
    return std::sqrt(blocks[static_cast<std::size_t>(at)].square[j] / system.block_size(at));
  };
  const auto& [v, g, e] = system.row_length;
  const double lower = k == 0 ? 0 : system.lower_at(k).scale * (v + std::abs(k - 1.0) * g);
  const double upper =
      k == system.n_xi ? 0 : system.upper_at(k).scale * (v + (k + system.upper_shift) * g);
  const double middle = BlockSystem::collisions(nu_hat, k) + std::abs(epsi_hat) * e;
  return lower * rms(k - 1) + middle * rms(k) + upper * rms(k + 1);
}

// All blocks of one parity side by side, and what the operators make of them: few long loops where
// a block alone would take many short ones.
class Streamed {
 public:
  Streamed(const BlockSystem& system, const Modes& f, std::size_t parity, bool field)
      : vectors_(kBoth * ((f.size() + 1 - parity) / 2)) {
    const auto size = static_cast<std::size_t>(system.size[parity]);
    const auto into = static_cast<std::size_t>(system.size[1 - parity]);
    std::vector<double> x(size * vectors_);
    for (std::size_t k = parity; k < f.size(); k += 2) {
      for (std::size_t u = 0; u < size; ++u) {
        for (std::size_t j = 0; j < kBoth; ++j) x[place(k, u, j)] = f[k][u * kBoth + j];
      }
    }
    const auto& lower = system.lower[1 - parity];
    const auto& upper = system.upper[1 - parity];
    apply(*lower, x, into, lower_);
    if (upper != lower) apply(*upper, x, into, other_upper_);
    if (field) {
      electric_.assign(size * vectors_, 0.0);
      add_terms(*system.electric, 1, x, electric_);
    }
  }

  // Element u of L_{k+1} f_k, U_{k−1} f_k or E f_k.
  double lower(const BlockSystem::Scaled& at, std::size_t k, std::size_t u, std::size_t j) const {
    return value(lower_, at, place(k, u, j));
  }
  double upper(const BlockSystem::Scaled& at, std::size_t k, std::size_t u, std::size_t j) const {
    return value(other_upper_.v.empty() ? lower_ : other_upper_, at, place(k, u, j));
  }
  double electric(std::size_t k, std::size_t u, std::size_t j) const {
    return electric_.empty() ? 0 : electric_[place(k, u, j)];
  }

 private:
  struct Applied {
    std::vector<double> v, g;
  };
  std::size_t place(std::size_t k, std::size_t u, std::size_t j) const {
    return u * vectors_ + k / 2 * kBoth + j;
  }
  void apply(const Streaming& operators, const std::vector<double>& x, std::size_t rows,
             Applied& out) const {
    out.v.assign(rows * vectors_, 0.0);
    out.g.assign(rows * vectors_, 0.0);
    add_terms(operators.by_row.v, 1, x, out.v);
    for (const auto& m : operators.by_row.mirror) {
      for (std::size_t i = 0; i < vectors_; ++i) {
        out.g[static_cast<std::size_t>(m.output) * vectors_ + i] +=
            m.value * x[static_cast<std::size_t>(m.source) * vectors_ + i];
      }
    }
  }
  static double value(const Applied& a, const BlockSystem::Scaled& at, std::size_t i) {
    return at.scale * (a.v[i] + at.shift * a.g[i]);
  }

  std::size_t vectors_;
  Applied lower_, other_upper_;
  std::vector<double> electric_;
};

}  // namespace

Modes side_by_side(const std::array<Modes, 2>& apart) {
  Modes all(apart[0].size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k].resize(kBoth * apart[0][k].size());
    for (std::size_t i = 0; i < all[k].size(); ++i) all[k][i] = apart[i % kBoth][k][i / kBoth];
  }
  return all;
}

void extend_upwards(const BlockSystem& system, const std::vector<SolvedBlock>& kept, Modes& f) {
  for (int k = static_cast<int>(f.size()); k <= system.n_xi; ++k) {
    attend();
    std::vector<double> next(kBoth * static_cast<std::size_t>(system.block_size(k)), 0.0);
    apply_lower(system, k, -1, f.back(), next);
    kept[static_cast<std::size_t>(k)].solve(next);
    f.push_back(std::move(next));
  }
}

bool is_mirrored(const BlockSystem& system, double epsi_hat) {
  return epsi_hat != 0 && !system.mirror.empty();
}

Assessment assess(const BlockSystem& system, double nu_hat, double epsi_hat, const Modes& f) {
  const bool field = epsi_hat != 0, mirrored = is_mirrored(system, epsi_hat);
  const std::array<Streamed, 2> streamed = {Streamed(system, f, 0, field),
                                            Streamed(system, f, 1, field)};
  std::vector<BlockSums> blocks(f.size());
  Modes residual;
  for (int k = 0; k <= system.n_xi; ++k) {
    const auto at = static_cast<std::size_t>(k);
    auto& sums = blocks[at];
    const std::size_t size = f[at].size();
    std::vector<double> r(size, 0.0);
    const Streamed &neighbours = streamed[1 - at % 2], &own = streamed[at % 2];
    const double collisions = BlockSystem::collisions(nu_hat, k);
    const auto below = system.lower_at(k), above = system.upper_at(k);
    for (std::size_t u = 0; u < size / kBoth; ++u) {
      for (std::size_t j = 0; j < kBoth; ++j) {
        const double source = k < 3 ? system.source[j][at][u] : 0;
        const double middle = collisions * f[at][u * kBoth + j] + epsi_hat * own.electric(at, u, j);
        const double lower = k == 0 ? 0 : neighbours.lower(below, at - 1, u, j);
        const double upper = k == system.n_xi ? 0 : neighbours.upper(above, at + 1, u, j);
        const double sum = std::abs(source) + std::abs(middle) + std::abs(lower) + std::abs(upper);
        r[u * kBoth + j] = source - (middle + lower + upper);
        sums.terms[j] += sum * sum;
      }
    }
    if (k == 0 && system.pinned) {
      for (std::size_t j = 0; j < kBoth; ++j) r[j] = -f[0][j];
    }
    const auto adjoint = adjoint_block(system, k, mirrored, f[at]);
    const Two square = squares(f[at]), length = squares(r), adjoint_square = squares(adjoint);
    const auto& weight = system.weight[at % 2];
    for (std::size_t i = 0; i < kBoth; ++i) {
      sums.square[i] = square[i];
      sums.rest[i] = length[i];
      sums.adjoint[i] = adjoint_square[i];
      for (std::size_t u = 0; u < weight.size(); ++u) {
        sums.energy[i] += weight[u] * f[at][u * kBoth + i] * f[at][u * kBoth + i];
      }
      for (std::size_t j = 0; j < kBoth; ++j) {
        for (std::size_t u = 0; u < size / kBoth; ++u) {
          sums.product[i][j] += adjoint[u * kBoth + i] * r[u * kBoth + j];
        }
      }
    }
    residual.push_back(std::move(r));
  }
  auto a = assessment_of(system, nu_hat, epsi_hat, blocks);
  a.r = std::move(residual);
  return a;
}

Assessment assessment_of(const BlockSystem& system, double nu_hat, double epsi_hat,
                         std::span<const BlockSums> blocks) {
  Assessment a;
  const bool bound_only = epsi_hat != 0 && !is_mirrored(system, epsi_hat);
  Two rest = {}, terms = {}, all_modes = {}, last_modes = {};
  double adjoint_length[kBoth] = {};  // squared, for the bound
  const int last = system.n_xi - std::max(2, (system.n_xi + 1) / 10);
  for (int k = 0; k <= system.n_xi; ++k) {
    const auto& sums = blocks[static_cast<std::size_t>(k)];
    const Two noise = {row_noise(system, k, nu_hat, epsi_hat, blocks, 0),
                       row_noise(system, k, nu_hat, epsi_hat, blocks, 1)};
    for (std::size_t i = 0; i < kBoth; ++i) {
      rest[i] += sums.rest[i];
      terms[i] += sums.terms[i];
      adjoint_length[i] += sums.adjoint[i];
      const double energy = sums.energy[i] / (2.0 * k + 1);  // ⟨f²⟩ of this mode, times two
      all_modes[i] += energy;
      if (k > last) last_modes[i] += energy;
      for (std::size_t j = 0; j < kBoth; ++j) {
        a.by_residual[i][j] += sums.product[i][j];
        a.by_rounding[i][j] += sums.adjoint[i] * noise[j] * noise[j];
      }
    }
  }
  for (std::size_t i = 0; i < kBoth; ++i) {
    for (std::size_t j = 0; j < kBoth; ++j) {
      a.most_by_residual[i][j] = std::sqrt(adjoint_length[i] * rest[j]);
      a.by_residual[i][j] = bound_only ? a.most_by_residual[i][j] : std::abs(a.by_residual[i][j]);
      a.by_rounding[i][j] = std::numeric_limits<double>::epsilon() * std::sqrt(a.by_rounding[i][j]);
    }
    a.residual = std::max(a.residual, terms[i] == 0 ? 0 : std::sqrt(rest[i] / terms[i]));
    if (std::isnan(rest[i])) a.residual = rest[i];
    a.last_modes[i] = all_modes[i] == 0 ? 0 : last_modes[i] / all_modes[i];
  }
  return a;
}

double value_of(const ThreeBlocks& functional, std::span<const std::vector<double>> f,
                std::size_t source) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t u = 0; u < functional[k].size(); ++u) {
      sum += functional[k][u] * f[k][u * kBoth + source];
    }
  }
  return sum;
}

double worst_error(const BlockSystem& system, const Modes& f, const Assessment& a) {
  double value[kBoth][kBoth];
  for (std::size_t i = 0; i < kBoth; ++i) {
    for (std::size_t j = 0; j < kBoth; ++j) value[i][j] = value_of(system.functional[i], f, j);
  }
  return worst_error(value, a);
}

double worst_error(const double (&value)[2][2], const Assessment& a) {
  double worst = 0;
  const double bound = 1e-3 * std::sqrt(std::abs(value[0][0] * value[1][1]));
  for (std::size_t i = 0; i < kBoth; ++i) {
    for (std::size_t j = 0; j < kBoth; ++j) {
      const double scale = i == j ? std::abs(value[i][j]) : std::max(std::abs(value[i][j]), bound);
      const double error = scale == 0 ? 0 : a.by_residual[i][j] / scale;
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

Refined refine(const BlockSystem& system, double nu_hat, double epsi_hat,
               const std::vector<SolvedBlock>& kept, Modes& f) {
  Refined result;
  result.assessment = assess(system, nu_hat, epsi_hat, f);
  result.worst = worst_error(system, f, result.assessment);
  while (result.worst > kGoodEnough && result.corrections < kMostCorrections) {
    Modes better = result.assessment.r;
    solve_by_blocks(system, better, false, [&](int k, std::vector<double>& x) {
      kept[static_cast<std::size_t>(k)].solve(x);
    });
    for (std::size_t k = 0; k < f.size(); ++k) {
      for (std::size_t i = 0; i < f[k].size(); ++i) better[k][i] += f[k][i];
    }
    auto assessment = assess(system, nu_hat, epsi_hat, better);
    const double worst = worst_error(system, better, assessment);
    if (!(worst < result.worst)) break;
    const bool goes_on = worst < kWorthIt * result.worst;
    f = std::move(better);
    result.assessment = std::move(assessment);
    result.worst = worst;
    ++result.corrections;
    if (!goes_on) break;
  }
  return result;
}

}  // namespace assay::transport
