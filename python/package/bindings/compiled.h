// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program of torch, compiled, and called with the leaves of what its forward() takes.

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bindings/frameworks.h"
#include "compiler/graph/given_sizes.h"
#include "compiler/run/executor.h"
#include "models/pt2/import.h"

namespace assay::python {

class CompiledProgram {
 public:
  // `name` begins what is refused. `archive` keeps the tensors that the program has itself.
  CompiledProgram(models::pt2::Imported imported, std::unique_ptr<models::pt2::Archive> archive,
                  std::string name, Framework framework);

  // Arrays and numbers in, arrays, numbers and None out, of torch or jax where an array is, or
  // where that is the framework that was said. Arrays are taken as they lie where they are
  // row-major without gaps, else copied; what the program writes in place is written there. What an
  // archive's module keeps (buffers that it changes) lives on with this object, and calls of such a
  // program follow each other. Throws UserError that names the input, also where one that an
  // archive's program writes shares memory with another, or what the run met and torch refuses
  // (models/pt2/checks.h); what is written in place may be written by then.
  nanobind::list call(const nanobind::tuple& given);

  const std::vector<models::pt2::TakenLeaf>& arguments() const { return imported_.arguments; }
  std::size_t result_count() const { return imported_.results.size(); }
  // "f32", and each extent as text.
  std::pair<std::string, std::vector<std::string>> described(const std::string& input) const;
  std::string explained() const;
  // The archive's JSON of how leaves make trees; empty where there is none.
  std::string signature() const;

 private:
  struct Call;
  // Where the program finds one of its buffers that are not its own.
  struct Outer {
    enum class Kind : std::uint8_t { kArgument, kKept, kResult, kCheck };
    Kind kind = Kind::kArgument;
    std::size_t place = 0;      // among arguments, results, or values of checks
    std::byte* kept = nullptr;  // an archive's tensor
  };
  Outer outer_of(const compiler::Buffer& buffer);
  void take(const nanobind::tuple& given, Call& call) const;
  void check_shapes(const Call& call) const;
  void check_sizes(const compiler::Bindings& symbols);
  void run(Call& call, int threads);
  void refuse_shared(const Call& call) const;
  void refuse_violations(const Call& call) const;

  std::string name_;
  Framework framework_;
  std::unique_ptr<models::pt2::Archive> archive_;
  models::pt2::Imported imported_;
  compiler::GivenSizes sizes_;
  compiler::Program program_;
  std::vector<Outer> outer_;
  std::map<std::string, std::size_t> checked_values_;  // outputs of checks, by name
  std::vector<std::string> labels_;                    // of arguments, for messages
  std::vector<compiler::NodeId> inputs_;               // of arguments that are tensors
  std::vector<bool> is_written_;                       // arguments that the program writes in place
  std::vector<Tensor> kept_;  // what the archive has and the program changes
  std::mutex keeping_;
  // Under the GIL: executors that nobody uses, by their threads; sizes that make sense.
  std::multimap<int, std::unique_ptr<compiler::Executor>> idle_;
  std::set<compiler::Bindings> checked_;
};

}  // namespace assay::python
