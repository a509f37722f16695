// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/files/netcdf_reader.h"
#include "transport/surface/surface_text.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

// Where a flux lies among the points of a mesh: value = (1 − t)·[lower] + t·[lower + 1]. t leaves
// [0, 1] by at most the half cell between the mesh and the ends 0 and 1.
struct Place {
  std::size_t lower = 0;
  double t = 0;

  double in(const NetcdfReader::Matrix& m, std::size_t column) const {
    return (1 - t) * m.at(lower, column) + t * m.at(lower + 1, column);
  }
  double in(const std::vector<double>& v) const { return (1 - t) * v[lower] + t * v[lower + 1]; }
};

// Rows 1 … ns−1 of an array hold the half mesh s = (j − ½)/(ns − 1); row 0 is not used.
Place half_mesh(double psi_n, std::size_t ns) {
  const double j = psi_n * static_cast<double>(ns - 1) + 0.5;
  const auto lower = std::clamp(static_cast<std::size_t>(j), std::size_t{1}, ns - 2);
  return {lower, j - static_cast<double>(lower)};
}

int mode_number(double value, const char* what, const std::string& path) {
  const double rounded = std::round(value);
  if (std::abs(value - rounded) > 1e-9 || std::abs(rounded) > 1e6) {
    fail("{}: {} must be an integer, got {}", path, what, value);
  }
  return static_cast<int>(rounded);
}

int field_periods(const NetcdfReader& file, const char* name, const std::string& path) {
  const int nfp = mode_number(file.number(name), name, path);
  if (nfp < 1) fail("{}: {} must be at least 1, got {}", path, name, nfp);
  return nfp;
}

std::size_t radial_points(const NetcdfReader& file, const char* name, const std::string& path) {
  const int ns = mode_number(file.number(name), name, path);
  if (ns < 3) fail("{}: {} must be at least 3, got {}", path, name, ns);
  return static_cast<std::size_t>(ns);
}

std::optional<double> mean_of(const Series& series) {
  for (const auto& h : series) {
    if (h.m == 0 && h.n == 0) return h.cosine;
  }
  return std::nullopt;
}

}  // namespace

Surface read_vmec(const std::string& path, double psi_n) {
  const NetcdfReader file(path);
  if (file.has("lasym__logical__") && file.number("lasym__logical__") != 0) {
    fail("{}: asymmetric equilibria (lasym) are not supported", path);
  }
  if (file.has("lasym") && file.number("lasym") != 0) {
    fail("{}: asymmetric equilibria (lasym) are not supported", path);
  }
  Surface s;
  s.name = path;
  s.nfp = field_periods(file, "nfp", path);
  const std::size_t ns = radial_points(file, "ns", path);
  const Place half = half_mesh(psi_n, ns);
  const auto xm = file.vector("xm_nyq"), xn = file.vector("xn_nyq");
  if (xm.size() != xn.size()) fail("{}: xm_nyq and xn_nyq differ in length", path);

  const auto series = [&](const char* name, double scale) {
    const auto values = file.matrix(name, xm.size());
    if (values.rows != ns)
      fail("{}: expected {} surfaces, got {}: '{}'", path, ns, values.rows, name);
    Series out;
    for (std::size_t i = 0; i < xm.size(); ++i) {
      out.push_back({mode_number(xm[i], "xm_nyq", path),
                     mode_number(-xn[i] / s.nfp, "xn_nyq/nfp", path), scale * half.in(values, i),
                     0});
    }
    return out;
  };
  const auto phi = file.vector("phi");
  if (phi.size() != ns) fail("{}: expected {} values, got {}: 'phi'", path, ns, phi.size());
  s.psi_edge = phi.back() / (2 * pi);
  if (s.psi_edge == 0) fail("{}: the edge flux must not be 0", path);
  s.minor_radius = file.number("Aminor_p");
  if (!(s.minor_radius > 0)) fail("{}: Aminor_p must be positive, got {}", path, s.minor_radius);
  if (file.has("Rmajor_p")) s.major_radius = file.number("Rmajor_p");
  s.psi_n = psi_n;
  s.psi_prime = 2 * s.psi_edge * std::sqrt(psi_n) / s.minor_radius;

  s.b = series("bmnc", 1);
  s.b0 = mean_of(s.b);
  VmecFields fields;
  fields.jacobian = series("gmnc", 1 / std::abs(s.psi_edge));
  fields.b_sub_theta = series("bsubumnc", 1);
  fields.b_sub_zeta = series("bsubvmnc", 1);
  fields.b_sup_theta = series("bsupumnc", 1);
  fields.b_sup_zeta = series("bsupvmnc", 1);
  const auto iota = file.vector("iotaf");
  if (iota.size() != ns) fail("{}: expected {} values, got {}: 'iotaf'", path, ns, iota.size());
  const double at = psi_n * static_cast<double>(ns - 1);
  const auto lower = std::min(static_cast<std::size_t>(at), ns - 2);
  s.iota = Place{lower, at - static_cast<double>(lower)}.in(iota);
  s.vmec = std::move(fields);
  validate(s);
  return s;
}

