// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/vmec.h"

#include <numbers>
#include <optional>

#include "transport/files/mesh.h"
#include "transport/surface/geometry.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

// Of B² against B·B, root mean square; genuine files keep 5e-4, their series being cut off.
constexpr double kEqualStrength = 5e-2;
// Of iotaf against the field's own, relative; genuine files keep 1e-5.
constexpr double kEqualTransform = 5e-2;

// Of the flux within phi against the field's own, and of Aminor_p against volume and Rmajor_p,
// which VMEC defines it by; genuine files keep 3e-6 and 1e-15.
constexpr double kEqualFlux = 1e-2, kEqualRadius = 1e-2;

// A `wout` file at one normalised flux.
class Wout {
 public:
  Wout(const std::string& path, double psi_n) : path_(path), file_(path) {
    if (is_set(file_, "lasym__logical__") || is_set(file_, "lasym")) {
      fail("{}: asymmetric equilibria (lasym) are not supported", path);
    }
    nfp = field_periods(file_, "nfp", path);
    ns = radial_points(file_, "ns", path);
    half_ = half_mesh(psi_n, ns);
    full_ = full_mesh(psi_n, ns);
    xm_ = file_.vector("xm_nyq");
    xn_ = file_.vector("xn_nyq");
    if (xm_.size() != xn_.size()) fail("{}: xm_nyq and xn_nyq differ in length", path);
    check_modes(xm_, xn_, path);
  }

  // A series on the half mesh, times `scale`.
  Series half(const char* name, double scale = 1) const {
    const auto values = rows(name, xm_.size());
    Series out;
    for (std::size_t i = 0; i < xm_.size(); ++i) {
      out.push_back({mode_number(xm_[i], "xm_nyq", path_),
                     mode_number(-xn_[i] / nfp, "xn_nyq/nfp", path_), scale * half_.in(values, i),
                     0});
    }
    return out;
  }

  // R, on the full mesh with modes of its own; nothing where the file has no shape.
  std::optional<Series> major_radius() const {
    if (!file_.has("rmnc") || !file_.has("xm") || !file_.has("xn")) return std::nullopt;
    const auto xm = file_.vector("xm"), xn = file_.vector("xn");
    if (xm.size() != xn.size()) fail("{}: xm and xn differ in length", path_);
    const auto values = rows("rmnc", xm.size());
    Series out;
    for (std::size_t i = 0; i < xm.size(); ++i) {
      out.push_back({mode_number(xm[i], "xm", path_), mode_number(-xn[i] / nfp, "xn/nfp", path_),
                     full_.in(values, i), 0});
    }
    return out;
  }

  double psi_edge() const {
    const auto phi = radial_vector(file_, "phi", ns, path_);
    const double edge = std::abs(phi.back()) / (2 * pi);
    if (edge == 0) fail("{}: the edge flux must not be 0", path_);
    // The coordinate is s = ψ/ψ_a.
    for (std::size_t i = 0; i < ns; ++i) {
      const double share = phi[i] / phi.back(), s = static_cast<double>(i) / (double(ns) - 1);
      if (!(std::abs(share - s) <= kEqualFlux)) {
        fail("{}: phi must grow evenly from 0 to the edge, got {:.6g} of it on surface {} of {}",
             path_, share, i + 1, ns);
      }
    }
    return edge;
  }
  // The minor radius, where it is what volume and major radius say.
  double minor_radius() const {
    const double a = positive("Aminor_p");
    if (!file_.has("volume_p") || !file_.has("Rmajor_p")) return a;
    const double other = std::sqrt(positive("volume_p") / (2 * pi * pi * positive("Rmajor_p")));
    if (!(std::abs(a - other) <= kEqualRadius * other)) {
      fail("{}: Aminor_p contradicts volume_p and Rmajor_p, which give {:.6g}, got {:.6g}", path_,
           other, a);
    }
    return a;
  }
  // −1 or 1, where the file says it.
  std::optional<double> signgs() const {
    if (!file_.has("signgs")) return std::nullopt;
    const double sign = file_.number("signgs");
    if (std::abs(sign) != 1) fail("{}: signgs must be -1 or 1, got {}", path_, sign);
    return sign;
  }
  double positive(const char* name) const {
    const double value = file_.number(name);
    if (!(value > 0 && std::isfinite(value))) {
      fail("{}: {} must be positive, got {}", path_, name, value);
    }
    return value;
  }
  double iota() const { return full_.in(radial_vector(file_, "iotaf", ns, path_)); }
  bool has(const char* name) const { return file_.has(name); }

  int nfp = 1;
  std::size_t ns = 0;

 private:
  NetcdfReader::Matrix rows(const char* name, std::size_t columns) const {
    auto values = file_.matrix(name, columns);
    if (values.rows != ns) {
      fail("{}: expected {} surfaces, got {}: '{}'", path_, ns, values.rows, name);
    }
    return values;
  }

  std::string path_;
  NetcdfReader file_;
  MeshPlace half_, full_;
  std::vector<double> xm_, xn_;
};

double mean_of(const Series& series) {
  for (const auto& h : series) {
    if (h.m == 0 && h.n == 0) return h.cosine;
  }
  return 0;
}

