// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers of equilibria: pairs of files that the tests make, for every sign, and a genuine pair
// where it is at hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "transport/files/booz.h"
#include "transport/files/equilibrium.h"
#include "transport/files/mesh.h"
#include "transport/files/netcdf_reader.h"
#include "transport/files/test_equilibria.h"
#include "transport/files/test_shared_data.h"
#include "transport/files/vmec.h"
#include "transport/solve.h"

namespace assay::transport {
namespace {

using testing::Equilibrium;
using testing::equilibrium_of;
using ::testing::HasSubstr;
using testing::Shape;
using testing::write_booz;
using testing::write_wout;

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

// `b0` for all: B_00 of VMEC's angles is not that of Boozer's.
Coefficients coefficients_of(Surface surface, double b0, const Grid& grid, const Case& at) {
  surface.b0 = b0;
  return solve(prepare(surface, grid), at).d;
}

void expect_equal(const Coefficients& d, const Coefficients& expected, double tolerance,
                  const std::string& what) {
  EXPECT_NEAR(d.d11, expected.d11, tolerance * std::abs(expected.d11)) << what;
  EXPECT_NEAR(d.d31, expected.d31, tolerance * std::abs(expected.d31)) << what;
  EXPECT_NEAR(d.d13, expected.d13, tolerance * std::abs(expected.d13)) << what;
  EXPECT_NEAR(d.d33, expected.d33, tolerance * std::abs(expected.d33)) << what;
}

// With straight angles the grids of all three are the same points. The VMEC form has 1/B² as a
// truncated series: (B_1/B_0)^12 < 1e-13 of it is missing, amplified by 1/ν̂.
TEST(Equilibrium, EveryReaderGivesTheSameCoefficients) {
  const TemporaryDirectory folder;
  const auto wout = folder.path() + "/wout.nc", booz = folder.path() + "/booz.nc";
  const double psi_n = 0.36;
  const Grid grid = {9, 9, 8};
  for (const char* name : {"sample_dkes", "example", "tokamak"}) {
    const auto s = builtin_surface(name);
    const double b0 = s.b0.value_or(1);
    const Case at = case_of_er(1e-2, 1e-3, s.psi_prime);
    const auto expected = coefficients_of(s, b0, grid, at);
    const auto e = equilibrium_of(s, psi_n);
    write_wout(wout, e);
    write_booz(booz, e);
    const auto vmec = read_vmec(wout, psi_n);
    EXPECT_NEAR(vmec.psi_prime, s.psi_prime, 1e-14 * s.psi_prime);
    EXPECT_NEAR(*vmec.b0, b0, 1e-12);
    expect_equal(coefficients_of(vmec, b0, grid, at), expected, 1e-9, name);
    const auto turned = read_booz(booz, psi_n, {.minor_radius = e.minor_radius});
    expect_equal(coefficients_of(turned, b0, grid, at), expected, 1e-9, name);
    // A given ψ' wins, by its modulus: r points outward.
    EXPECT_EQ(read_booz(booz, psi_n, {.psi_prime = -2.5}).psi_prime, 2.5);
  }
}

// D31 is along b with r outward: neither the handedness of the angles nor the sign of the flux
// changes it. VMEC's angles are bent here, so that both routes differ by their truncation, which at
// this collisionality and grid is below 1e-5.
TEST(Equilibrium, BothRoutesHaveOneSignForAllFourSigns) {
  const TemporaryDirectory folder;
  const auto wout = folder.path() + "/wout.nc", booz = folder.path() + "/booz.nc";
  const double psi_n = 0.25;
  const Grid grid = {17, 17, 12};
  for (const double turn : {1.0, -1.0}) {  // of the transform
    auto s = builtin_surface("sample_dkes");
    s.iota *= turn;
    const Case at = case_of_er(0.1, 1e-2, s.psi_prime);
    const auto expected = coefficients_of(s, *s.b0, grid, at);
    ASSERT_GT(std::abs(expected.d31), 1e-3);
    for (const int signgs : {-1, 1}) {
      for (const int flux : {1, -1}) {
        auto e = equilibrium_of(s, psi_n);
        e.signgs = signgs;
        e.flux = flux;
        e.bend = 0.06;
        write_wout(wout, e);
        write_booz(booz, e, Shape::kRoundTube);
        const auto what = fmt::format("iota {}, signgs {}, flux {}", s.iota, signgs, flux);
        const auto vmec = read_vmec(wout, psi_n);
        const auto boozer = read_booz(booz, psi_n, {.minor_radius = e.minor_radius});
        expect_equal(coefficients_of(vmec, *s.b0, grid, at), expected, 1e-5, "vmec, " + what);
        expect_equal(coefficients_of(boozer, *s.b0, grid, at), expected, 1e-9, "booz, " + what);
        EXPECT_NEAR(make_geometry(vmec, grid).iota, make_geometry(boozer, grid).iota, 1e-5) << what;
        // Without a shape of its own, the file has the handedness of the wout.
        write_booz(booz, e);
        const auto paired = read_booz(booz, psi_n, {.wout = wout});
        expect_equal(coefficients_of(paired, *s.b0, grid, at), expected, 1e-9, "pair, " + what);
      }
    }
  }
}

// Sine terms, whose D(−Ê) is not D(Ê): B → −B turns the E×B drift over.
TEST(Equilibrium, SineTermsAreRead) {
  const TemporaryDirectory folder;
  const auto booz = folder.path() + "/booz.nc";
  auto s = builtin_surface("sample_dkes");
  s.b[1].sine = 0.07;
  s.b[3].sine = -0.05;
  const Grid grid = {9, 9, 8};
  const Case at = {1e-2, 3e-2}, opposite = {1e-2, -3e-2};
  const auto expected = coefficients_of(s, *s.b0, grid, at);
  const auto reversed = coefficients_of(s, *s.b0, grid, opposite);
  ASSERT_GT(std::abs(expected.d31 / reversed.d31 - 1), 1e-3);
  for (const int signgs : {-1, 1}) {
    for (const int flux : {1, -1}) {
      auto e = equilibrium_of(s, 0.25);
      e.signgs = signgs;
      e.flux = flux;
      write_booz(booz, e, Shape::kRoundTube);
      const auto read = read_booz(booz, 0.25, {.minor_radius = e.minor_radius});
      EXPECT_FALSE(read.cosine_only());
      expect_equal(coefficients_of(read, *s.b0, grid, flux == 1 ? at : opposite), expected, 1e-9,
                   fmt::format("signgs {}, flux {}", signgs, flux));
    }
  }
}

TEST(Equilibrium, TheFluxOfABoozerFileComesFromWhereItIs) {
  const TemporaryDirectory folder;
  const auto booz = folder.path() + "/boozmn_x.nc", wout = folder.path() + "/wout_x.nc";
  const auto s = builtin_surface("sample_dkes");
  const auto e = equilibrium_of(s, 0.25);
  write_booz(booz, e, Shape::kNone, /*with_flux=*/false);
  const auto read = [&](BoozFlux flux) { return read_booz(booz, 0.25, flux); };
  EXPECT_THAT(refusal_of([&] { read({}); }), HasSubstr("no flux (phi_b): give psi_prime, or wout"));
  EXPECT_THAT(refusal_of([&] { read({.minor_radius = 0.4}); }), HasSubstr("phi_b"));
  EXPECT_EQ(read({.psi_prime = 3}).psi_prime, 3);
  write_booz(booz, e);
  EXPECT_THAT(refusal_of([&] { read({}); }), HasSubstr("minor_radius"));
  EXPECT_NEAR(read({.minor_radius = 0.8}).psi_prime, s.psi_prime / 2, 1e-14);
  // The wout beside it, by name.
  write_booz(booz, e, Shape::kNone, /*with_flux=*/false);
  write_wout(wout, e);
  EXPECT_NEAR(read({}).psi_prime, s.psi_prime, 1e-14);
  auto other = e;
  other.surface.iota = 0.5;
  write_wout(wout, other);
  EXPECT_THAT(refusal_of([&] { read({}); }), HasSubstr("not of the same equilibrium"));
  write_booz(booz, e);
  other = e;
  other.psi_edge *= 2;
  write_wout(wout, other);
  EXPECT_THAT(refusal_of([&] { read({}); }), HasSubstr("edge flux"));
}

TEST(Equilibrium, RefusesWhatItCannotUse) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/file.nc";
  const auto s = builtin_surface("sample_dkes");
  const auto good = equilibrium_of(s, 0.25);
  const auto vmec = [&] { return refusal_of([&] { read_vmec(path, 0.25); }); };
  const auto booz = [&] { return refusal_of([&] { read_booz(path, 0.25, {.psi_prime = 1}); }); };
  EXPECT_THAT(vmec(), HasSubstr("no such file"));
  write_file_atomically(path, "not NetCDF");
  EXPECT_THAT(vmec(), HasSubstr("NetCDF"));
  const auto with = [&](const char* name, double value) {
    auto e = good;
    e.scalars[name] = value;
    write_wout(path, e);
    return vmec();
  };
  EXPECT_THAT(with("lasym__logical__", 1), HasSubstr("lasym"));
  EXPECT_THAT(with("ns", 1e9), HasSubstr("ns must be an integer from 3 to 100000, got 1000000000"));
  EXPECT_THAT(with("nfp", 0), HasSubstr("nfp must be an integer from 1 to 1000, got 0"));
  EXPECT_THAT(with("nfp", 2.5), HasSubstr("got 2.5"));
  EXPECT_THAT(with("Aminor_p", -1), HasSubstr("Aminor_p must be positive, got -1"));
  EXPECT_EQ(with("signgs", -1), "nothing was refused");
  EXPECT_THAT(booz(), HasSubstr("missing variable 'nfp_b'"));

