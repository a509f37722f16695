// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/profile_data.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/hash.h"

namespace assay::transport {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

class ProfileColumns {
 public:
  ProfileColumns(const std::vector<RadiusAnswer>& answers, DataFile& data)
      : answers_(answers), data_(data) {}

  template <typename Value>
  void radius(const char* name, const char* unit, const char* text, Value value) {
    Variable v{name, {"radius"}, {}, unit, text};
    for (const auto& a : answers_) v.values.push_back(value(a));
    data_.variables.push_back(std::move(v));
  }
  // value(answer, species); NaN where a radius has no fluxes.
  template <typename Value>
  void species(const std::string& name, const char* unit, const std::string& text, Value value) {
    Variable v{name, {"radius", "species"}, {}, unit, text};
    for (const auto& a : answers_) {
      for (std::size_t s = 0; s < a.species.size(); ++s) v.values.push_back(value(a, s));
    }
    data_.variables.push_back(std::move(v));
  }
  template <typename Value>
  void root(const char* name, const char* unit, const char* text, std::size_t most, Value value) {
    Variable v{name, {"radius", "root"}, {}, unit, text};
    for (const auto& a : answers_) {
      for (std::size_t i = 0; i < most; ++i) {
        v.values.push_back(i < a.search.roots.size() ? value(a.search.roots[i]) : kAbsent);
      }
    }
    data_.variables.push_back(std::move(v));
  }

 private:
  const std::vector<RadiusAnswer>& answers_;
  DataFile& data_;
};

void add_fluxes(ProfileColumns& columns, const std::string& suffix, const std::string& how,
                Fluxes RadiusFluxes::*which) {
  const auto add = [&](const char* name, const char* unit, const char* text,
                       double SpeciesFluxes::*value) {
    columns.species(name + suffix, unit, text + how, [=](const RadiusAnswer& a, std::size_t s) {
      const auto& all = (a.fluxes.*which).species;
      return all.empty() ? kAbsent : all[s].*value;
    });
  };
  add("particle_flux", "1/(m^2 s)", "<Gamma . grad r>, r outward", &SpeciesFluxes::particles);
  add("heat_flux", "W/m^2", "<Q . grad r>, convection included", &SpeciesFluxes::heat);
  add("parallel_flow", "m/s", "<u_par B>/B0, along b", &SpeciesFluxes::flow);
}

}  // namespace

