// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What programs compute by their kernels' definitions (kernel_graph.h), in f64, whatever runs them:
// to be held to the graph they were made of.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/reference/interpret.h"

namespace assay::compiler {

// On one set of inputs, which live as long. A kernel that several programs have, with the same
// operands, is computed once.
class ProgramMeaning {
 public:
  ProgramMeaning(InputViews inputs, Bindings symbols);
  // By name: outputs, and states by the names of the inputs they replace. Live until the next call.
  std::map<std::string, TensorView> of(const Program& program);

 private:
  struct Value {
    std::shared_ptr<const Tensor> wide;  // none: what was given
    std::string identity;
  };
  void take(const Program& program, const Step& step);

  InputViews inputs_;
  Bindings symbols_;
  std::map<std::string, std::vector<Value>> known_;  // by kernel and operands
  std::vector<Value> buffers_;
};

}  // namespace assay::compiler
