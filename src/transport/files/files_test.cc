// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers and writers against files that the tests make themselves.

#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/stat.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "transport/files/database.h"
#include "transport/files/equilibrium.h"
#include "transport/files/netcdf_reader.h"
#include "transport/files/result_data.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

constexpr std::size_t kSurfaces = 5;
constexpr double kMinorRadius = 0.4;

// cos(mθ + n·nfp·ζ) coefficients of a function on the surface, by quadrature on a fine grid.
template <typename F>
std::vector<double> cosine_series(const std::vector<int>& m, const std::vector<int>& n, F f) {
  constexpr int points = 64;
  std::vector<double> out(m.size(), 0.0);
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < points; ++j) {
      const double theta = 2 * pi * i / points, phi = 2 * pi * j / points;  // φ = nfp·ζ
      const double value = f(theta, phi);
      for (std::size_t k = 0; k < m.size(); ++k) {
        const double norm = m[k] == 0 && n[k] == 0 ? 1 : 2;
        out[k] += norm * value * std::cos(m[k] * theta + n[k] * phi) / (points * points);
      }
    }
  }
  return out;
}

double field_of(const Surface& s, double theta, double phi) {
  double b = 0;
  for (const auto& h : s.b) b += h.cosine * std::cos(h.m * theta + h.n * phi);
  return b;
}

// Modes enough for 1/B² to rounding.
void all_modes(std::vector<int>& m, std::vector<int>& n) {
  for (int i = 0; i <= 12; ++i) {
    for (int j = i == 0 ? 0 : -12; j <= 12; ++j) {
      m.push_back(i);
      n.push_back(j);
    }
  }
}

class NetcdfWriter {
 public:
  explicit NetcdfWriter(const std::string& path) {
    EXPECT_EQ(nc_create(path.c_str(), NC_CLOBBER, &id_), NC_NOERR);
  }
  ~NetcdfWriter() { EXPECT_EQ(nc_close(id_), NC_NOERR); }
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
  void rows(const std::string& name, std::size_t count, const std::vector<double>& row) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), row.begin(), row.end());
    put(name, {count, row.size()}, values);
  }
  void radial(const std::string& name, double value) {
    put(name, {kSurfaces}, std::vector<double>(kSurfaces, value));
  }

 private:
  int id_ = 0, count_ = 0;
};

std::vector<double> as_doubles(const std::vector<int>& v, double factor) {
  std::vector<double> out;
  for (const int x : v) out.push_back(factor * x);
  return out;
}

double psi_edge_of(const Surface& s, double psi_n) {
  return s.psi_prime * kMinorRadius / (2 * std::sqrt(psi_n));
}

// The Boozer surface as a VMEC file whose angles are the Boozer angles.
void write_wout(const std::string& path, const Surface& s, double psi_n, double lasym = 0) {
  std::vector<int> m, n;
  all_modes(m, n);
  const double current = std::abs(s.b_zeta + s.iota * s.b_theta), edge = psi_edge_of(s, psi_n);
  const auto jacobian = [&](double theta, double phi) {
    const double b = field_of(s, theta, phi);
    return current / (b * b);
  };
  NetcdfWriter file(path);
  file.put("nfp", {}, {static_cast<double>(s.nfp)});
  file.put("ns", {}, {static_cast<double>(kSurfaces)});
  file.put("lasym__logical__", {}, {lasym});
  file.put("Aminor_p", {}, {kMinorRadius});
  file.put("Rmajor_p", {}, {1.7});
  file.put("xm_nyq", {m.size()}, as_doubles(m, 1));
  file.put("xn_nyq", {n.size()}, as_doubles(n, -s.nfp));
  std::vector<double> phi;
  for (std::size_t i = 0; i < kSurfaces; ++i) {
    phi.push_back(2 * pi * edge * static_cast<double>(i) / (kSurfaces - 1));
  }
  file.put("phi", {kSurfaces}, phi);
  file.radial("iotaf", s.iota);
  const auto rows = [&](const char* name, auto f) {
    file.rows(name, kSurfaces, cosine_series(m, n, f));
  };
  rows("bmnc", [&](double t, double p) { return field_of(s, t, p); });
  rows("gmnc", [&](double t, double p) { return -jacobian(t, p) * std::abs(edge); });
  rows("bsubumnc", [&](double, double) { return s.b_theta; });
  rows("bsubvmnc", [&](double, double) { return s.b_zeta; });
  rows("bsupumnc", [&](double t, double p) { return s.iota / jacobian(t, p); });
  rows("bsupvmnc", [&](double t, double p) { return 1 / jacobian(t, p); });
}

