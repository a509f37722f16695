// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One of the programs for a graph: which way for each class, what gets a buffer, which variant of
// each kernel. Choices are remembered by signature (chosen.h), so that equal layers choose alike
// and share their kernels.

#include <map>
#include <memory>
#include <set>

#include "base/json.h"
#include "compiler/choose/compile.h"
#include "compiler/run/executor.h"

namespace assay::compiler {

struct Genome {
  std::map<Signature, std::uint32_t> options;   // not the default
  std::set<Signature> kept;                     // nodes with a buffer of their own
  std::map<Signature, std::uint32_t> variants;  // by what kernels compute; not 0
  bool epilogues = true, shares = true;
  bool operator==(const Genome&) const = default;
};
Json genome_to_json(const Genome& genome);
// Throws UserError that names `what`.
Genome genome_from_json(const Json& json, std::string_view what);

// The programs of one graph.
class Candidates {
 public:
  // The graph lives as long.
  Candidates(const Graph& graph, const CompileOptions& options);

  Program program(const Genome& genome, const Runtime& runtime) const;
  const egraph::SaturationReport& report() const { return report_; }
  const TensorEGraph& terms() const { return *terms_; }

  // What can be changed in the program of a genome.
  struct Freedom {
    std::map<Signature, std::size_t> options;
    std::vector<Signature> nodes;                              // that could have a buffer
    std::vector<std::pair<Signature, std::uint32_t>> kernels;  // and how many variants they have
  };
  Freedom freedom(const Genome& genome, const Runtime& runtime) const;

 private:
  ChosenGraph chosen(const Genome& genome) const;

  CompileOptions options_;
  std::unique_ptr<TensorEGraph> terms_;
  egraph::SaturationReport report_;
};

// By which equal programs are known, whatever led to them.
std::string program_hash(const Program& program);

}  // namespace assay::compiler