DataFile profile_data(const ProfilesInput& in, const std::vector<RadiusAnswer>& answers) {
  check(!answers.empty(), "there is an answer to write");
  DataFile data;
  const std::size_t n_species = in.species.size();
  std::size_t roots = 1;
  for (const auto& a : answers) roots = std::max(roots, a.search.roots.size());
  data.dimensions = {{"radius", answers.size()},
                     {"species", n_species},
                     {"root", roots},
                     {"flux", 3},
                     {"force", 3}};
  ProfileColumns columns(answers, data);
  columns.radius("rho", "1", "square root of the normalised toroidal flux",
                 [](const auto& a) { return a.rho; });
  columns.radius("r", "m", "minor radius, rho times that of the edge",
                 [](const auto& a) { return a.r; });
  columns.radius("B0", "T", "mean field", [](const auto& a) { return a.b0; });
  columns.radius("mean_B2", "T^2", "<B^2>", [](const auto& a) { return a.mean_b2; });
  columns.radius("coulomb_logarithm", "1", "of every pair of species",
                 [](const auto& a) { return a.coulomb_logarithm; });
  columns.radius("Er", "V/m", "radial electric field of the fluxes",
                 [](const auto& a) { return a.er; });
  const auto flux = [&](const char* name, const char* unit, const char* text,
                        Fluxes RadiusFluxes::*which, double Fluxes::*value) {
    columns.radius(name, unit, text, [=](const RadiusAnswer& a) {
      return (a.fluxes.*which).species.empty() ? kAbsent : a.fluxes.*which.*value;
    });
  };
  flux("jB", "A T/m^2", "<j . B> with momentum conserved", &RadiusFluxes::corrected,
       &Fluxes::parallel_current);
  flux("jB_plain", "A T/m^2", "<j . B> of the Lorentz operator", &RadiusFluxes::plain,
       &Fluxes::parallel_current);
  flux("Jr", "A/m^2", "radial current with momentum conserved", &RadiusFluxes::corrected,
       &Fluxes::radial_current);
  flux("Jr_plain", "A/m^2", "radial current of the Lorentz operator", &RadiusFluxes::plain,
       &Fluxes::radial_current);
  columns.radius("outside_share", "1", "of an integrand, beyond the table (worst)",
                 [](const auto& a) { return a.fluxes.outside_share; });
  columns.radius("quadrature_error", "1", "relative difference of two rules",
                 [](const auto& a) { return a.fluxes.quadrature_error; });
  columns.radius("onsager_error", "1", "|L13 + L31| over the larger (worst)",
                 [](const auto& a) { return a.fluxes.onsager_error; });
  columns.radius("laguerre_change", "1", "of fluxes, by one Laguerre term fewer",
                 [](const auto& a) { return a.laguerre_change; });
  columns.radius("table_change", "1", "of fluxes, by every second nu_hat left out",
                 [](const auto& a) { return a.table_change; });
  columns.root("root_Er", "V/m", "ambipolar fields, ascending", roots,
               [](const Root& r) { return r.er; });
  columns.root("root_slope", "A/(V m)", "dJ_r/dE_r; stable where positive", roots,
               [](const Root& r) { return r.slope; });
  columns.root("root_kind", "1", "-1 ion, 0 unstable, 1 electron", roots, [](const Root& r) {
    return r.kind == RootKind::kIon ? -1.0 : r.kind == RootKind::kElectron ? 1.0 : 0.0;
  });
  columns.species("density", "1/m^3", "density",
                  [](const auto& a, std::size_t s) { return a.species[s].density; });
  columns.species("temperature", "eV", "temperature", [](const auto& a, std::size_t s) {
    return a.species[s].temperature / kElementaryCharge;
  });
  columns.species("density_gradient", "1/m^4", "dn/dr",
                  [](const auto& a, std::size_t s) { return a.species[s].density_gradient; });
  columns.species("temperature_gradient", "eV/m", "dT/dr", [](const auto& a, std::size_t s) {
    return a.species[s].temperature_gradient / kElementaryCharge;
  });
  add_fluxes(columns, "", ", momentum conserved", &RadiusFluxes::corrected);
  add_fluxes(columns, "_plain", ", Lorentz operator", &RadiusFluxes::plain);
  Variable l{"L",
             {"radius", "species", "flux", "force"},
             {},
             "SI",
             "L_ij of the Lorentz operator: I_i = -n sum_j L_ij A_j"};
  for (const auto& a : answers) {
    for (std::size_t s = 0; s < n_species; ++s) {
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          l.values.push_back(a.fluxes.l.empty() ? kAbsent : a.fluxes.l[s][i][j]);
        }
      }
    }
  }
  data.variables.push_back(std::move(l));

  std::string names, warnings;
  for (const auto& s : in.species) names += (names.empty() ? "" : " ") + s.name;
  for (const auto& a : answers) {
    for (const auto& w : a.warnings) warnings += w + "\n";
  }
  data.texts = {{"species", names},
                {"warnings", warnings},
                {"input", in.text},
                {"input_sha256", sha256_hex(in.text)},
                {"signs",
                 "r outward; flows and currents along b; A1 = n'/n - qEr/T - 3/2 T'/T, A2 "
                 "= T'/T, A3 = -(q/T) B0 <E.B>/<B^2>"}};
  data.numbers = {{"laguerre_terms", in.laguerre_terms},
                  {"e_parallel", in.search.e_parallel},
                  {"momentum_correction", in.search.corrected ? 1.0 : 0.0}};
  return data;
}

}  // namespace assay::transport