  auto e = good;
  e.surface.b[1].cosine = NAN;
  write_booz(path, e);
  EXPECT_THAT(booz(), HasSubstr("not finite"));
  e = good;
  e.surface.b[1].m = 1'000'000'000;
  write_booz(path, e);
  EXPECT_THAT(booz(), HasSubstr("ixm_b must be an integer from -1000 to 1000, got 1000000000"));
  {
    testing::NetcdfWriter file(path);  // asymmetric, and nothing to show for it
    file.scalar("lasym__logical__", 1);
    file.scalar("nfp_b", 2);
    file.scalar("ns_b", 5);
    file.vector("jlist", {2, 3, 4, 5});
    file.vector("ixm_b", {0});
    file.vector("ixn_b", {0});
    for (const char* name : {"iota_b", "buco_b", "bvco_b"}) file.radial(name, 1);
    file.rows("bmnc_b", 4, {1});
  }
  EXPECT_THAT(booz(), HasSubstr("missing variable 'bmns_b'"));
}

// Amplitudes that grow as √s, on the mesh of a genuine file: half way between two surfaces near the
// axis a straight line has 4e-3 too little.
TEST(Equilibrium, InterpolatesBetweenSurfaces) {
  std::vector<double> half(201, -1), cube(201, -1);
  for (std::size_t j = 1; j < half.size(); ++j) {
    const double s = (static_cast<double>(j) - 0.5) / 200;
    half[j] = std::sqrt(s);
    cube[j] = s * s;
  }
  EXPECT_NEAR(half_mesh(0.015, 201).in(half), std::sqrt(0.015), 4e-4 * std::sqrt(0.015));
  EXPECT_NEAR(half_mesh(0.25, 201).in(half), 0.5, 1e-8);
  for (const double s : {0.0, 0.0025, 0.006, 0.5, 0.8765, 0.9975, 1.0}) {
    const bool inside = s > 0.0075 && s < 0.9925;
    EXPECT_NEAR(half_mesh(s, 201).in(cube), s * s, inside ? 1e-15 : 3e-5) << s;
  }
  EXPECT_EQ(full_mesh(1, 201).in(half), half[200]);
  // Of the neighbours only two: a straight line.
  EXPECT_DOUBLE_EQ(place_between(1, 0.25, false, false).in({0, 1, 2, 7}), 1.25);
}

// A file whose parts contradict one another.
TEST(Equilibrium, TheFieldOfAWoutMustBeOne) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/wout.nc";
  const auto good = equilibrium_of(builtin_surface("sample_dkes"), 0.25);
  const auto changed = [&](const char* name, const std::function<void(std::vector<double>&)>& how) {
    write_wout(path, good);
    int id = 0, variable = 0;
    EXPECT_EQ(nc_open(path.c_str(), NC_WRITE, &id), NC_NOERR);
    EXPECT_EQ(nc_inq_varid(id, name, &variable), NC_NOERR);
    int rank = 0, dimensions[2] = {};
    std::size_t size = 1;
    nc_inq_varndims(id, variable, &rank);
    nc_inq_vardimid(id, variable, dimensions);
    for (int i = 0; i < rank; ++i) {
      std::size_t length = 0;
      nc_inq_dimlen(id, dimensions[i], &length);
      size *= length;
    }
    std::vector<double> values(size);
    EXPECT_EQ(nc_get_var_double(id, variable, values.data()), NC_NOERR);
    how(values);
    EXPECT_EQ(nc_put_var_double(id, variable, values.data()), NC_NOERR);
    EXPECT_EQ(nc_close(id), NC_NOERR);
    return refusal_of([&] { read_vmec(path, 0.25); });
  };
  const auto scale = [](double factor) {
    return [factor](std::vector<double>& values) {
      for (auto& v : values) v *= factor;
    };
  };
  EXPECT_EQ(changed("bmnc", scale(1)), "nothing was refused");
  EXPECT_THAT(changed("bmnc", scale(1.1)), HasSubstr("B^2 differs from B.B by 0.17"));
  EXPECT_THAT(changed("bsupumnc", scale(0)), HasSubstr("contradicts bsup"));
  EXPECT_THAT(changed("bsupvmnc", scale(0)), HasSubstr("contradicts bsup"));
  EXPECT_THAT(changed("iotaf", scale(0)), HasSubstr("iotaf contradicts bsup"));
  EXPECT_THAT(changed("iotaf", scale(-1)), HasSubstr("iotaf contradicts bsup"));
  EXPECT_THAT(changed("phi", scale(0)), HasSubstr("edge flux must not be 0"));
  EXPECT_THAT(changed("phi", scale(2)), HasSubstr("phi contradicts gmnc and bsupvmnc"));
  EXPECT_THAT(changed("phi", [](std::vector<double>& values) { values.back() *= 2; }),
              HasSubstr("phi must grow evenly"));
  EXPECT_THAT(changed("gmnc", scale(2)), HasSubstr("whose flux is 2 of it"));
  EXPECT_THAT(changed("gmnc", scale(-1)), HasSubstr("gmnc has the other sign than signgs"));
  EXPECT_THAT(changed("gmnc", scale(0)), HasSubstr("the Jacobian must not vanish"));
  const auto oscillate = [](std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % (values.size() / testing::kRadialPoints) == 1) values[i] = 10;
    }
  };
  EXPECT_THAT(changed("gmnc", oscillate), HasSubstr("one sign on the surface"));
}

