// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a program computes what its graph says. Before anything is timed, it is run on ordinary
// and adversarial inputs, at two values of each symbol, twice at each, with guards around every
// buffer, and held to the interpreter within derived bounds (bounds.h).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/run/executor.h"
#include "compiler/verify/known_products.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {

struct VerifyOptions {
  std::vector<InputStyle> styles = {InputStyle::kOrdinary, InputStyle::kMasking};
  // The greatest value of a symbol that is tried. Odd, so that no block or vector fits into it.
  std::int64_t most = 41;
  // Elements that the interpreter computes for one trial: symbols are kept so small that no more
  // are asked for.
  double most_work = 1e8;
  // Of styles but the first: what a number does to others is the same at any size.
  double most_other_work = 1e8;
  // Of a kernel by itself, where a product of many rows is another than one of few; and symbols may
  // be greater where that is cheap.
  double most_kernel_work = 3e8, cheap_work = 1e7;
  std::int64_t most_in_kernels = 307;
  // Above 0: each symbol in turn so great, or as great as cheap_work allows, the others at their
  // least, on the first style of inputs. What is long is computed in parts elsewhere.
  std::int64_t most_alone = 0;
  // All symbols about so great, where that is cheap: few rows, and what blocks and vectors fit
  // into.
  std::vector<std::int64_t> fitting = {2, 4, 8, 64};
  // What symbols will be when the program is used, where that is known.
  Bindings used_at;
  // Of programs that are going to be used: each symbol in turn about so great, or as great as
  // far_work allows, the others at their least. A rule can be wrong from some length on.
  std::vector<std::int64_t> far = {293, 1031, 16'411};
  double far_work = 3e7;
  // At the least values of symbols also what reaches results past all products (kDirect).
  bool tries_direct = true;
  std::uint64_t seed = 1;
};
// The same, with positive inputs where others may leave nothing but NaN behind roots.
VerifyOptions with_roots(const Graph& graph, VerifyOptions options);
// Least and greatest values of symbols, and such beyond borders (test_inputs.h), within those
// limits. All least values come first, all greatest last.
std::vector<Bindings> affordable_symbols(const Graph& graph, const VerifyOptions& options);
// The same for styles of inputs but the first (most_other_work).
std::vector<Bindings> symbols_of_other_styles(const Graph& graph, VerifyOptions options);
// Those of most_alone.
std::vector<Bindings> long_symbols(const Graph& graph, const VerifyOptions& options);
// What they are when the program is used, the least values of those of which nothing is known.
Bindings used_symbols(const Symbols& symbols, const VerifyOptions& options);
// Those of `fitting` and `used_at` that are within a graph's intervals and affordable.
std::vector<Bindings> fitting_symbols(const Graph& graph, const VerifyOptions& options);

class Verifier {
 public:
  // The graph lives as long, and so do products that several verifiers share. What is expected is
  // computed once, when it is first needed, or by prepare().
  Verifier(const Graph& graph, VerifyOptions options = {}, KnownProducts* products = nullptr);
  ~Verifier();
  void prepare() { prepared(); }
  // Nothing where the program is right; else what is wrong: output, inputs, element, both values.
  std::optional<std::string> mistake_of(const Program& program, const Runtime& runtime);
  // How many of the outputs' elements are held to a bound: where an overflow or a comparison could
  // go either way, nothing is asked; and where NaN is expected, next to nothing.
  struct Coverage {
    std::int64_t elements = 0, bounded = 0;
    // Whatever these were, nobody would have seen it.
    bool is_open() const { return elements > 0 && bounded == 0; }
    void add(const BoundedTensor& expected);
    void add(const Coverage& more);
  };
  Coverage coverage();
  std::map<std::string, Coverage> coverage_by_output();

 private:
  struct Input;
  struct Prepared;
  struct Desk;
  std::vector<Prepared>& prepared();
  std::vector<Prepared*> calls();
  std::set<std::string> inputs_of_new_steps(const Program& program, const Runtime& runtime);
  std::map<std::string, const Input*> call(Executor& executor, const Prepared& trial,
                                           Desk& desk) const;
  std::optional<std::string> mistake_in(Executor& executor, const Prepared& trial,
                                        Desk& desk) const;

  const Graph& graph_;
  VerifyOptions options_;
  KnownProducts* products_;
  std::vector<Prepared> prepared_;
  // Steps of programs so far, by kernel and the inputs it reads, and what ran them.
  std::set<std::string> steps_seen_;
  const Runtime* seen_with_ = nullptr;
};

}  // namespace assay::compiler
