// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels of every kind at awkward sizes, strides and dtypes, and a look at one of them: as a
// runtime computes it, beside plain loops.

#include <string>
#include <vector>

#include "compiler/run/executor.h"

namespace assay::compiler::cuda {

struct TrialKernel {
  std::string what;
  Kernel kernel;
  std::vector<Bindings> at;
  // Integer operands are drawn from −2 … below + 1: indices, of which some are outside.
  std::int64_t below = 40;
  // Off by so much of the value, and of 1.
  double relative = 2e-5, absolute = 2e-4;
  // Integers rise, by ones within each `run` and by one run more to the next: no two places are
  // one.
  bool counts = false;
  std::int64_t run = 1;
};
std::vector<TrialKernel> trial_products();
std::vector<TrialKernel> trial_grouped();
std::vector<TrialKernel> trial_attentions();
std::vector<TrialKernel> trial_scatters();

// What is wrong with the kernel at one of its symbols' values: an element, or one beside an operand
// that was written. Empty: nothing. Every second operand begins one element behind a boundary where
// `turned`. Runs twice.
std::string mistake_of(const TrialKernel& trial, const Runtime& runtime, const Bindings& symbols,
                       bool turned);

}  // namespace assay::compiler::cuda
