// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: an analytic flux surface as the files of an equilibrium, a VMEC `wout` and the
// `boozmn` that booz_xform makes of it. Written from vector calculus alone, not from what the
// readers do.
//
// The surface is given in right-handed Boozer angles (θ, ζ) with ψ outward, B^ζ > 0:
//   B = I∇θ + G∇ζ + β∇ψ,  J = (G + ιI)/B²,  B^ζ = 1/J,  B^θ = ι/J.
// VMEC's angles (u, v) are θ = σu + λ(u, v), ζ = v + ν(u, v): left-handed, signgs = −1, for σ = −1.
// booz_xform keeps their handedness: θ_b = σθ, ζ_b = ζ. A negative toroidal flux is B → −B.

#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "transport/surface/surface.h"

namespace assay::transport::testing {

inline constexpr std::size_t kRadialPoints = 5;

struct Equilibrium {
  Surface surface;      // right-handed Boozer angles, B_ζ + ι B_θ > 0
  int signgs = -1;      // handedness of VMEC's angles
  int flux = 1;         // sign of the toroidal flux
  double psi_edge = 1;  // modulus of the flux over 2π
  double minor_radius = 0.4;
  double bend = 0;                        // how far VMEC's angles are from straight
  std::map<std::string, double> scalars;  // further numbers of the wout, or others in place of ours
};

// The equilibrium whose surface at psi_n has the ψ' of `s`.
inline Equilibrium equilibrium_of(const Surface& s, double psi_n) {
  Equilibrium e{s};
  e.psi_edge = std::abs(s.psi_prime) * e.minor_radius / (2 * std::sqrt(psi_n));
  return e;
}

class NetcdfWriter {
 public:
  explicit NetcdfWriter(const std::string& path, int mode = NC_CLOBBER) {
    EXPECT_EQ(nc_create(path.c_str(), mode, &id_), NC_NOERR);
  }
  ~NetcdfWriter() { EXPECT_EQ(nc_close(id_), NC_NOERR); }
  NetcdfWriter(const NetcdfWriter&) = delete;
  NetcdfWriter& operator=(const NetcdfWriter&) = delete;

  void put(const std::string& name, std::vector<std::size_t> shape,
           const std::vector<double>& values) {
    nc_redef(id_);
    std::vector<int> dimensions;
    for (const auto size : shape) {
      int d = 0;
      const auto label = "n" + std::to_string(count_++);
      EXPECT_EQ(nc_def_dim(id_, label.c_str(), size, &d), NC_NOERR);
      dimensions.push_back(d);
    }
    int variable = 0;
    EXPECT_EQ(nc_def_var(id_, name.c_str(), NC_DOUBLE, static_cast<int>(dimensions.size()),
                         dimensions.data(), &variable),
              NC_NOERR);
    nc_enddef(id_);
    EXPECT_EQ(nc_put_var_double(id_, variable, values.data()), NC_NOERR);
  }
  void scalar(const std::string& name, double value) { put(name, {}, {value}); }
  void vector(const std::string& name, const std::vector<double>& values) {
    put(name, {values.size()}, values);
  }
  void rows(const std::string& name, std::size_t count, const std::vector<double>& row) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), row.begin(), row.end());
    put(name, {count, row.size()}, values);
  }
  void radial(const std::string& name, double value) {
    put(name, {kRadialPoints}, std::vector<double>(kRadialPoints, value));
  }
  // From 0 at the axis to `edge`.
  void growing(const std::string& name, double edge) {
    std::vector<double> values;
    for (std::size_t i = 0; i < kRadialPoints; ++i) {
      values.push_back(edge * static_cast<double>(i) / (kRadialPoints - 1));
    }
    vector(name, values);
  }

 private:
  int id_ = 0, count_ = 0;
};

// What the field is at one point of VMEC's angles.
struct FieldAt {
  double b, jacobian, sub_u, sub_v, sup_u, sup_v;
};

inline FieldAt field_at(const Equilibrium& e, double u, double v) {
  const auto& s = e.surface;
  const double sigma = e.signgs, nv = s.nfp * v;
  // λ = bend·(sin u + ½ sin(u − nv)), ν = ½ bend·sin(u + nv)/nfp
  const double theta = sigma * u + e.bend * (std::sin(u) + 0.5 * std::sin(u - nv));
  const double zeta = v + 0.5 * e.bend * std::sin(u + nv) / s.nfp;
  const double theta_u = sigma + e.bend * (std::cos(u) + 0.5 * std::cos(u - nv));
  const double theta_v = -0.5 * e.bend * s.nfp * std::cos(u - nv);
  const double zeta_u = 0.5 * e.bend * std::cos(u + nv) / s.nfp;
  const double zeta_v = 1 + 0.5 * e.bend * std::cos(u + nv);
  double b = 0;
  for (const auto& h : s.b) {
    const double phase = h.m * theta + h.n * s.nfp * zeta;
    b += h.cosine * std::cos(phase) + h.sine * std::sin(phase);
  }
  const double jacobian = (s.b_zeta + s.iota * s.b_theta) / (b * b);
  const double sup_theta = s.iota / jacobian, sup_zeta = 1 / jacobian;
  const double turned = theta_u * zeta_v - theta_v * zeta_u;  // ∂(θ, ζ)/∂(u, v)
  return {b,
          jacobian * turned,
          e.flux * (s.b_theta * theta_u + s.b_zeta * zeta_u),
          e.flux * (s.b_theta * theta_v + s.b_zeta * zeta_v),
          e.flux * (zeta_v * sup_theta - theta_v * sup_zeta) / turned,
          e.flux * (theta_u * sup_zeta - zeta_u * sup_theta) / turned};
}

