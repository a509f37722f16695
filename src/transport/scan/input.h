// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input file of `assay transport`.
//
//   [surface]  type = "example" … or "dkes", "text", "vmec", "booz" with path, or "modes" with nfp,
//              iota, psi_prime, b_theta, b_zeta, b = [[m, n, B_mn], …] (a fourth number is the sine
//              term) and b0 (the mode (0, 0) where left out); psi_n, min_bmn,
//              psi_prime (in place of the one from the file), minor_radius (vmec, booz), wout
//              (booz: the file that this one was made of)
//   [grid]     n_theta, n_zeta, n_xi
//   [case]     nu_hat; at most one of epsi_hat, er_hat. A number, a list, or a text as axis.h reads
//              it; lists make a scan over their grid, or with pairs = true over the pairs of two
//              equally long lists.
//   [solver]   method = "auto", threads (all cores), batch = 32, adjoint_consistent = false
//   [output]   path, include_modes = false

#include <optional>
#include <string>
#include <vector>

#include "base/toml.h"
#include "transport/solve.h"

namespace assay::transport {

struct SurfaceRequest {
  std::string type;  // a built-in name, or a kind of file
  std::string path;  // of the file; relative paths are those from the input file
  std::optional<double> psi_n;
  std::optional<double> psi_prime;     // [T·m]
  std::optional<double> minor_radius;  // [m]
  std::string wout;                    // beside a Boozer file; relative as `path` is
  std::optional<Surface> spelled;      // of type "modes"
  double min_bmn = 0;
};

struct RunInput {
  std::string path, text;
  SurfaceRequest surface;
  Grid grid;
  std::vector<double> nu_hat;
  std::vector<double> field = {0};
  bool field_is_er = true;  // Ê_r, else Ê_ψ
  bool scan = false;        // some value was a list
  bool pairs = false;       // value i of one with value i of the other, instead of all with all
  std::string output;
  bool include_modes = false;
  Method method = Method::kAuto;
  std::optional<int> threads;  // absent: one for each core, as memory allows
  int batch = 32;
  bool batch_given = false;  // else a device takes as many cases at a time as it has room for
  bool whole_system = true;  // see SolveOptions; not in the file
  bool adjoint_consistent = false;
  double accuracy = 0;  // wanted of every coefficient; 0: the grid is given. Not in the file

  // ν̂ × field as cases, ν̂ slowest; or the pairs.
  std::vector<Case> cases(double psi_prime) const;
};

// The parts that other input files share: [surface] and [grid].
SurfaceRequest read_surface_request(const TomlTable& table, const std::string& input_path);
Grid read_grid(const TomlTable& table);

// What a file may not leave out. Without [grid], the grid is all zeros; without nu_hat, the cases
// are those of axis.h.
struct InputNeeds {
  bool grid = true, cases = true;
};
// Throws UserError "FILE:LINE: KEY: …" for anything unknown, missing or senseless.
RunInput parse_input(std::string text, const std::string& path, const InputNeeds& needs = {});
RunInput read_input(const std::string& path, const InputNeeds& needs = {});

}  // namespace assay::transport
