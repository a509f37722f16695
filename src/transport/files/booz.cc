// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/booz.h"

#include <filesystem>
#include <numbers>

#include "transport/files/mesh.h"
#include "transport/files/vmec.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

// Of what both files of a pair say, relative.
constexpr double kEqualPair = 1e-2;

// A `boozmn` file at one normalised flux.
class Boozmn {
 public:
  Boozmn(const std::string& path, double psi_n) : path_(path), file_(path) {
    nfp = field_periods(file_, "nfp_b", path);
    ns_ = radial_points(file_, "ns_b", path);
    radial_ = half_mesh(psi_n, ns_);
    xm_ = file_.vector("ixm_b");
    xn_ = file_.vector("ixn_b");
    if (xn_.size() != xm_.size()) fail("{}: ixm_b and ixn_b differ in length", path);
    check_modes(xm_, xn_, path);
    // Matrices have one row for each surface in jlist, which counts from 1 and includes the unused
    // first.
    jlist_ = file_.vector("jlist");
    for (std::size_t i = 1; i < jlist_.size(); ++i) {
      if (!(jlist_[i] > jlist_[i - 1])) fail("{}: jlist must ascend, got {}", path, jlist_[i]);
    }
    const HalfMesh half(psi_n, ns_);
    for (const std::size_t k : {1, 2}) {
      if (row_of(half.lower + k - 1)) continue;
      fail("{}: the surface next to psi_n {} was not transformed (not in jlist): {}", path, psi_n,
           half.lower + k);
    }
    rows_ = place_between(half.lower, half.t, row_of(half.lower - 1).has_value(),
                          row_of(half.lower + 2).has_value());
  }

  double radial(const char* name) const {
    return radial_.in(radial_vector(file_, name, ns_, path_));
  }

  std::vector<double> amplitudes(const char* name) const {
    const auto values = file_.matrix(name, xm_.size());
    if (values.rows != jlist_.size()) fail("{}: {} and jlist differ in length", path_, name);
    std::vector<double> out;
    for (std::size_t i = 0; i < xm_.size(); ++i) {
      out.push_back(
          rows_.sum([&](std::size_t surface) { return values.at(row_of(surface).value(), i); }));
    }
    return out;
  }

  // B with its sine terms, where the equilibrium has any.
  Series strength() const {
    const auto cosine = amplitudes("bmnc_b");
    std::vector<double> sine(cosine.size(), 0.0);
    if (file_.has("bmns_b") || is_set(file_, "lasym__logical__") || is_set(file_, "lasym")) {
      sine = amplitudes("bmns_b");
    }
    Series out;
    for (std::size_t i = 0; i < xm_.size(); ++i) {
      out.push_back({mode_number(xm_[i], "ixm_b", path_),
                     mode_number(-xn_[i] / nfp, "ixn_b/nfp_b", path_), cosine[i], sine[i]});
    }
    return out;
  }

  // The sign of the Jacobian of (s, θ, ζ), ζ running as φ of (R, φ, Z) does: left-handed where θ
  // runs counterclockwise in the plane of R and Z, whose area is then positive:
  // ∮ R dZ ∝ Σ m (R_c Z_s − R_s Z_c). Nothing where the file has no shape.
  std::optional<int> handedness() const {
    if (!file_.has("rmnc_b") || !file_.has("zmns_b")) return std::nullopt;
    const auto rc = amplitudes("rmnc_b"), zs = amplitudes("zmns_b");
    double area = 0;
    for (std::size_t i = 0; i < xm_.size(); ++i) area += xm_[i] * rc[i] * zs[i];
    if (file_.has("rmns_b") && file_.has("zmnc_b")) {
      const auto rs = amplitudes("rmns_b"), zc = amplitudes("zmnc_b");
      for (std::size_t i = 0; i < xm_.size(); ++i) area -= xm_[i] * rs[i] * zc[i];
    }
    if (!(std::abs(area) > 0)) return std::nullopt;
    return area > 0 ? -1 : 1;
  }

  std::string near_axis(double psi_n) const { return near_axis_warning(psi_n, ns_); }
  std::optional<double> psi_edge() const {
    if (!file_.has("phi_b")) return std::nullopt;
    const auto phi = file_.vector("phi_b");
    if (phi.empty() || phi.back() == 0) return std::nullopt;
    return std::abs(phi.back()) / (2 * pi);
  }
  std::optional<double> minor_radius() const {
    if (!file_.has("Aminor_p")) return std::nullopt;
    return file_.number("Aminor_p");
  }

  int nfp = 1;