// Points enough for products of a few fields.
Grid fine_grid(const Series& series) {
  int m = 0, n = 0;
  for (const auto& h : series) {
    m = std::max(m, std::abs(h.m));
    n = std::max(n, std::abs(h.n));
  }
  const auto points = [](int mode) { return std::clamp(4 * mode + 1, 33, 97); };
  return {points(m), points(n), 2};
}

// The file's own word against the field that it holds: a file that was damaged, or put together
// from two, shows here.
void check_consistency(const Surface& s, std::optional<double> signgs) {
  const auto grid = fine_grid(s.b);
  const auto g = make_geometry(s, grid);
  const auto jacobian = evaluate_on(grid, s.vmec->jacobian, s.nfp);
  double squares = 0, mean = 0, flux = 0;
  for (std::size_t r = 0; r < g.points(); ++r) {
    const double b2 = g.b_sup_theta[r] * g.b_sub_theta[r] + g.b_sup_zeta[r] * g.b_sub_zeta[r];
    squares += std::pow(b2 - g.b[r] * g.b[r], 2);
    mean += g.b[r] * g.b[r];
    flux += jacobian[r] * g.b_sup_zeta[r];
  }
  const auto points = static_cast<double>(g.points());
  const double deviation = std::sqrt(squares / points) / (mean / points);
  if (!(deviation <= kEqualStrength)) {
    fail("{}: bmnc contradicts bsup and bsub: B^2 differs from B.B by {:.2g} of it", s.name,
         deviation);
  }
  // √g B^ζ is the toroidal flux within, but for what averages out: ψ_a, and the series is over it.
  flux /= points;
  if (!(std::abs(std::abs(flux) - 1) <= kEqualFlux)) {
    fail("{}: phi contradicts gmnc and bsupvmnc, whose flux is {:.6g} of it", s.name,
         std::abs(flux));
  }
  if (signgs && *signgs * jacobian[0] < 0) {
    fail("{}: gmnc has the other sign than signgs, {}", s.name, *signgs);
  }
  if (!(std::abs(g.iota - s.iota) <= kEqualTransform * std::max(std::abs(g.iota), 0.1))) {
    fail("{}: iotaf contradicts bsup, whose transform is {:.6g}, got {:.6g}", s.name, g.iota,
         s.iota);
  }
}

}  // namespace

Surface read_vmec(const std::string& path, double psi_n) {
  const Wout file(path, psi_n);
  Surface s;
  s.name = path;
  s.nfp = file.nfp;
  s.psi_n = psi_n;
  s.psi_edge = file.psi_edge();
  s.minor_radius = file.minor_radius();
  s.psi_prime = 2 * s.psi_edge * std::sqrt(psi_n) / s.minor_radius;
  s.iota = file.iota();
  s.b = file.half("bmnc");
  if (const double mean = mean_of(s.b); mean != 0) s.b0 = mean;
  s.vmec = VmecFields{file.half("gmnc", 1 / s.psi_edge), file.half("bsubumnc"),
                      file.half("bsubvmnc"), file.half("bsupumnc"), file.half("bsupvmnc")};
  validate(s);
  check_consistency(s, file.signgs());
  if (auto w = near_axis_warning(psi_n, file.ns); !w.empty()) s.warnings.push_back(std::move(w));
  return s;
}

VmecFacts read_vmec_facts(const std::string& path, double psi_n) {
  const Wout file(path, psi_n);
  VmecFacts facts;
  facts.nfp = file.nfp;
  facts.psi_edge = file.psi_edge();
  facts.minor_radius = facts.volume_radius = file.minor_radius();
  facts.iota = file.iota();
  facts.boozer_i = mean_of(file.half("bsubumnc"));
  facts.boozer_g = mean_of(file.half("bsubvmnc"));

  const auto strength = file.half("bmnc"), volume = file.half("gmnc");
  const auto grid = fine_grid(strength);
  const auto b = evaluate_on(grid, strength, file.nfp), j = evaluate_on(grid, volume, file.nfp);
  const auto shape = file.major_radius();
  const auto r = shape ? evaluate_on(grid, *shape, file.nfp) : Field(b.size(), 0.0);
  double weights = 0, jacobians = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double weight = j[i] * b[i] * b[i];
    weights += weight;
    jacobians += j[i];
    facts.b00 += weight * b[i];
    facts.r00 += weight * r[i];
  }
  facts.handedness = jacobians < 0 ? -1 : 1;
  facts.b00 /= weights;
  facts.r00 /= weights;
  if (!shape && file.has("Rmajor_p")) facts.r00 = file.positive("Rmajor_p");

  // R_00 of the outermost surface of the half mesh.
  const double outermost = 1 - 0.5 / static_cast<double>(file.ns - 1);
  if (file.has("volume_p") && facts.r00 > 0) {
    const double edge =
        psi_n == outermost || !shape ? facts.r00 : read_vmec_facts(path, outermost).r00;
    facts.volume_radius = std::sqrt(file.positive("volume_p") / (2 * pi * pi * edge));
  }
  return facts;
}

}  // namespace assay::transport
