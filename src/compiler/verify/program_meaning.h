// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What programs compute by their kernels' definitions (kernel_graph.h), in f64, whatever runs them:
// to be held to the graph they were made of.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/reference/interpret.h"
#include "compiler/verify/rounded_values.h"

namespace assay::compiler {

// On one set of inputs, which live as long. A kernel that several programs have, with the same
// operands, is computed once.
class ProgramMeaning {
 public:
  // `rounded`, if given, is what the graph rounds to narrow dtypes on these inputs.
  ProgramMeaning(InputViews inputs, Bindings symbols, std::optional<RoundedValues> rounded = {});
  // By name: outputs, and states by the names of the inputs they replace. Live until the next call.
  std::map<std::string, TensorView> of(const Program& program);
  // Of the program whose meaning was asked for last: a kernel that is narrower than the graph.
  const std::optional<std::string>& narrower() const { return narrower_; }

 private:
  struct Value {
    std::shared_ptr<const Tensor> wide;  // none: what was given
    std::string identity;
  };
  struct Known {
    std::vector<Value> outputs;
    std::optional<std::string> narrower;
  };
  Known computed(const Graph& definition, const std::set<std::string>& wide,
                 const InputViews& views) const;
  void take(const Program& program, const Step& step);

  InputViews inputs_;
  Bindings symbols_;
  std::optional<RoundedValues> rounded_;
  std::map<std::string, Known> known_;  // by kernel and operands
  std::vector<Value> buffers_;
  std::optional<std::string> narrower_;
};

}  // namespace assay::compiler
