// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The door of the engine: prepare a surface once, solve it for as many cases as wanted.
//
//   const auto prepared = prepare(builtin_surface("example"), {17, 25, 16});
//   const auto solution = solve(prepared, {.nu_hat = 1e-3, .epsi_hat = 0});
//
// solve.cc tells the story of one solve; docs/methods/transport.md derives it.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/solver/coefficients.h"
#include "transport/solver/workspace.h"
#include "transport/surface/geometry.h"
#include "transport/surface/surface.h"

namespace assay::transport {

// One monoenergetic case. nu_hat = ν/v [1/m], epsi_hat = E_ψ/v = Ê_r/ψ'.
struct Case {
  double nu_hat = 0;
  double epsi_hat = 0;
};
// The case of a radial field Ê_r = E_r/v [T].
Case case_of_er(double nu_hat, double er_hat, double psi_prime);

enum class Method {
  kAuto,        // parity where it applies, dense on a rational surface at Ê = 0, else structured
  kDense,       // LU, solve, product: the plain elimination
  kStructured,  // sparse operators, inversion without pivoting
  kParity,      // structured on half the unknowns; Ê = 0 and cosine-only B
  kMixed,       // f32 factors of every block, corrected with f64 residuals
};
std::string_view name_of(Method method);
// Throws UserError that lists the names: auto, dense, structured, parity, mixed.
Method method_from_name(std::string_view name);

struct PrepareOptions {
  // U_k from the transpose of L_{k+1}: Onsager symmetry to rounding, other numbers on coarse grids.
  bool adjoint_consistent = false;
};

struct SolveOptions {
  Method method = Method::kAuto;
  bool keep_modes = false;  // f_0, f_1, f_2 on the grid, for s1 and s3
  // All Legendre modes are found, refined and looked at, for which every block is kept: n_ξ N²
  // doubles in the workspace. Without it the answer is that of three modes, unchecked.
  bool whole_system = true;
};

// A surface on a grid with everything that does not depend on the case. Immutable, cheap to copy,
// may be used by several threads.
class Prepared {
 public:
  const Geometry& geometry() const;
  const Grid& grid() const { return geometry().grid; }
  const std::string& name() const;
  // Warnings that a case at Ê = 0 would carry; empty on a surface without small divisors.
  const std::string& rational_warning() const;
  // What was assumed of the surface's source.
  const std::vector<std::string>& notes() const;
  // What of B the grid does not resolve.
  const std::vector<std::string>& field_warnings() const;
  // Whether a field is so weak that it makes no difference to f64: a case with it is one at Ê = 0.
  bool is_zero_field(double epsi_hat) const;
  bool has_parity() const;
  bool adjoint_consistent() const;

  struct Parts;
  const Parts& parts() const { return *parts_; }
  explicit Prepared(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

 private:
  std::shared_ptr<const Parts> parts_;
};

// Throws UserError naming what is wrong with the surface or the grid.
Prepared prepare(const Surface& surface, const Grid& grid, const PrepareOptions& options = {});

// How far the numbers can be trusted.
struct Quality {
  bool whole = false;   // see SolveOptions::whole_system; the rest is 0 without
  double residual = 0;  // of all Legendre rows and both sources, over the terms it is the sum of
  Coefficients error;   // how wrong arithmetic may have left each, as answer of this grid
  // Shares in the solution of the highest Legendre modes, and of the highest Fourier modes of each
  // angle: what the grid leaves out is about as much.
  double legendre_share = 0, theta_share = 0, zeta_share = 0;
  int corrections = 0;  // on the whole system
};

// The grid that a case was given so that its coefficients are as accurate as was asked for.
struct Resolution {
  Grid grid;
  Coefficients error;    // relative, estimated; D31 and D13 relative to √(D11·D33)/100 at least
  bool reached = false;  // the accuracy
  int solves = 0;        // that it took to find the grid, and what they cost
  double flops = 0;
};

struct Solution {
  Case at;
  Coefficients d;
  double residual = 0;  // see eliminate.h; of the whole system with Method::kMixed
  Quality quality;
  double onsager = 0;
  Method method = Method::kAuto;         // the one that was used
  int sweeps = 0;                        // corrections of Method::kMixed
  std::vector<std::string> warnings;     // reasons not to trust the numbers, with figures
  std::vector<std::string> notes;        // what was done otherwise than asked for
  std::optional<Resolution> resolution;  // where the grid was chosen for this case
  // With keep_modes: modes[source][k] on the grid, sources s1, s3, k = 0, 1, 2.
  std::array<std::array<Field, 3>, 2> modes;
};

// A method that fails (its refinement leaves an error above 1e-3) is replaced by the next sturdier
// one: mixed, parity, structured, dense; a note says so. Throws UserError: nu_hat not positive or
// not finite, a method that does not apply, or a system that has no solution in floating point
// (naming the case).
Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options,
               Workspace& workspace);
Solution solve(const Prepared& prepared, const Case& at, const SolveOptions& options = {});

// Throws what solve() would throw for this case and method before any work is done.
void check_case(const Prepared& prepared, const Case& at, Method method);
// The method that kAuto stands for.
Method resolve_method(const Prepared& prepared, const Case& at, Method method);

}  // namespace assay::transport
