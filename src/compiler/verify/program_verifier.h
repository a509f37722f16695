// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a program computes what its graph says, looked at in three ways, each of which sees what
// the others cannot:
//
// - Its meaning. The kernels' definitions, one after the other in f64, are the graph in f64: a
//   wrong rule stands out by far, whatever is in between (program_meaning.h). And what they round
//   to a narrow dtype, the graph rounds to it (rounded_values.h).
// - Its kernels. Each by itself is what its definition says, on inputs of its own, within bounds
//   that no other kernel has widened. Of products of many rows a few rows (sampled_rows.h).
// - Its runs. The whole is what the interpreter says, as far as bounds of the whole say anything
//   (verifier.h), and nothing changes behind a kernel's back (executor.h).

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/verify/program_meaning.h"
#include "compiler/verify/verifier.h"

namespace assay::compiler {

class ProgramVerifier {
 public:
  // The graph lives as long.
  explicit ProgramVerifier(const Graph& graph, VerifyOptions options = {});
  ~ProgramVerifier();

  // Nothing where the program is right; else what is wrong.
  std::optional<std::string> mistake_of(const Program& program, const Runtime& runtime);

  // Its meaning at far greater values of the symbols (VerifyOptions::far), and its products of more
  // rows than the runtime computes in one way (Runtime::row_borders). Takes as long as many of the
  // other look: for programs that are going to be used.
  std::optional<std::string> mistake_far_out(const Program& program, const Runtime& runtime);

  // Elements that are held to a bound, of all that were looked at so far.
  struct Coverage {
    Verifier::Coverage meaning, kernels, runs;
    // Outputs of the program that could be wrong, each by itself, and nobody would have seen it:
    // neither do its runs say anything of them, nor what its kernels mean together with what each
    // of those computes that they are made by.
    std::vector<std::string> unheld;
    // Kernels that are too large to be looked at, even in part, at VerifyOptions::used_at.
    std::vector<std::string> unseen;
  };
  Coverage coverage(const Program& program, const Runtime& runtime);

 private:
  struct Trial;
  struct PreparedKernel;
  Trial given(const Bindings& symbols, InputStyle style, std::span<const Trial> others) const;
  void expect(Trial& trial, bool shows_roundings) const;
  std::vector<Trial>& trials();
  std::vector<Trial>& far_trials();
  std::optional<std::string> mistake_in_meaning(const Program& program,
                                                std::vector<Trial>& trials) const;
  std::optional<std::string> mistake_in_kernels(const Program& program, const Runtime& runtime);
  bool has_open_kernel(const Program& program, const Output& output, const Runtime& runtime) const;

  const Graph& graph_;
  VerifyOptions options_;
  std::vector<Trial> trials_, far_trials_;
  bool has_far_trials_ = false;
  KnownProducts products_;
  // Right kernels, by what they compute and how, and what of each operand that it writes was held
  // to a bound.
  std::map<std::string, std::map<std::string, Verifier::Coverage>> right_;
  std::set<std::string> right_beyond_;  // borders of their rows
  std::set<std::string> unseen_;        // of them: Coverage::unseen
  Verifier::Coverage kernels_;
  Verifier runs_;
};

}  // namespace assay::compiler