// The same as a Boozer file, whose toroidal angle runs the other way.
void write_booz(const std::string& path, const Surface& s, double psi_n) {
  NetcdfWriter file(path);
  std::vector<double> xm, xn, row;
  for (const auto& h : s.b) {
    xm.push_back(h.m);
    xn.push_back(h.n * s.nfp);
    row.push_back(h.cosine);
  }
  file.put("nfp_b", {}, {static_cast<double>(s.nfp)});
  file.put("ns_b", {}, {static_cast<double>(kSurfaces)});
  file.put("ixm_b", {xm.size()}, xm);
  file.put("ixn_b", {xn.size()}, xn);
  std::vector<double> jlist;
  for (std::size_t j = 2; j <= kSurfaces; ++j) jlist.push_back(static_cast<double>(j));
  file.put("jlist", {jlist.size()}, jlist);
  file.rows("bmnc_b", jlist.size(), row);
  file.radial("iota_b", -s.iota);
  file.radial("buco_b", -s.b_theta);
  file.radial("bvco_b", s.b_zeta);
  std::vector<double> phi(kSurfaces, 2 * pi * psi_edge_of(s, psi_n));
  file.put("phi_b", {kSurfaces}, phi);
}

// The three readers of one surface give the same coefficients, sign and scale included. The VMEC
// form has 1/B² as a truncated series: (B_1/B_0)^12 < 1e-13 of it is missing, amplified by 1/ν̂.
TEST(Equilibrium, EveryReaderGivesTheSameCoefficients) {
  const TemporaryDirectory folder;
  const double psi_n = 0.36;
  for (const char* name : {"sample_dkes", "example", "tokamak"}) {
    const auto s = builtin_surface(name);
    write_wout(folder.path() + "/wout.nc", s, psi_n);
    write_booz(folder.path() + "/booz.nc", s, psi_n);
    const Grid grid = {9, 9, 8};
    const auto coefficients = [&](Surface surface) {
      // `example` has no B_00 of its own: its mean over the grid is B_00 of the files.
      if (!surface.b0) surface.b0 = 1;
      return solve(prepare(surface, grid), case_of_er(1e-2, 1e-3, surface.psi_prime)).d;
    };
    const auto expected = coefficients(s);
    const auto vmec = read_vmec(folder.path() + "/wout.nc", psi_n);
    const auto booz = read_booz(folder.path() + "/booz.nc", psi_n, {}, kMinorRadius);
    EXPECT_NEAR(vmec.psi_prime, s.psi_prime, 1e-14 * std::abs(s.psi_prime));
    EXPECT_NEAR(make_geometry(vmec, grid).iota, s.iota, 1e-12);
    EXPECT_EQ(vmec.major_radius, 1.7);
    for (const auto& d : {coefficients(vmec), coefficients(booz)}) {
      EXPECT_NEAR(d.d11, expected.d11, 1e-9 * expected.d11) << name;
      EXPECT_NEAR(d.d31, expected.d31, 1e-9 * std::abs(expected.d31)) << name;
      EXPECT_NEAR(d.d13, expected.d13, 1e-9 * std::abs(expected.d13)) << name;
      EXPECT_NEAR(d.d33, expected.d33, 1e-9 * expected.d33) << name;
    }
    // A given ψ' wins.
    EXPECT_EQ(read_booz(folder.path() + "/booz.nc", psi_n, 2.5, {}).psi_prime, 2.5);
  }
}

