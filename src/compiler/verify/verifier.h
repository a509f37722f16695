// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a program computes what its graph says. Before anything is timed, it is run on ordinary
// and adversarial inputs, at two values of each symbol, twice at each, with guards around every
// buffer, and held to the interpreter within derived bounds (bounds.h).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/run/executor.h"
#include "compiler/verify/bounds.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {

struct VerifyOptions {
  std::vector<InputStyle> styles = {InputStyle::kOrdinary, InputStyle::kMasking};
  std::int64_t most = 40;  // the greatest value of a symbol that is tried
  // Elements that the interpreter computes for one trial: symbols are kept so small that no more
  // are asked for. A few seconds.
  double most_work = 8e8;
  std::uint64_t seed = 1;
};

class Verifier {
 public:
  // The graph lives as long. What is expected is computed once, when it is first needed.
  Verifier(const Graph& graph, VerifyOptions options = {});
  ~Verifier();
  // Nothing where the program is right; else what is wrong: output, inputs, element, both values.
  std::optional<std::string> mistake_of(const Program& program, const Runtime& runtime);
  // How many of the outputs' elements are held to a bound: where an overflow or a comparison could
  // go either way, nothing is asked.
  struct Coverage {
    std::int64_t elements = 0, bounded = 0;
  };
  Coverage coverage();

 private:
  struct Input;
  struct Prepared;
  std::vector<Prepared>& prepared();
  void share_inputs(std::size_t first);
  std::vector<Prepared*> calls();
  std::optional<std::string> mistake_in(Executor& executor, const Prepared& trial) const;

  const Graph& graph_;
  VerifyOptions options_;
  std::vector<Prepared> prepared_;
};

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
