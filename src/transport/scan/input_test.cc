// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What people write: input files, journals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "transport/scan/converge.h"
#include "transport/scan/input.h"
#include "transport/scan/plot.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

constexpr const char* kInput =
    "[surface]\ntype = 'example'\n[grid]\nn_theta = 5\nn_zeta = 7\nn_xi = 4\n[case]\nnu_hat = "
    "[1e-2, 1e-1]\ner_hat = 1e-3\n";

TEST(Input, ReadsCasesAndDefaults) {
  const auto in = parse_input(kInput, "in.toml");
  EXPECT_TRUE(in.scan);
  EXPECT_EQ(in.method, Method::kAuto);
  EXPECT_EQ(in.batch, 32);
  const auto cases = in.cases(2.0);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].nu_hat, 1e-1);
  EXPECT_EQ(cases[1].epsi_hat, 5e-4);
}

TEST(Input, NamesTheLineOfWhatIsWrong) {
  const auto bad = [](std::string from, std::string to) {
    std::string text = kInput;
    text.replace(text.find(from), from.size(), to);
    return refusal([&] { parse_input(text, "in.toml"); });
  };
  EXPECT_THAT(bad("n_theta = 5", "n_theta = 2"), HasSubstr("in.toml:4: grid.n_theta"));
  EXPECT_THAT(bad("n_xi = 4", "n_xi = 1"), HasSubstr("n_xi"));
  EXPECT_THAT(bad("n_xi = 4", "n_xii = 4"), HasSubstr("n_xi"));
  EXPECT_THAT(bad("er_hat = 1e-3", "er_hat = 1e-3\nepsi_hat = 1"), HasSubstr("not both"));
  EXPECT_THAT(bad("er_hat = 1e-3", "er_hat = 1e-3\nspeed = 1"),
              HasSubstr("case.speed: unknown key"));
  EXPECT_THAT(bad("er_hat = 1e-3", "er_hat = nan"), HasSubstr("er_hat"));
  EXPECT_THAT(bad("[1e-2, 1e-1]", "[]"), HasSubstr("nu_hat"));
  EXPECT_THAT(bad("[1e-2, 1e-1]", "-1"), HasSubstr("got -1"));
  EXPECT_THAT(bad("'example'", "'exemple'"), HasSubstr("'exemple'"));
  EXPECT_THAT(bad("'example'", "'vmec'"), HasSubstr("path"));
  EXPECT_THAT(bad("'example'", "'vmec'\npath = 'w.nc'"), HasSubstr("psi_n"));
  EXPECT_THAT(bad("'example'", "'dkes'\npath = 'w.data'\npsi_n = 2"), HasSubstr("psi_n"));
  EXPECT_THAT(bad("'example'", "'example'\npsi_n = 0.5"), HasSubstr("one surface of its own"));
  EXPECT_THAT(bad("er_hat = 1e-3", "er_hat = 1\npairs = true"), HasSubstr("one length"));
  EXPECT_THAT(bad("er_hat = 1e-3", "er_hat = 1\n[solver]\nmethod = 'fast'"), HasSubstr("'fast'"));
  EXPECT_THAT(refusal([] { read_input("/nowhere/in.toml"); }), HasSubstr("/nowhere/in.toml"));
}

TEST(Solve, RefusesCasesThatMakeNoSense) {
  const auto prepared = prepare(builtin_surface("example"), {5, 5, 4});
  const auto bad = [&](Case at, Method method = Method::kAuto) {
    return refusal([&] { solve(prepared, at, {.method = method}); });
  };
  EXPECT_THAT(bad({0, 0}), HasSubstr("nu_hat"));
  EXPECT_THAT(bad({-1, 0}), HasSubstr("got -1"));
  EXPECT_THAT(bad({NAN, 0}), HasSubstr("nan"));
  EXPECT_THAT(bad({1, INFINITY}), HasSubstr("inf"));
  EXPECT_THAT(bad({1, 1e-3}, Method::kParity), HasSubstr("parity"));
  auto sines = builtin_surface("example");
  sines.b.push_back({1, 0, 0, 0.01});
  const auto asymmetric = prepare(sines, {5, 5, 4});
  EXPECT_THAT(refusal([&] {
                solve(asymmetric, {1, 0}, {.method = Method::kParity});
              }),
              HasSubstr("sine"));
  EXPECT_GT(solve(asymmetric, {1, 0}).d.d11, 0);
  EXPECT_THAT(refusal([] {
                prepare(builtin_surface("example"), {2, 5, 4});
              }),
              HasSubstr("n_theta"));
  auto hole = builtin_surface("example");
  hole.b[1].cosine = -2;
  EXPECT_THAT(refusal([&] { prepare(hole, {5, 5, 4}); }), HasSubstr("B must be positive"));
}