 private:
  // The row of a matrix that has the surface, counted from 0.
  std::optional<std::size_t> row_of(std::size_t surface) const {
    const auto it = std::ranges::find(jlist_, static_cast<double>(surface + 1));
    if (surface == 0 || it == jlist_.end()) return std::nullopt;
    return static_cast<std::size_t>(it - jlist_.begin());
  }

  std::string path_;
  NetcdfReader file_;
  std::size_t ns_ = 0;
  MeshPlace radial_, rows_;  // in vectors of all surfaces, in matrices of those in jlist
  std::vector<double> xm_, xn_, jlist_;
};

// By modulus: whoever made the Boozer file may have turned its angles.
void check_pair(const Surface& s, std::optional<double> edge, const std::string& wout,
                const VmecFacts& facts) {
  const auto compare = [&](const char* what, double here, double there) {
    here = std::abs(here);
    there = std::abs(there);
    if (std::abs(here - there) <= kEqualPair * std::max({here, there, 0.1})) return;
    fail("{}: not of the same equilibrium as '{}': {} {:.6g} and {:.6g}", s.name, wout, what, here,
         there);
  };
  compare("nfp", s.nfp, facts.nfp);
  compare("iota", s.iota, facts.iota);
  compare("B_zeta", s.b_zeta, facts.boozer_g);
  if (edge) compare("edge flux/2pi", *edge, facts.psi_edge);
}

}  // namespace

std::string wout_beside(const std::string& booz_path) {
  const std::filesystem::path path = booz_path;
  const auto name = path.filename().string();
  for (const char* prefix : {"boozmn_wout_", "boozmn_"}) {
    if (!name.starts_with(prefix)) continue;
    const auto beside =
        path.parent_path() / ("wout_" + name.substr(std::string_view(prefix).size()));
    std::error_code error;
    if (std::filesystem::is_regular_file(beside, error)) return beside.string();
  }
  return "";
}

Surface read_booz(const std::string& path, double psi_n, const BoozFlux& flux) {
  const Boozmn file(path, psi_n);
  Surface s;
  s.name = path;
  s.psi_n = psi_n;
  s.nfp = file.nfp;
  s.iota = file.radial("iota_b");
  s.b_theta = file.radial("buco_b");
  s.b_zeta = file.radial("bvco_b");
  s.b = file.strength();
  for (const auto& h : s.b) {
    if (h.m == 0 && h.n == 0) s.b0 = h.cosine;
  }
  auto edge = file.psi_edge();
  auto radius = flux.minor_radius ? flux.minor_radius : file.minor_radius();
  const bool enough = flux.psi_prime || (edge && radius);
  const auto wout_path = flux.wout.empty() && !enough ? wout_beside(path) : flux.wout;
  std::optional<VmecFacts> wout;
  if (!wout_path.empty()) {
    wout = read_vmec_facts(wout_path, psi_n);
    check_pair(s, edge, wout_path, *wout);
  }
  if (auto w = file.near_axis(psi_n); !w.empty()) s.warnings.push_back(std::move(w));
  const auto shape = file.handedness();
  s.handedness = shape.value_or(wout ? wout->handedness : -1);
  if (!shape && !wout) {
    s.notes.push_back(
        "the file has no R and Z, and no wout is named: its angles are taken as VMEC's, which are "
        "left-handed (else D31 and D13 change their sign)");
  }
  if (s.b_zeta + s.iota * s.b_theta < 0) {  // (θ, ζ) → (−θ, −ζ)
    s.b_theta = -s.b_theta;
    s.b_zeta = -s.b_zeta;
    for (auto& h : s.b) h.sine = -h.sine;
  }

  if (!edge && wout) edge = wout->psi_edge;
  if (!radius && wout) radius = wout->minor_radius;
  s.psi_edge = edge.value_or(0);
  s.minor_radius = radius.value_or(0);
  if (flux.psi_prime) {
    s.psi_prime = std::abs(*flux.psi_prime);
  } else {
    if (!edge) {
      fail("{}: the file has no flux (phi_b): give psi_prime, or wout, the file it was made of",
           path);
    }
    if (!radius) {
      fail(
          "{}: psi_prime or a minor radius is needed with a Boozer file: give psi_prime, "
          "minor_radius, or wout, the file it was made of",
          path);
    }
    if (!(*radius > 0)) fail("{}: the minor radius must be positive, got {}", path, *radius);
    s.psi_prime = 2 * *edge * std::sqrt(psi_n) / *radius;
  }
  validate(s);
  return s;
}

}  // namespace assay::transport
