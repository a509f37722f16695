// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A case on its way to an answer. Which method comes next, when an answer is good enough and what a
// solution says of it is decided here; who computes, one case or a batch of them, here or on a
// device, is not.
//
//   OpenCase open(prepared, at, options);
//   while (const auto method = open.next()) open.take(attempt_of(…));
//   return open.solution();

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "transport/solve.h"
#include "transport/solver/eliminate.h"
#include "transport/solver/mixed.h"

namespace assay::transport {

// What one method makes of a case.
struct Attempt {
  Method method = Method::kAuto;
  std::array<ThreeBlocks, 2> modes;
  double residual = 0;
  int sweeps = 0;
  std::optional<Refined> whole;
  std::string trouble;  // why another method should be tried; empty: none
  bool finite = false;  // it has an answer at all
  double error = INFINITY;
};
Attempt attempt_of(const BlockSystem& system, Method method, EliminationResult result);
Attempt attempt_of(const BlockSystem& system, MixedResult result);

// The system that a method eliminates.
const BlockSystem& system_of(const Prepared& prepared, Method method);

class OpenCase {
 public:
  // Throws what check_case() throws. `prepared` must outlive this.
  OpenCase(const Prepared& prepared, const Case& given, const SolveOptions& options);

  // The case that is computed: a field too weak to make a difference is none.
  const Case& at() const { return at_; }
  // The method to be tried now; nothing after the first without trouble and after the last.
  std::optional<Method> next() const { return next_; }
  void take(Attempt attempt);
  // The answer of the first method without trouble, or the best of all. Throws UserError that names
  // the case where there is none.
  Solution solution();

 private:
  const Prepared* prepared_;
  Case given_, at_;
  SolveOptions options_;
  std::optional<Method> next_;
  std::optional<Attempt> best_;
  std::vector<std::string> failed_;
};

}  // namespace assay::transport
