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
#include <set>
#include <string>

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

  // Elements that are held to a bound, of all that were looked at so far.
  struct Coverage {
    Verifier::Coverage meaning, kernels, runs;
    // Whether a program as a whole could be wrong and nobody would have seen it: neither do its
    // runs say anything, nor what its kernels mean together with what each of them computes.
    bool holds_nothing() const;
  };
  Coverage coverage();

 private:
  struct Trial;
  struct PreparedKernel;
  std::vector<Trial>& trials();
  std::optional<std::string> mistake_in_meaning(const Program& program);
  std::optional<std::string> mistake_in_kernels(const Program& program, const Runtime& runtime);

  const Graph& graph_;
  VerifyOptions options_;
  std::vector<Trial> trials_;
  KnownProducts products_;
  std::set<std::string> right_;  // kernels, by what they compute and how
  Verifier::Coverage kernels_;
  Verifier runs_;
};

}  // namespace assay::compiler
