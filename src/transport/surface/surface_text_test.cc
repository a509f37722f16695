// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Surfaces as text: namelists as Fortran reads them, MONKES' own files.

#include "transport/surface/surface_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "transport/surface/geometry.h"

namespace assay::transport {
namespace {

using testing::HasSubstr;

std::string text_refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

constexpr const char* kDkes =
    "&datain\n nzperiod=  2,\n chip = -0.5D0,  psip = 1.25, unknown = 'x', btheta = .15, "
    "bzeta=1.4\n"
    " borbi(0,0)=  0.24E+01,\n borbi(0,1)=  1.2D-01, borbi(1,0) = +8e-2\n/\n borbi( -1 , 1 ) = "
    "-.03\n";

void expect_sample(const Surface& s) {
  const auto expected = builtin_surface("sample_dkes");
  EXPECT_EQ(s.nfp, 2);
  EXPECT_DOUBLE_EQ(s.iota, 0.4);
  EXPECT_EQ(s.b0, 2.4);
  const Grid grid = {5, 7, 4};
  EXPECT_EQ(make_geometry(s, grid).b, make_geometry(expected, grid).b);
  EXPECT_EQ(make_geometry(s, grid).drift, make_geometry(expected, grid).drift);
}

void expect_dkes(const std::string& from, const std::string& to) {
  SCOPED_TRACE(to);
  expect_sample(parse_dkes(replaced(kDkes, from, to), "file"));
}

TEST(SurfaceText, ReadsDkesNamelists) {
  expect_sample(parse_dkes(kDkes, "file"));
  expect_dkes("&datain", "a heading with x = 3 in it\n&other bzeta = 7, name = 'a/b' /\n $DATAIN");
  expect_dkes("\n/\n", "\n&end\n");
  expect_dkes("\n/\n", "/ bzeta = 12 (was tried)\n");
  expect_dkes("unknown = 'x'", "unknown = 'it''s / ! = &' mmnn(1,2)= -21, 7,  1, l = .true. T");
}

TEST(SurfaceText, CommentsAreNoValues) {
  expect_dkes("psip = 1.25", "psip = 1.25 ! old: psip = 9, borbi(0,1) = 0.4 /\n");
  expect_dkes("\n/\n", "\n! borbi(3,1) = 0.4\n!/\n/\n");
  expect_dkes("-.03", "-.03\n! borbi(0,1) = 7\n");
}

TEST(SurfaceText, TheLastValueWins) {
  expect_dkes("psip = 1.25", "psip = 9, psip = 1.25, psip = ,");
  expect_dkes("borbi(0,1)=", "borbi(0,1) = 5, borbi(0,1)=");
  // A second namelist is read after the first, and overrides what it names.
  expect_sample(parse_dkes(
      replaced(replaced(kDkes, "borbi(0,0)=  0.24E+01", "borbi(0,0)= 1"), "bzeta=1.4", "bzeta=7") +
          "\n&datain bzeta = 1.4, borbi(0,0) = 2.4 /\n",
      "file"));
}

TEST(SurfaceText, ValuesFillAnArray) {
  // The first index, which is n, runs fastest.
  expect_dkes("borbi(0,0)=  0.24E+01,\n borbi(0,1)=  1.2D-01, borbi(1,0) = +8e-2",
              "borbi(0,0) = 2.4, 8e-2\n borbi(-1,1) = 7., .12");
  expect_dkes("borbi(0,0)=  0.24E+01", "borbi(0:0,0:1) = 2.4, 7");
  expect_dkes("borbi(0,0)=  0.24E+01", "borbi(-1,0) = , 2.4, 1*, 2*0");
  const auto s = parse_dkes(replaced(kDkes, "borbi(1,0) = +8e-2", "borbi(2,3) = 3*0.1"), "file");
  EXPECT_EQ(
      std::ranges::count_if(s.b, [](const Harmonic& h) { return h.m == 3 && h.cosine == 0.1; }), 3);
}

TEST(SurfaceText, RefusesNamelistsThatMakeNoSense) {
  const auto said = [](const std::string& from, const std::string& to) {
    return text_refusal([&] { parse_dkes(replaced(kDkes, from, to), "file"); });
  };
  EXPECT_THAT(said("&datain", "&other"), HasSubstr("no namelist '&datain'"));
  EXPECT_THAT(said("psip = 1.25", "psip = nix"),
              HasSubstr("file:3: psip: expected a number, got 'nix'"));
  EXPECT_THAT(said("psip = 1.25", "psip = 1, 2"), HasSubstr("and 1 more"));
  EXPECT_THAT(said("psip = 1.25", "psi = 1.25"), HasSubstr("'psip'"));
  EXPECT_THAT(said("psip = 1.25", "psip = 0"), HasSubstr("psip must not be 0"));
  EXPECT_THAT(said("psip = 1.25", "psip 1.25"), HasSubstr("file:3: "));
  EXPECT_THAT(said("borbi(0,0)=  0.24E+01", "borbi(0,0)= nan"), HasSubstr("(0, 0)"));
  EXPECT_THAT(said("borbi(0,0)=", "borbi(9,9)="), HasSubstr("mean field"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(0,x)="), HasSubstr("indices"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(0)="), HasSubstr("two indices (n, m), got 1"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi="), HasSubstr("two indices (n, m), got 0"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(2000000000,1)="), HasSubstr("from -1000 to 1000"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(99999999999,1)="), HasSubstr("integer indices"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(999,1)= 1, 2, 3,"), HasSubstr("more values"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(0:1,1)= 1, 2, 3,"), HasSubstr("more values"));
  EXPECT_THAT(said("borbi(0,1)=", "borbi(0,1)= 999999999*1,"), HasSubstr("repeat count"));
  for (const char* wrong : {"2.5", "0", "-5", "1d12", "nan"}) {
    EXPECT_THAT(said("nzperiod=  2", std::string("nzperiod = ") + wrong),
                HasSubstr("nzperiod must be an integer from 1 to 1000, got "));
  }
  // Cut short: in a number, before the end, inside a quotation.
  const std::string text = kDkes;
  for (std::size_t length = text.find("nzperiod"); length < text.find("/\n"); length += 7) {
    EXPECT_NE(text_refusal([&] { parse_dkes(text.substr(0, length), "file"); }),
              "nothing was refused")
        << length;
  }
  EXPECT_THAT(said("\n/\n", "\n"), HasSubstr("no end '/'"));
  EXPECT_THAT(said("\n/\n", "\n&more /"), HasSubstr("no end '/' before '&more'"));
  EXPECT_THAT(said("\n/\n", "\n/\n" + std::string(3, '\0')), HasSubstr("not a text file"));
  EXPECT_THAT(text_refusal([] { parse_dkes("", "file"); }), HasSubstr("file"));
  EXPECT_THAT(text_refusal([] { read_dkes("/nowhere/ddkes2.data"); }),
              HasSubstr("/nowhere/ddkes2.data"));
  EXPECT_THAT(text_refusal([] { read_dkes("/dev/zero"); }), HasSubstr("not a regular file"));
  EXPECT_THAT(text_refusal([] { builtin_surface("exemple"); }), HasSubstr("'exemple'"));
}

constexpr const char* kText =
    "Number of periods : 2\npsi_p = 1.25\nchi_p = -0.5\niota 0.4\nB00: 2.4\nB_theta  0.15\n"
    "B_zeta = 1.4\n m n B_mn\n 0 0 2.4\n 1 0 .12\n 0 1 8D-2\n 1 -1 -.03\n";

// As MONKES writes it, which has chi_p of the other sign.
constexpr const char* kMonkes =
    "  *** Flux-surface parameters \n      s =   0.25     \n      Number of periods =            "
    "2\n"
    "      psi_p =   1.25     \n      chi_p =   0.5     \n      iota =   0.4     \n"
    "      B00 =    2.40000000000000     \n      B_theta =   0.150000000000000E+000\n"
    "      B_zeta =   1.4     \n      B00/(B_zeta+iota*B_theta) =  1.643835616438356     \n"
    "  *** Stellarator parameters \n      Minor_Radius =   0.215416889473901     \n"
    "      Major_Radius =    5.79474312039817     \n \n"
    "  *** Magnetic field strength Fourier modes \n  m  n  B_mn  B_mn/B00 \n"
    "     0     0   2.40000000000000        1.00000000000000     \n"
    "     1     0  0.120000000000000       5.000000000000000E-002\n"
    "     0     1  8.000000000000000E-002  3.333333333333333E-002\n"
    "     1    -1 -3.000000000000000E-002 -1.250000000000000E-002\n";

TEST(SurfaceText, ReadsTheTextForm) {
  expect_sample(parse_surface_text(kText, "file"));
  expect_sample(parse_surface_text(kMonkes, "file"));
  expect_sample(parse_surface_text(replaced(kText, "iota 0.4\n", ""), "file"));
  expect_sample(parse_surface_text(replaced(kText, "B00: 2.4\n", ""), "file"));
}

TEST(SurfaceText, RefusesTextsThatMakeNoSense) {
  const auto said = [](const char* text, const std::string& from, const std::string& to) {
    return text_refusal([&] { parse_surface_text(replaced(text, from, to), "file"); });
  };
  EXPECT_THAT(text_refusal([] { parse_surface_text("iota x\n", "file"); }), HasSubstr("file:1"));
  EXPECT_THAT(text_refusal([] { parse_surface_text("iota 1\n", "file"); }), HasSubstr("no row"));
  EXPECT_THAT(text_refusal([] { parse_surface_text("0 0 1\n", "file"); }),
              HasSubstr("number of periods"));
  EXPECT_THAT(said(kText, "iota 0.4\n", "iota 0.4\niota 0.4\n"), HasSubstr("iota is there twice"));
  for (const char* wrong : {"2.7", "nan", "1e12", "-2"}) {
    EXPECT_THAT(said(kText, "periods : 2", std::string("periods : ") + wrong),
                HasSubstr("must be an integer from 1 to 1000, got "));
  }
  EXPECT_THAT(said(kText, "iota 0.4", "iota 0.9"), HasSubstr("iota contradicts chi_p/psi_p"));
  EXPECT_THAT(said(kText, "B00: 2.4", "B00: 9.9"), HasSubstr("B00 contradicts the row 0 0"));
  EXPECT_THAT(said(kText, "psi_p = 1.25", "psi_p = 0"), HasSubstr("psi_p must not be 0"));
  EXPECT_THAT(said(kText, " 1 0 .12", " 2000 0 .12"), HasSubstr("file:10: mode numbers"));
  EXPECT_THAT(said(kText, " 1 0 .12", " 0 0 .12"), HasSubstr("stood on line 9"));
  EXPECT_THAT(said(kText, " 1 0 .12", " 1 0"), HasSubstr("file:10: expected 'm n B_mn'"));
  EXPECT_THAT(said(kText, " 1 0 .12", " 1 0 .12 .05"), HasSubstr("file:10: expected 3 columns"));
  EXPECT_THAT(said(kText, "psi_p = 1.25", "psi_prime = 1.25"), HasSubstr("missing line 'psi_p'"));
  // The last row cut short, wherever.
  const std::string text = kMonkes;
  for (std::size_t missing = 4; missing < 40; missing += 3) {
    EXPECT_NE(
        text_refusal([&] { parse_surface_text(text.substr(0, text.size() - missing), "file"); }),
        "nothing was refused")
        << missing;
  }
}

TEST(SurfaceText, SmallModesCanBeDropped) {
  auto s = builtin_surface("example");
  drop_small_modes(s, 0.02);
  EXPECT_EQ(s.b.size(), 3u);  // 1, .06, .025 stay; .01 goes
  EXPECT_THAT(text_refusal([&] { drop_small_modes(s, NAN); }), HasSubstr("nan"));
}

// The files of the field, where they are at hand.
TEST(SurfaceText, ReadsGenuineFiles) {
  const char* set = std::getenv("ASSAY_SHARED_DATA");
  const std::filesystem::path data = set != nullptr ? set : ASSAY_SHARED_DATA_DEFAULT;
  const auto monkes = data / "transport/real/w7x_eim.magnetic_configuration.dat";
  const auto dkes = data / "transport/real/ciemat_qi_s0250.ddkes2.data";
  if (!std::filesystem::exists(monkes) || !std::filesystem::exists(dkes)) {
    GTEST_SKIP() << "no file " << monkes << " or " << dkes
                 << ": set ASSAY_SHARED_DATA to the folder that holds transport/real";
  }
  const auto w7x = read_surface_text(monkes.string());
  EXPECT_EQ(w7x.nfp, 5);
  EXPECT_EQ(w7x.b0, 2.4311);
  EXPECT_EQ(w7x.b.size(), 100u);
  EXPECT_DOUBLE_EQ(w7x.iota, -0.861561962955891);
  const auto qi = read_dkes(dkes.string());
  EXPECT_EQ(qi.nfp, 4);
  EXPECT_DOUBLE_EQ(qi.iota, -0.4091 / 0.4674);
  EXPECT_EQ(qi.b.size(), 50u);
}

}  // namespace
}  // namespace assay::transport
