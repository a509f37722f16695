// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/input.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/input_file.h"
#include "base/toml.h"
#include "transport/profiles/curve.h"

namespace assay::transport {
namespace {

struct KnownSpecies {
  const char* name;
  double mass, charge;  // [kg], [e]
};
constexpr std::array<KnownSpecies, 6> kKnownSpecies = {{{"e", kElectronMass, -1},
                                                        {"H", 1.00727646662 * kAtomicMass, 1},
                                                        {"D", 2.01355321274 * kAtomicMass, 1},
                                                        {"T", 3.01550071621 * kAtomicMass, 1},
                                                        {"He", 4.00150617913 * kAtomicMass, 2},
                                                        {"C", 11.9967085 * kAtomicMass, 6}}};

Profile read_profile(const TomlTable& t, const char* key) {
  if (!t.is_table(key)) return Profile::constant(t.number(key));
  const auto p = t.table(key);
  if (p.has("polynomial")) return Profile::polynomial(p.numbers("polynomial"));
  auto rho = p.numbers("rho"), values = p.numbers("value");
  if (rho.size() != values.size()) {
    p.reject("value", "expected as many as rho, {}, got {}", rho.size(), values.size());
  }
  if (rho.size() < 2) p.reject("rho", "expected at least two points, got {}", rho.size());
  for (std::size_t i = 0; i < rho.size(); ++i) {
    if (!(rho[i] >= 0 && rho[i] <= 1) || (i > 0 && !(rho[i] > rho[i - 1]))) {
      p.reject("rho", "expected numbers that ascend from 0 to 1, got {}", rho[i]);
    }
  }
  return Profile::points(std::move(rho), std::move(values));
}

SpeciesProfiles read_species(const TomlTable& t) {
  SpeciesProfiles s;
  s.name = t.text("name");
  if (s.name.empty()) t.reject("name", "the name is empty");
  const auto known = std::ranges::find(kKnownSpecies, s.name, &KnownSpecies::name);
  if (known == kKnownSpecies.end() && !(t.has("mass") && t.has("charge"))) {
    t.reject("name", "'{}' is none of e, H, D, T, He, C: give its mass [u] and charge [e]", s.name);
  }
  s.mass = t.has("mass") ? t.number("mass") * kAtomicMass : known->mass;
  s.charge = (t.has("charge") ? t.number("charge") : known->charge) * kElementaryCharge;
  if (!(s.mass > 0)) t.reject("mass", "expected a positive number, got {}", s.mass / kAtomicMass);
  if (s.charge == 0) t.reject("charge", "expected a number other than 0");
  if (t.has("density")) s.density = read_profile(t, "density");
  s.temperature = read_profile(t, "temperature");
  return s;
}

void read_plasma(const TomlTable& t, ProfilesInput& in) {
  if (t.has("coulomb_logarithm")) {
    in.coulomb_logarithm = t.number("coulomb_logarithm");
    if (!(*in.coulomb_logarithm > 1 && *in.coulomb_logarithm < 100)) {
      t.reject("coulomb_logarithm", "expected a number from 1 to 100, got {}",
               *in.coulomb_logarithm);
    }
  }
  if (t.has("laguerre_terms")) {
    const auto n = t.integer("laguerre_terms");
    if (n < 1 || n > 12) t.reject("laguerre_terms", "expected an integer from 1 to 12, got {}", n);
    in.laguerre_terms = static_cast<int>(n);
  }
  if (t.has("minor_radius")) {
    in.minor_radius = t.number("minor_radius");
    if (!(*in.minor_radius > 0)) {
      t.reject("minor_radius", "expected a positive number, got {}", *in.minor_radius);
    }
  }
  if (t.has("rho")) in.rho = t.numbers("rho");
}

void read_field(const TomlTable& t, ProfilesInput& in) {
  if (t.has("er")) {
    const auto er = t.json("er");
    if (er.is_string()) {
      if (t.text("er") != "ambipolar") {
        t.reject("er", "expected 'ambipolar' or a profile, got '{}'", t.text("er"));
      }
    } else {
      in.er = read_profile(t, "er");
    }
  }
  if (t.has("range")) {
    const auto range = t.numbers("range");
    if (range.size() != 2 || !(range[0] < range[1])) {
      t.reject("range", "expected two numbers that ascend");
    }
    in.search.least = range[0];
    in.search.most = range[1];
  }
  if (t.has("points")) {
    const auto points = t.integer("points");
    if (points < 3 || points > 100'000) {
      t.reject("points", "expected an integer from 3 to 100000, got {}", points);
    }
    in.search.points = static_cast<int>(points);
  }
  if (t.has("root")) {
    const auto root = t.text("root");
    if (root != "ion" && root != "electron") {
      t.reject("root", "expected 'ion' or 'electron', got '{}'", root);
    }
    in.root = root == "ion" ? RootKind::kIon : RootKind::kElectron;
  }
  if (t.has("momentum_correction")) in.search.corrected = t.flag("momentum_correction");
  if (t.has("e_parallel")) in.search.e_parallel = t.number("e_parallel");
}

void read_surfaces(const TomlTable& t, ProfilesInput& in) {
  for (const auto& s : t.tables("surface")) {
    ProfilesInput::SurfaceAt at;
    at.surface = read_surface_request(s, in.path);
    at.rho = s.has("rho") || !at.surface.psi_n ? s.number("rho") : std::sqrt(*at.surface.psi_n);
    if (!(at.rho > 0 && at.rho <= 1)) {
      s.reject("rho", "expected a number above 0 and at most 1, got {}", at.rho);
    }
    for (const auto& other : in.surfaces) {
      if (other.rho == at.rho) s.reject("rho", "{} is there twice", at.rho);
    }
    in.surfaces.push_back(std::move(at));
  }
  if (in.surfaces.empty()) {
    for (const char* key : {"grid", "table"}) {
      if (t.has(key)) t.reject(key, "means nothing without [[surface]]");
    }
    return;
  }
  if (!in.rho.empty()) {
    fail("{}: [plasma] rho chooses from a database; with [[surface]] each has its own", in.path);
  }
  in.grid = read_grid(t.table("grid"));
  const auto table = t.table("table");
  in.nu_hat = table.numbers("nu_hat");
  in.er_hat = table.has("er_hat") ? table.numbers("er_hat") : std::vector<double>{0};
  for (const double nu : in.nu_hat) {
    if (!(nu > 0)) table.reject("nu_hat", "expected positive numbers, got {}", nu);
  }
  if (in.er_hat.empty() || in.er_hat.front() != 0) {
    table.reject("er_hat", "expected numbers from 0 on, the first 0");
  }
  for (const double e : in.er_hat) {
    if (!(e >= 0)) table.reject("er_hat", "D(-E) = D(E): expected numbers from 0 on, got {}", e);
  }
  if (in.nu_hat.size() < 3) {
    table.reject("nu_hat", "energy integrals need at least three, got {}", in.nu_hat.size());
  }
  for (const auto& [values, key] : {std::pair{&in.nu_hat, "nu_hat"}, {&in.er_hat, "er_hat"}}) {
    if (!std::ranges::is_sorted(*values, std::ranges::less_equal{})) {
      table.reject(key, "expected numbers that ascend");
    }
  }
  if (!in.minor_radius) fail("{}: [plasma] minor_radius is needed with [[surface]]", in.path);
}

}  // namespace

Profile Profile::polynomial(std::vector<double> coefficients) {
  Profile p;
  p.values_ = std::move(coefficients);
  return p;
}

Profile Profile::points(std::vector<double> rho, std::vector<double> values) {
  Profile p;
  p.rho_ = std::move(rho);
  p.values_ = std::move(values);
  return p;
}

double Profile::at(double rho) const {
  if (!rho_.empty()) {
    const auto n = neighbours(rho_, rho);
    return Curve{}.at(rho_, n, std::span(values_).subspan(n.first, n.count), rho).value;
  }
  double sum = 0;
  for (std::size_t i = values_.size(); i-- > 0;) sum = sum * rho + values_[i];
  return sum;
}

double Profile::slope(double rho) const {
  if (!rho_.empty()) {
    const auto n = neighbours(rho_, rho);
    return Curve{}.at(rho_, n, std::span(values_).subspan(n.first, n.count), rho).slope;
  }
  double sum = 0;
  for (std::size_t i = values_.size(); i-- > 1;) {
    sum = sum * rho + static_cast<double>(i) * values_[i];
  }
  return sum;
}

std::vector<Species> ProfilesInput::species_at(double at_rho, double a) const {
  std::vector<Species> out;
  double charge = 0, charge_slope = 0, scale = 0;
  const auto known = [&](const SpeciesProfiles& s, const Profile& p, const char* what) {
    if (at_rho < p.first() || at_rho > p.last()) {
      fail("{}: the {} of '{}' is known from rho {} to {}, not at {}", path, what, s.name,
           p.first(), p.last(), at_rho);
    }
  };
  for (const auto& s : species) {
    Species at{s.name, s.mass, s.charge};
    known(s, s.temperature, "temperature");
    at.temperature = s.temperature.at(at_rho) * kElementaryCharge;
    at.temperature_gradient = s.temperature.slope(at_rho) * kElementaryCharge / a;
    if (s.density) {
      known(s, *s.density, "density");
      at.density = s.density->at(at_rho);
      at.density_gradient = s.density->slope(at_rho) / a;
      charge += at.charge * at.density;
      charge_slope += at.charge * at.density_gradient;
      scale += std::abs(at.charge * at.density);
    }
    out.push_back(std::move(at));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!species[i].density) {
      out[i].density = -charge / out[i].charge;
      out[i].density_gradient = -charge_slope / out[i].charge;
      charge = 0;
    }
    if (!(out[i].density > 0)) {
      fail("{}: the density of '{}' at rho {} must be positive, got {}", path, out[i].name, at_rho,
           out[i].density);
    }
    if (!(out[i].temperature > 0)) {
      fail("{}: the temperature of '{}' at rho {} must be positive, got {} eV", path, out[i].name,
           at_rho, out[i].temperature / kElementaryCharge);
    }
  }
  if (std::abs(charge) > 1e-3 * scale) {
    fail("{}: the plasma is not neutral at rho {}: charges sum to {:.2g} of what there is", path,
         at_rho, charge / scale);
  }
  return out;
}

