// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "transport/files/equilibrium.h"

namespace assay::cli {

namespace tr = assay::transport;

int transport_inspect(const TransportArguments& a) {
  const auto in = tr::read_input(a.input);
  const auto surface = tr::load_surface(in.surface);
  const auto g = tr::make_geometry(surface, in.grid);
  const auto [least, most] = std::ranges::minmax(g.b);
  const auto divisor = tr::smallest_divisor(g);
  const double n = in.grid.points(), steps = in.grid.n_xi;
  const double dense = 14.0 / 3 * steps * n * n * n;
  const double structured =
      steps * (2 * n * n * n + 4 * n * n * (in.grid.n_theta + in.grid.n_zeta));
  const double bytes = 8 * 7 * n * n;
  const auto cases = in.nu_hat.size() * in.field.size();
  if (a.json) {
    const Json json = {
        {"surface", surface.name},
        {"angles", surface.vmec ? "vmec" : "boozer"},
        {"nfp", g.nfp},
        {"iota", g.iota},
        {"psi_prime", g.psi_prime},
        {"B0", g.b0},
        {"B_min", least},
        {"B_max", most},
        {"mean_B2", g.mean_b2},
        {"modes", surface.b.size()},
        {"cosine_only", g.cosine_only},
        {"smallest_divisor", {{"m", divisor.m}, {"n", divisor.n}, {"value", divisor.value}}},
        {"cases", cases},
        {"flops_dense", dense},
        {"flops_structured", structured},
        {"bytes_per_thread", bytes}};
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
    return kFine;
  }
  std::fputs(
      fmt::format("surface     {} ({} angles, {} modes{})\n"
                  "field       B {:.6g} … {:.6g} T, B0 {:.6g} T, <B^2> {:.6g} T^2\n"
                  "            nfp {}, iota {:.6g}, psi' {:.6g} T m\n"
                  "resonance   smallest |iota m + n nfp| {:.3g} at (m, n) = ({}, {}){}\n"
                  "grid        {} x {} x {}: blocks of {} unknowns\n"
                  "cases       {}\n"
                  "a case      {:.2e} flop dense, {:.2e} structured\n"
                  "memory      {} for each thread\n",
                  surface.name, surface.vmec ? "VMEC" : "Boozer", surface.b.size(),
                  g.cosine_only ? "" : ", with sines", least, most, g.b0, g.mean_b2, g.nfp, g.iota,
                  g.psi_prime, divisor.value, divisor.m, divisor.n,
                  divisor.value < 1e-3 ? ": nearly rational, D11 at zero field may be noise" : "",
                  in.grid.n_theta, in.grid.n_zeta, in.grid.n_xi, in.grid.points(), cases, dense,
                  structured, format_bytes(bytes))
          .c_str(),
      stdout);
  return kFine;
}

}  // namespace assay::cli
