// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is said of a program that is wrong.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/verify/program_verifier.h"

namespace assay::compiler {

// A graph of as few nodes as possible for which what `compile` makes is still wrong, and why.
struct SmallestMistake {
  Graph graph;
  Program program;
  std::string what;
};
using CompileFunction = std::function<Program(const Graph&)>;
SmallestMistake minimised(const Graph& graph, const CompileFunction& compile,
                          const Runtime& runtime, const VerifyOptions& options);

// A program that is wrong. The message has the smallest graph that shows it, and the rules that
// made its kernels.
class WrongProgram : public std::runtime_error {
 public:
  explicit WrongProgram(const SmallestMistake& mistake);
  const std::vector<std::string>& rules() const { return rules_; }

 private:
  std::vector<std::string> rules_;
};

}  // namespace assay::compiler
