// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "transport/files/equilibrium.h"
#include "transport/scan/converge.h"

namespace assay::cli {
namespace {

namespace tr = assay::transport;

std::string step_line(const tr::ConvergeStep& s) {
  return fmt::format("{:>15} {:>4} x {:<4} x {:<4} {:>13.6g} {:>13.6g} {:>13.6g} {:>9.1e} {:>10}\n",
                     s.raised, s.grid.n_theta, s.grid.n_zeta, s.grid.n_xi, s.d.d11, s.d.d31,
                     s.d.d33, s.change, format_seconds(s.seconds));
}

Json result_json(const tr::ConvergeResult& result) {
  Json ladder = Json::array();
  for (const auto& s : result.ladder) {
    ladder.push_back({{"raised", s.raised},
                      {"n_theta", s.grid.n_theta},
                      {"n_zeta", s.grid.n_zeta},
                      {"n_xi", s.grid.n_xi},
                      {"D11", s.d.d11},
                      {"D31", s.d.d31},
                      {"D33", s.d.d33},
                      {"change", s.change},
                      {"seconds", s.seconds}});
  }
  return {{"outcome", tr::name_of(result.outcome)},
          {"reason", result.reason},
          {"solution", tr::solution_to_json(result.solution)},
          {"ladder", ladder}};
}

}  // namespace

int transport_converge(const TransportArguments& a) {
  tr::ConvergeOptions options;
  tr::Surface surface;
  double nu = 1e-3, epsi = 0;
  const auto& names = tr::builtin_names();
  if (std::ranges::find(names, a.input) != names.end()) {
    surface = tr::builtin_surface(a.input);
    if (!a.nu) fail("converge on a built-in surface needs --nu, got '{}'", a.input);
  } else {
    const auto in = input_with_flags(a);
    surface = tr::load_surface(in.surface);
    if (in.scan && (!a.nu || !a.er)) fail("converge takes one case, got lists in '{}'", a.input);
    nu = in.nu_hat.front();
    epsi = in.cases(surface.psi_prime).front().epsi_hat;
    options.start = in.grid;
    options.method = in.method;
    options.adjoint_consistent = in.adjoint_consistent;
  }
  if (!a.method.empty()) options.method = tr::method_from_name(a.method);
  if (a.nu) nu = *a.nu;
  if (a.er) epsi = *a.er / surface.psi_prime;
  if (epsi == 0) epsi = 0;  // never −0
  if (a.tolerance) options.tolerance = *a.tolerance;
  if (a.max_points) options.max_points = *a.max_points;
  if (a.max_xi) options.max_xi = *a.max_xi;
  if (!(options.tolerance > 0)) fail("--tolerance must be above 0, got {}", options.tolerance);
  const auto& start = options.start;
  if (options.max_points < start.points() || options.max_xi < start.n_xi) {
    fail("the first grid is {}x{}x{}: --max-points {} and --max-xi {} leave none", start.n_theta,
         start.n_zeta, start.n_xi, options.max_points, options.max_xi);
  }
  if (!a.json) {
    std::fputs(
        fmt::format(
            "{}: nu_hat {:g}, epsi_hat {:g}, tolerance {:g}\n"
            "         raised        grid                   D11           D31           D33    "
            "change       time\n",
            surface.name, nu, epsi, options.tolerance)
            .c_str(),
        stdout);
    options.on_step = [](const tr::ConvergeStep& s) {
      std::fputs(step_line(s).c_str(), stdout);
      std::fflush(stdout);
    };
  }
  const auto result = tr::converge(surface, {nu, epsi}, options);
  if (a.json) {
    std::fputs((pretty_json(result_json(result)) + "\n").c_str(), stdout);
  } else {
    for (const auto& w : result.solution.warnings) {
      std::fputs(fmt::format("warning: {}\n", w).c_str(), stdout);
    }
    for (const auto& note : result.solution.notes) {
      std::fputs(fmt::format("note: {}\n", note).c_str(), stdout);
    }
    std::fputs(fmt::format("{}: {}\n", tr::name_of(result.outcome), result.reason).c_str(), stdout);
  }
  if (result.outcome != tr::Convergence::kConverged) return kUnresolved;
  return status_of(a, !result.solution.warnings.empty());
}

}  // namespace assay::cli
