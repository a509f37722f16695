// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Databases: against single solves, and against NTX's own of a genuine equilibrium where that is at
// hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/file.h"
#include "transport/files/booz.h"
#include "transport/files/database.h"
#include "transport/files/netcdf_reader.h"
#include "transport/files/test_equilibria.h"
#include "transport/files/test_shared_data.h"
#include "transport/files/vmec.h"

namespace assay::transport {
namespace {

const Variable& column_of(const DataFile& data, const std::string& name) {
  const auto it = std::ranges::find(data.variables, name, &Variable::name);
  if (it == data.variables.end()) throw std::runtime_error("no variable " + name);
  return *it;
}

DatabaseRequest small_request(const std::string& wout) {
  DatabaseRequest request;
  request.wout = wout;
  request.rho = {0.5, 0.75};
  request.nu_v = {1e-2, 1e-1, 1};
  request.er_tilde = {0, 1e-3};
  request.grid = {5, 7, 4};
  request.scan.threads = 2;
  return request;
}

TEST(Database, HasTheLayoutAndTheNumbersOfSingleSolves) {
  const TemporaryDirectory folder;
  auto e = testing::equilibrium_of(builtin_surface("sample_dkes"), 0.25);
  e.flux = -1;
  e.scalars["volume_p"] = 5.4;  // a radius of 0.401, a little more than Aminor_p
  const auto wout = folder.path() + "/wout.nc";
  testing::write_wout(wout, e);
  const auto request = small_request(wout);
  const auto result = make_database(request);
  ASSERT_TRUE(result.complete);
  ASSERT_EQ(result.surfaces.size(), 2u);
  const auto values = [&](const char* name) { return column_of(result.data, name).values; };
  EXPECT_EQ(column_of(result.data, "D11").dimensions,
            (std::vector<std::string>{"rho", "nu_v", "Er_tilde"}));
  ASSERT_EQ(values("D11").size(), 12u);

  // a_b from volume and major radius; the flux by its modulus.
  const double a = std::sqrt(5.4 / (2 * std::numbers::pi * std::numbers::pi * 1.7));
  EXPECT_DOUBLE_EQ(result.data.numbers.at("a_b"), a);
  EXPECT_DOUBLE_EQ(result.data.numbers.at("psia"), e.psi_edge);
  EXPECT_EQ(result.data.integers.at("format_version"), 2);
  EXPECT_DOUBLE_EQ(values("drds")[1], a / 1.5);
  EXPECT_DOUBLE_EQ(values("R00")[1], 1.7);
  EXPECT_NEAR(values("B00")[1], 2.4, 1e-12);
  EXPECT_NEAR(values("G")[1], -1.4, 1e-12);
  EXPECT_NEAR(values("I")[1], 0.15, 1e-12);
  EXPECT_NEAR(values("iota")[1], -0.4, 1e-12);

  // Second surface, second ν, second field, solved by hand with r = a_b·ρ: what a reader makes of
  // the s coordinate by dr/ds.
  auto surface = read_vmec(wout, 0.5625);
  surface.psi_prime = 2 * e.psi_edge * 0.75 / a;
  const double er = values("Er")[3], drds = values("drds")[1];
  EXPECT_NEAR(er, 1e-3 * 2 * e.psi_edge / (a * a), 1e-15);
  EXPECT_NEAR(values("Es")[3], er * drds, 1e-15);
  const auto d = solve(prepare(surface, request.grid), case_of_er(1e-1, er, surface.psi_prime)).d;
  const std::size_t at = 6 + 2 + 1;
  EXPECT_NEAR(values("D11")[at] * drds * drds, d.d11, 1e-12 * d.d11);
  EXPECT_NEAR(values("D31")[at] * drds, d.d31, 1e-12 * std::abs(d.d31));
  EXPECT_NEAR(values("D13")[at] * drds, d.d13, 1e-12 * std::abs(d.d13));
  EXPECT_NEAR(values("D33")[at], d.d33, 1e-12 * d.d33);
}

TEST(Database, OfABoozerFileHasTheFactsOfTheWout) {
  const TemporaryDirectory folder;
  const auto e = testing::equilibrium_of(builtin_surface("sample_dkes"), 0.25);
  auto request = small_request(folder.path() + "/wout.nc");
  testing::write_wout(request.wout, e);
  const auto vmec = make_database(request).data;
  request.booz = folder.path() + "/booz.nc";
  testing::write_booz(request.booz, e, testing::Shape::kNone, /*with_flux=*/false);
  const auto booz = make_database(request).data;
  ASSERT_EQ(vmec.variables.size(), booz.variables.size());
  for (const auto& v : vmec.variables) {
    if (v.name == "residual") continue;
    const auto& other = column_of(booz, v.name).values;
    for (std::size_t i = 0; i < other.size(); ++i) {
      EXPECT_NEAR(other[i], v.values[i], 1e-9 * std::abs(v.values[i])) << v.name;
    }
  }
  EXPECT_EQ(booz.numbers, vmec.numbers);
}

TEST(Database, RefusesAxesThatMakeNoSense) {
  const TemporaryDirectory folder;
  auto request = small_request(folder.path() + "/wout.nc");
  testing::write_wout(request.wout, testing::equilibrium_of(builtin_surface("tokamak"), 0.25));
  const auto said = [&] {
    try {
      check_database(request);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(said(), "");
  request.nu_v = {1e-3, -1};
  EXPECT_THAT(said(), ::testing::HasSubstr("nu must be above 0, got -1"));
  request.nu_v = {1e-3};
  request.rho = {1.5};
  EXPECT_THAT(said(), ::testing::HasSubstr("got 1.5"));
  request.rho = {};
  EXPECT_THAT(said(), ::testing::HasSubstr("rho needs"));
}

// Every dataset and attribute of NTX's file, where the grids agree: NTX counts Legendre modes, of
// which our 63 has 64.
TEST(Database, EqualsNtxOnAGenuineEquilibrium) {
  const auto wout = testing::shared_data("real/wout_HSX_QHS_vacuum_ns201.nc");
  const auto ntx_path = testing::shared_data("real/Dij_NTX_HSX.h5");
  if (wout.empty() || ntx_path.empty()) GTEST_SKIP() << testing::no_shared_data("real/*HSX*");
  const NetcdfReader ntx(ntx_path);
  const std::vector<std::string> names = ntx.names();
  ASSERT_GE(names.size(), 31u);
  const auto rho = ntx.vector("rho"), nu = ntx.vector("nu_v"), er = ntx.vector("Er_tilde");
  const std::vector<std::size_t> surfaces = {0, 3}, nus = {9, 13}, fields = {0, 9};
  DatabaseRequest request;
  request.wout = wout;
  for (const auto i : surfaces) request.rho.push_back(rho[i]);
  for (const auto i : nus) request.nu_v.push_back(nu[i]);
  for (const auto i : fields) request.er_tilde.push_back(er[i]);
  request.grid = {25, 25, 63};
  request.scan.threads = 2;
  const auto ours = make_database(request).data;

  const std::map<std::string, const std::vector<std::size_t>*> chosen = {
      {"rho", &surfaces}, {"nu_v", &nus}, {"Er_tilde", &fields}};
  const std::map<std::string, std::size_t> lengths = {
      {"rho", rho.size()}, {"nu_v", nu.size()}, {"Er_tilde", er.size()}};
  for (const auto& name : names) {
    const auto& mine = column_of(ours, name);
    const auto theirs = ntx.values(name);
    std::size_t expected_size = 1;
    for (const auto& d : mine.dimensions) expected_size *= lengths.at(d);
    ASSERT_EQ(theirs.size(), expected_size) << name;
    // Places of our values in theirs, axis after axis.
    std::vector<std::size_t> places = {0};
    for (const auto& d : mine.dimensions) {
      std::vector<std::size_t> next;
      for (const auto p : places) {
        for (const auto i : *chosen.at(d)) next.push_back(p * lengths.at(d) + i);
      }
      places = next;
    }
    ASSERT_EQ(mine.values.size(), places.size()) << name;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double expected = theirs[places[i]];
      // I of a vacuum field is rounding.
      const double scale = name == "I" ? 1 : std::abs(expected);
      EXPECT_NEAR(mine.values[i], expected, 2e-5 * scale) << name << " " << i;
    }
  }
  EXPECT_NEAR(ours.numbers.at("a_b"), 0.12022675184562366, 1e-7);
  EXPECT_NEAR(ours.numbers.at("psia"), 0.4260846498902269, 1e-12);
}

}  // namespace
}  // namespace assay::transport