ProfilesInput parse_profiles(std::string text, const std::string& path) {
  ProfilesInput in;
  in.path = path;
  in.text = std::move(text);
  const auto t = TomlTable::parse(in.text, path);
  if (t.has("plasma")) read_plasma(t.table("plasma"), in);
  for (const auto& s : t.tables("species")) {
    auto species = read_species(s);
    if (std::ranges::find(in.species, species.name, &SpeciesProfiles::name) != in.species.end()) {
      s.reject("name", "'{}' is there twice", species.name);
    }
    in.species.push_back(std::move(species));
  }
  if (in.species.empty()) fail("{}: at least one [[species]] is needed", path);
  if (std::ranges::count_if(in.species, [](const auto& s) { return !s.density; }) > 1) {
    fail("{}: one species alone may leave its density out", path);
  }
  if (!in.coulomb_logarithm &&
      std::ranges::find(in.species, "e", &SpeciesProfiles::name) == in.species.end()) {
    fail("{}: without a species 'e' [plasma] coulomb_logarithm is needed", path);
  }
  if (t.has("field")) read_field(t.table("field"), in);
  read_surfaces(t, in);
  t.refuse_unread_keys();
  return in;
}

ProfilesInput read_profiles(const std::string& path) {
  return parse_profiles(read_input_file(path), path);
}

}  // namespace assay::transport