TEST(Equilibrium, APipeIsRefusedAtOnce) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/pipe.nc";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of([&] { NetcdfReader file(path); }), HasSubstr("not a regular file"));
}

// The library reads zeros from beyond the end of a NetCDF-3 file. Whatever is cut off is missed,
// in every version of the format; the file itself is read.
TEST(Equilibrium, AFileThatWasCutShortIsRefused) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/file.nc", cut = folder.path() + "/cut.nc";
  for (const int format : {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4}) {
    {
      testing::NetcdfWriter file(path, NC_CLOBBER | format);
      file.scalar("first", 1);
      file.rows("values", 40, {1, 2, 3});
      file.scalar("last", 2);
    }
    EXPECT_EQ(NetcdfReader(path).number("last"), 2);
    const auto bytes = read_file(path);
    for (const double part : {0.1, 0.3, 0.5, 0.9, 0.99, 1.0}) {
      const auto length = std::min(
          bytes.size() - 1, static_cast<std::size_t>(part * static_cast<double>(bytes.size())));
      write_file_atomically(cut, bytes.substr(0, length));
      const auto said = refusal_of([&] { NetcdfReader file(cut); });
      EXPECT_THAT(said, HasSubstr("cut short")) << format << " " << length;
    }
  }
  // Records, the last of them incomplete: bytes 8 to 12 say how many there are.
  int id = 0, dimension = 0, variable = 0;
  ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER, &id), NC_NOERR);
  nc_def_dim(id, "time", NC_UNLIMITED, &dimension);
  nc_def_var(id, "x", NC_DOUBLE, 1, &dimension, &variable);
  nc_enddef(id);
  const std::size_t first = 0, count = 3;
  const double values[] = {1, 2, 3};
  ASSERT_EQ(nc_put_vara_double(id, variable, &first, &count, values), NC_NOERR);
  nc_close(id);
  const auto bytes = read_file(path);
  EXPECT_EQ(NetcdfReader(path).vector("x").size(), 3u);
  write_file_atomically(cut, bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(refusal_of([&] { NetcdfReader file(cut); }), HasSubstr("cut short"));
}

