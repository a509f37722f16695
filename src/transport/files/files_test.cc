// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Results as files.

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "transport/files/equilibrium.h"
#include "transport/files/netcdf_reader.h"
#include "transport/files/result_data.h"

namespace assay::transport {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "";
}

RunInput small_input() {
  return parse_input(
      "[surface]\ntype = 'sample_dkes'\n[grid]\nn_theta = 5\nn_zeta = 7\nn_xi = 4\n"
      "[case]\nnu_hat = 1e-2\ner_hat = 1e-3\n[output]\ninclude_modes = true\n",
      "small.toml");
}

TEST(ResultFile, NetcdfHoldsEverythingByName) {
  const TemporaryDirectory folder;
  const auto in = small_input();
  const auto surface = load_surface(in.surface);
  const auto prepared = prepare(surface, in.grid);
  const auto solution = solve(prepared, in.cases(surface.psi_prime).front(), {.keep_modes = true});
  for (const char* name : {"/run.nc", "/run.h5", "/run.npz"}) {
    write_data_file(folder.path() + name, result_data(in, surface, prepared, {solution}));
  }
  for (const char* name : {"/run.nc", "/run.h5"}) {  // NetCDF-4 reads plain HDF5 as well
    const NetcdfReader file(folder.path() + name);
    EXPECT_EQ(file.matrix("D11", 1).at(0, 0), solution.d.d11);
    EXPECT_EQ(file.matrix("D33_spitzer", 1).at(0, 0), solution.d.d33_spitzer);
    EXPECT_EQ(file.number("iota"), 0.4);
    const auto b = file.matrix("B", 5);
    EXPECT_EQ(b.rows, 7u);
    EXPECT_EQ(b.values, prepared.geometry().b);
  }
  // D31 from the stored modes: (2/3)⟨B f1_1⟩/(ψ' B0).
  Field bf;
  for (std::size_t r = 0; r < 35; ++r)
    bf.push_back(prepared.geometry().b[r] * solution.modes[0][1][r]);
  EXPECT_NEAR(2.0 / 3 * prepared.geometry().average(bf) / (1.25 * 2.4), solution.d.d31,
              1e-13 * std::abs(solution.d.d31));
  EXPECT_NE(refusal([&] { check_data_path(folder.path() + "/run.txt"); }).find("run.txt"),
            std::string::npos);
  EXPECT_NE(refusal([&] { check_data_path(folder.path() + "/no/run.nc"); }).find("/no/run.nc"),
            std::string::npos);
}

// An attribute of fixed length holds 64 KiB at most; spectra of genuine files are longer.
TEST(ResultFile, HoldsALongSpectrum) {
  const TemporaryDirectory folder;
  auto in = small_input();
  auto surface = load_surface(in.surface);
  for (int m = 2; m < 60; ++m) {
    for (int n = -30; n < 30; ++n) surface.b.push_back({m, n, 1e-9 * (m + n), 0});
  }
  const auto prepared = prepare(surface, in.grid);
  const auto solution = solve(prepared, in.cases(surface.psi_prime).front(), {.keep_modes = true});
  const auto data = result_data(in, surface, prepared, {solution});
  ASSERT_GT(data.texts.at("resolved_input").size(), std::size_t{64} << 10);
  for (const char* name : {"/run.nc", "/run.h5", "/run.npz"}) {
    write_data_file(folder.path() + name, data);
  }
  EXPECT_EQ(NetcdfReader(folder.path() + "/run.h5").matrix("D11", 1).at(0, 0), solution.d.d11);
}

}  // namespace
}  // namespace assay::transport