// Where B_ζ + ι B_θ < 0 both components are turned over: J > 0 and D11, D33 stay.
TEST(Equilibrium, ABoozerFileWithNegativeCurrentIsTurnedOver) {
  const TemporaryDirectory folder;
  auto s = builtin_surface("sample_dkes");
  s.b_theta = -s.b_theta;
  s.b_zeta = -s.b_zeta;
  write_booz(folder.path() + "/booz.nc", s, 0.25);
  const auto read = read_booz(folder.path() + "/booz.nc", 0.25, {}, kMinorRadius);
  EXPECT_GT(read.b_zeta, 0);
  EXPECT_NEAR(read.b_theta, 0.15, 1e-15);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "";
}

TEST(Equilibrium, RefusesWhatItCannotUse) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/wout.nc";
  EXPECT_NE(refusal([&] { read_vmec(path, 0.5); }).find("no such file"), std::string::npos);
  write_file_atomically(path, "not NetCDF");
  EXPECT_NE(refusal([&] { read_vmec(path, 0.5); }).find("NetCDF"), std::string::npos);
  write_wout(path, builtin_surface("sample_dkes"), 0.25, 1);
  EXPECT_NE(refusal([&] { read_vmec(path, 0.25); }).find("lasym"), std::string::npos);
  EXPECT_NE(refusal([&] { read_booz(path, 0.25, 1.0, {}); }).find("nfp_b"), std::string::npos);
  auto broken = builtin_surface("sample_dkes");
  broken.b[1].cosine = NAN;
  write_booz(path, broken, 0.25);
  EXPECT_NE(refusal([&] { read_booz(path, 0.25, 1.0, {}); }).find("not finite"), std::string::npos);
  write_booz(path, builtin_surface("sample_dkes"), 0.25);
  EXPECT_NE(refusal([&] { read_booz(path, 0.25, {}, {}); }).find("psi_prime"), std::string::npos);
}

TEST(Equilibrium, APipeIsRefusedAtOnce) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/pipe.nc";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { NetcdfReader file(path); }).find("not a regular file"),
            std::string::npos);
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

TEST(Database, HasTheLayoutAndTheNumbersOfSingleSolves) {
  const TemporaryDirectory folder;
  const auto s = builtin_surface("sample_dkes");
  DatabaseRequest request;
  request.wout = folder.path() + "/wout.nc";
  write_wout(request.wout, s, 0.25);
  request.rho = {0.5, 0.75};
  request.nu_v = {1e-2, 1e-1, 1};
  request.er_tilde = {0, 1e-3};
  request.grid = {5, 7, 4};
  request.scan.threads = 2;
  const auto result = make_database(request);
  ASSERT_TRUE(result.complete);
  ASSERT_EQ(result.surfaces.size(), 2u);
  const auto find = [&](const std::string& name) -> const Variable& {
    for (const auto& v : result.data.variables) {
      if (v.name == name) return v;
    }
    throw std::runtime_error("no variable " + name);
  };
  EXPECT_EQ(find("D11").dimensions, (std::vector<std::string>{"rho", "nu_v", "Er_tilde"}));
  ASSERT_EQ(find("D11").values.size(), 12u);
  for (const char* name : {"Er", "Es", "drds", "D13", "D33", "D33_spitzer", "D31", "Er_to_Ertilde",
                           "dr_tildedr", "dr_tildeds", "B00", "R00", "iota"}) {
    EXPECT_FALSE(find(name).values.empty()) << name;
  }
  // Second surface, second ν, second field, solved by hand: E_r = Ẽ·(dr̃/dr)·B00.
  const auto surface = read_vmec(request.wout, 0.5625);
  const double er = find("Er").values[3];
  EXPECT_NEAR(er, 1e-3 * 2 * surface.psi_edge / (kMinorRadius * kMinorRadius), 1e-15);
  const auto d = solve(prepare(surface, request.grid), case_of_er(1e-1, er, surface.psi_prime)).d;
  EXPECT_NEAR(find("D11").values[6 + 2 + 1], d.d11, 1e-12 * d.d11);
  EXPECT_EQ(result.data.numbers.at("format_version"), 2);
  EXPECT_EQ(result.data.numbers.at("a_b"), kMinorRadius);
}

}  // namespace
}  // namespace assay::transport