// One device by both routes, within 1 % of each other and, with NTX's minor radius, of NTX.
TEST(Equilibrium, AGenuinePairAgrees) {
  const auto wout = testing::shared_data("real/wout_HSX_QHS_vacuum_ns201.nc");
  const auto booz = testing::shared_data("real/boozmn_HSX_QHS_vacuum_ns201.nc");
  if (wout.empty() || booz.empty()) GTEST_SKIP() << testing::no_shared_data("real/*_HSX_*.nc");
  const double radius = read_vmec_facts(wout, 0.25).volume_radius;
  EXPECT_NEAR(radius, 0.12022675184562366, 1e-6);
  const auto solved = [&](const char* type, const std::string& path) {
    SurfaceRequest request{.type = type, .path = path, .psi_n = 0.25, .minor_radius = radius};
    const auto surface = load_surface(request);
    EXPECT_NEAR(make_geometry(surface, {25, 25, 60}).iota, 1.05314, 1e-5);
    return solve(prepare(surface, {25, 25, 60}), {1e-2, 0}).d;
  };
  const auto vmec = solved("vmec", wout), boozer = solved("booz", booz);
  EXPECT_NEAR(vmec.d31, -0.0208367, 1e-6);
  EXPECT_NEAR(vmec.d33, 51.3042, 1e-3);
  EXPECT_NEAR(boozer.d31, vmec.d31, 1e-2 * std::abs(vmec.d31));
  EXPECT_NEAR(boozer.d13, vmec.d13, 1e-2 * std::abs(vmec.d13));
  EXPECT_NEAR(boozer.d11, vmec.d11, 1e-2 * vmec.d11);
  EXPECT_NEAR(boozer.d33, vmec.d33, 1e-2 * vmec.d33);
}

}  // namespace
}  // namespace assay::transport
