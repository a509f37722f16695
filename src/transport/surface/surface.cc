// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/surface/surface.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::transport {
namespace {

struct Builtin {
  std::string name;
  int nfp;
  double iota, psi_prime, b_theta, b_zeta;
  std::optional<double> b0;
  Series b;
};

const std::vector<Builtin>& builtins() {
  static const std::vector<Builtin> kSurfaces = {
      {"example", 5, 0.85, 1, 0.05, 1, {}, {{0, 0, 1}, {1, 0, .06}, {1, 1, .025}, {2, -1, .01}}},
      {"sample_dkes",
       2,
       0.4,
       1.25,
       0.15,
       1.4,
       2.4,
       {{0, 0, 2.4}, {1, 0, .12}, {0, 1, .08}, {1, -1, -.03}}},
      {"w7x_eim_sample",
       5,
       .4512 / -.5237,
       -.5237,
       0,
       -14.0876,
       2.4311,
       {{0, 0, 2.4311},
        {0, 1, .11149},
        {1, 1, -.094228},
        {1, 0, -.040776},
        {1, -1, .0054553},
        {2, 0, -.0037086}}},
      {"tokamak", 1, .43, .3, .05, 3, 1, {{0, 0, 1}, {1, 0, -.1}}},
  };
  return kSurfaces;
}

void require_finite(const Surface& s, double value, std::string_view what) {
  if (!std::isfinite(value)) fail("surface '{}': {} must be finite, got {}", s.name, what, value);
}

void require_finite(const Surface& s, const Series& series, std::string_view what) {
  if (series.empty()) fail("surface '{}': {} has no modes", s.name, what);
  for (const auto& h : series) {
    if (!std::isfinite(h.cosine) || !std::isfinite(h.sine)) {
      fail("surface '{}': {} has a value that is not finite at mode (m, n) = ({}, {})", s.name,
           what, h.m, h.n);
    }
  }
}

}  // namespace

bool Surface::cosine_only() const {
  return std::ranges::all_of(b, [](const Harmonic& h) { return h.sine == 0; });
}

const std::vector<std::string>& builtin_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& b : builtins()) names.push_back(b.name);
    return names;
  }();
  return kNames;
}

Surface builtin_surface(std::string_view name) {
  for (const auto& b : builtins()) {
    if (b.name != name) continue;
    Surface s;
    s.name = b.name;
    s.nfp = b.nfp;
    s.iota = b.iota;
    s.psi_prime = b.psi_prime;
    s.b_theta = b.b_theta;
    s.b_zeta = b.b_zeta;
    s.b0 = b.b0;
    s.b = b.b;
    return s;
  }
  fail("unknown surface, expected one of {}, got '{}'", fmt::join(builtin_names(), ", "), name);
}

void drop_small_modes(Surface& surface, double min_bmn) {
  if (!std::isfinite(min_bmn) || min_bmn < 0) fail("min_bmn must be at least 0, got {}", min_bmn);
  double mean = 0;
  for (const auto& h : surface.b) {
    if (h.m == 0 && h.n == 0) mean += h.cosine;
  }
  std::erase_if(surface.b, [&](const Harmonic& h) {
    return (h.m != 0 || h.n != 0) && std::hypot(h.cosine, h.sine) < min_bmn * std::abs(mean);
  });
}

void add_mode(Series& b, double m, double n, double cosine, double sine) {
  for (const double number : {m, n}) {
    if (!(std::abs(number) <= kLargestModeNumber) || number != std::floor(number)) {
      fail("mode numbers are whole, from -{0} to {0}, not ({1}, {2})", kLargestModeNumber, m, n);
    }
  }
  for (const auto& h : b) {
    if ((h.m == m && h.n == n) || (h.m == -m && h.n == -n)) {
      fail("the mode ({}, {}) is there twice", m, n);
    }
  }
  b.push_back({static_cast<int>(m), static_cast<int>(n), cosine, sine});
}

void validate(const Surface& s) {
  if (s.nfp < 1)
    fail("surface '{}': the number of field periods must be at least 1, got {}", s.name, s.nfp);
  require_finite(s, s.iota, "iota");
  require_finite(s, s.psi_prime, "psi'");
  if (s.psi_prime == 0) fail("surface '{}': psi' must not be 0", s.name);
  require_finite(s, s.b, "B");
  if (s.b0) {
    require_finite(s, *s.b0, "B_00");
    if (*s.b0 == 0) fail("surface '{}': B_00 must not be 0", s.name);
  }
  if (s.vmec) {
    require_finite(s, s.vmec->jacobian, "the Jacobian");
    require_finite(s, s.vmec->b_sub_theta, "B_theta");
    require_finite(s, s.vmec->b_sub_zeta, "B_zeta");
    require_finite(s, s.vmec->b_sup_theta, "B^theta");
    require_finite(s, s.vmec->b_sup_zeta, "B^zeta");
    return;
  }
  require_finite(s, s.b_theta, "B_theta");
  require_finite(s, s.b_zeta, "B_zeta");
  if (s.b_zeta + s.iota * s.b_theta == 0) {
    fail("surface '{}': B_zeta + iota*B_theta must not be 0", s.name);
  }
}

}  // namespace assay::transport