Surface read_booz(const std::string& path, double psi_n, std::optional<double> psi_prime,
                  std::optional<double> minor_radius) {
  const NetcdfReader file(path);
  Surface s;
  s.name = path;
  s.psi_n = psi_n;
  s.nfp = field_periods(file, "nfp_b", path);
  const std::size_t ns = radial_points(file, "ns_b", path);
  const Place half = half_mesh(psi_n, ns);
  const auto radial = [&](const char* name) {
    const auto values = file.vector(name);
    if (values.size() != ns)
      fail("{}: expected {} values, got {}: '{}'", path, ns, values.size(), name);
    return half.in(values);
  };
  s.iota = -radial("iota_b");
  s.b_theta = -radial("buco_b");
  s.b_zeta = radial("bvco_b");
  if (s.b_zeta + s.iota * s.b_theta < 0) {
    s.b_theta = -s.b_theta;
    s.b_zeta = -s.b_zeta;
  }

  // bmnc_b has one row for each surface in jlist, which counts from 1 and includes the unused
  // first.
  const auto xm = file.vector("ixm_b"), xn = file.vector("ixn_b"), jlist = file.vector("jlist");
  const auto bmnc = file.matrix("bmnc_b", xm.size());
  if (xn.size() != xm.size()) fail("{}: ixm_b and ixn_b differ in length", path);
  if (bmnc.rows != jlist.size()) fail("{}: bmnc_b and jlist differ in length", path);
  const auto row_of = [&](std::size_t surface) {
    for (std::size_t r = 0; r < jlist.size(); ++r) {
      if (jlist[r] == static_cast<double>(surface + 1)) return r;
    }
    fail("{}: the surface next to psi_n {} was not transformed (not in jlist): {}", path, psi_n,
         surface + 1);
  };
  const std::size_t below = row_of(half.lower), above = row_of(half.lower + 1);
  for (std::size_t i = 0; i < xm.size(); ++i) {
    const double value = (1 - half.t) * bmnc.at(below, i) + half.t * bmnc.at(above, i);
    s.b.push_back({mode_number(xm[i], "ixm_b", path),
                   mode_number(xn[i] / s.nfp, "ixn_b/nfp_b", path), value, 0});
  }
  s.b0 = mean_of(s.b);

  const auto phi = file.vector("phi_b");
  if (phi.empty()) fail("{}: phi_b is empty", path);
  s.psi_edge = phi.back() / (2 * pi);
  if (psi_prime) {
    s.psi_prime = *psi_prime;
  } else {
    if (!minor_radius && file.has("Aminor_p")) minor_radius = file.number("Aminor_p");
    if (!minor_radius) fail("{}: psi_prime or a minor radius is needed with a Boozer file", path);
    s.minor_radius = *minor_radius;
    s.psi_prime = 2 * s.psi_edge * std::sqrt(psi_n) / *minor_radius;
  }
  validate(s);
  return s;
}

Surface load_surface(const SurfaceRequest& request) {
  Surface s = request.type == "dkes"   ? read_dkes(request.path)
              : request.type == "text" ? read_surface_text(request.path)
              : request.type == "vmec" ? read_vmec(request.path, request.psi_n.value())
              : request.type == "booz"
                  ? read_booz(request.path, request.psi_n.value(), request.psi_prime, {})
                  : builtin_surface(request.type);
  if (request.psi_prime) s.psi_prime = *request.psi_prime;
  if (request.psi_n && s.psi_n == 0) s.psi_n = *request.psi_n;
  if (request.min_bmn > 0) drop_small_modes(s, request.min_bmn);
  return s;
}

}  // namespace assay::transport