TEST(ScanJournal, ResumesWhatIsWholeAndRefusesWhatIsNotItsOwn) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/journal";
  const auto prepared = prepare(builtin_surface("example"), {5, 5, 4});
  const auto cases = case_grid(std::vector<double>{1e-2, 1e-1, 1}, std::vector<double>{0, 1e-3});
  ScanOptions options;
  options.batch = 1;
  options.journal = path;
  const auto first = solve_scan(prepared, cases, options);
  EXPECT_EQ(first.solved, 6u);
  const auto whole = read_file(path);

  // Cut at every byte of the last two lines: what is whole is resumed, the rest solved again.
  const auto last_lines = whole.rfind('\n', whole.rfind('\n', whole.size() - 2) - 1);
  for (std::size_t cut = last_lines + 1; cut <= whole.size(); cut += 7) {
    write_file_atomically(path, whole.substr(0, cut));
    const auto again = solve_scan(prepared, cases, options);
    EXPECT_GE(again.resumed, 4u) << cut;
    EXPECT_EQ(again.resumed + again.solved, 6u);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(again.solutions[i].d.d11, first.solutions[i].d.d11);
      EXPECT_EQ(again.solutions[i].d.d33, first.solutions[i].d.d33);
      EXPECT_EQ(again.solutions[i].method, first.solutions[i].method);
    }
  }
  EXPECT_EQ(solve_scan(prepared, cases, options).solved, 0u);

  // Other inputs, and files of another kind, are left alone.
  const auto other = prepare(builtin_surface("example"), {5, 5, 6});
  EXPECT_THAT(refusal([&] { solve_scan(other, cases, options); }), HasSubstr("another scan"));
  write_file_atomically(path, "a diary\nof mine\n");
  EXPECT_THAT(refusal([&] { solve_scan(prepared, cases, options); }), HasSubstr("not a scan"));
  EXPECT_EQ(read_file(path), "a diary\nof mine\n");
}

TEST(Scan, StopsWhenInterruptedAndRefusesSenselessOptions) {
  const auto prepared = prepare(builtin_surface("example"), {5, 5, 4});
  const auto cases = case_grid(std::vector<double>{1e-2, 1e-1}, std::vector<double>{0});
  const std::atomic<bool> interrupt = true;
  ScanOptions options;
  options.interrupt = &interrupt;
  EXPECT_FALSE(solve_scan(prepared, cases, options).complete);
  EXPECT_THAT(refusal([&] { solve_scan(prepared, cases, {.threads = 0}); }), HasSubstr("threads"));
  EXPECT_THAT(refusal([&] { solve_scan(prepared, cases, {.batch = 0}); }), HasSubstr("batch"));
  EXPECT_TRUE(solve_scan(prepared, {}, ScanOptions{}).solutions.empty());
  const std::vector<Case> bad = {{1e-2, 0}, {-1, 0}};
  EXPECT_THAT(refusal([&] { solve_scan(prepared, bad, ScanOptions{}); }), HasSubstr("-1"));
}

TEST(Converge, SaysConvergedUnresolvedOrOutOfScope) {
  const auto w7x = builtin_surface("w7x_eim_sample");
  std::size_t told = 0;
  ConvergeOptions options;
  options.on_step = [&](const ConvergeStep&) { ++told; };
  const auto good = converge(w7x, {1e-2, 0}, options);
  EXPECT_EQ(good.outcome, Convergence::kConverged) << good.reason;
  EXPECT_EQ(good.ladder.size(), told);
  EXPECT_EQ(good.ladder.back().raised, "all");
  EXPECT_LE(good.ladder.back().change, options.tolerance);

  const auto limited = converge(w7x, {1e-4, 0}, {.max_points = 200, .max_xi = 30});
  EXPECT_EQ(limited.outcome, Convergence::kUnresolved);

  const auto rational = converge(builtin_surface("sample_dkes"), {1e-2, 0}, {});
  EXPECT_EQ(rational.outcome, Convergence::kOutOfScope);
  EXPECT_THAT(rational.reason, HasSubstr("(5, -1)"));
}

TEST(Plot, IsAGnuplotProgram) {
  const auto in = parse_input(kInput, "in.toml");
  const auto prepared = prepare(builtin_surface("example"), in.grid);
  const auto result = solve_scan(prepared, in.cases(1), {});
  const auto scan = panel_script(in, prepared, result.solutions, "a 'b' `c`.png");
  EXPECT_THAT(scan, HasSubstr("set multiplot layout 3,2"));
  EXPECT_THAT(scan, HasSubstr(R"(set output "a \0047b\0047 \140c\140\0056png")"));
  const auto one = panel_script(in, prepared, {result.solutions[0]}, "a.pdf");
  EXPECT_THAT(one, HasSubstr("pdfcairo"));
  EXPECT_THAT(one, HasSubstr("set multiplot layout 2,2"));
}

}  // namespace
}  // namespace assay::transport