inline void write_wout(const std::string& path, const Equilibrium& e) {
  constexpr int kModes = 12, kPoints = 64;
  std::vector<double> xm, xn;
  for (int m = 0; m <= kModes; ++m) {
    for (int n = m == 0 ? 0 : -kModes; n <= kModes; ++n) {
      xm.push_back(m);
      xn.push_back(n * e.surface.nfp);
    }
  }
  // Amplitudes of cos(mu − xn·v), by quadrature.
  std::vector<std::vector<double>> series(6, std::vector<double>(xm.size(), 0.0));
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      const double u = 2 * std::numbers::pi * i / kPoints;
      const double v = 2 * std::numbers::pi * j / (kPoints * e.surface.nfp);
      const auto f = field_at(e, u, v);
      const double values[] = {f.b, f.jacobian * e.psi_edge, f.sub_u, f.sub_v, f.sup_u, f.sup_v};
      for (std::size_t k = 0; k < xm.size(); ++k) {
        const double norm = (xm[k] == 0 && xn[k] == 0 ? 1.0 : 2.0) / (kPoints * kPoints);
        const double wave = norm * std::cos(xm[k] * u - xn[k] * v);
        for (std::size_t q = 0; q < series.size(); ++q) series[q][k] += wave * values[q];
      }
    }
  }
  std::map<std::string, double> scalars = {{"nfp", e.surface.nfp},       {"ns", kRadialPoints},
                                           {"signgs", e.signgs},         {"lasym__logical__", 0},
                                           {"Aminor_p", e.minor_radius}, {"Rmajor_p", 1.7}};
  for (const auto& [name, value] : e.scalars) scalars[name] = value;
  NetcdfWriter file(path);
  for (const auto& [name, value] : scalars) file.scalar(name, value);
  file.vector("xm_nyq", xm);
  file.vector("xn_nyq", xn);
  file.growing("phi", 2 * std::numbers::pi * e.flux * e.psi_edge);
  file.radial("iotaf", e.signgs * e.surface.iota);
  const char* names[] = {"bmnc", "gmnc", "bsubumnc", "bsubvmnc", "bsupumnc", "bsupvmnc"};
  for (std::size_t q = 0; q < series.size(); ++q) file.rows(names[q], kRadialPoints, series[q]);
}

enum class Shape { kNone, kRoundTube };  // whether the file has R and Z

inline void write_booz(const std::string& path, const Equilibrium& e, Shape shape = Shape::kNone,
                       bool with_flux = true) {
  const auto& s = e.surface;
  const double sigma = e.signgs;
  NetcdfWriter file(path);
  // cos(mθ + n·nfp·ζ) = cos(mθ_b − xn·ζ_b) with θ = σθ_b; σ = −1 turns the sine over.
  std::vector<double> xm, xn, cosine, sine, r, z;
  for (const auto& h : s.b) {
    xm.push_back(h.m);
    xn.push_back(-sigma * h.n * s.nfp);
    cosine.push_back(h.cosine);
    sine.push_back(sigma * h.sine);
    // R = 5 + cos θ_g, Z = sin θ_g; θ_g runs counterclockwise, as left-handed angles do.
    r.push_back(h.m == 0 && h.n == 0 ? 5 : h.m == 1 && h.n == 0 ? 1 : 0);
    z.push_back(h.m == 1 && h.n == 0 ? -sigma : 0);
  }
  std::vector<double> jlist;
  for (std::size_t j = 2; j <= kRadialPoints; ++j) jlist.push_back(static_cast<double>(j));
  file.scalar("nfp_b", s.nfp);
  file.scalar("ns_b", kRadialPoints);
  file.vector("ixm_b", xm);
  file.vector("ixn_b", xn);
  file.vector("jlist", jlist);
  file.rows("bmnc_b", jlist.size(), cosine);
  if (!s.cosine_only()) {
    file.scalar("lasym__logical__", 1);
    file.rows("bmns_b", jlist.size(), sine);
  }
  if (shape == Shape::kRoundTube) {
    file.rows("rmnc_b", jlist.size(), r);
    file.rows("zmns_b", jlist.size(), z);
  }
  file.radial("iota_b", sigma * s.iota);
  file.radial("buco_b", e.flux * sigma * s.b_theta);
  file.radial("bvco_b", e.flux * s.b_zeta);
  if (with_flux) file.growing("phi_b", 2 * std::numbers::pi * e.flux * e.psi_edge);
}

}  // namespace assay::transport::testing
