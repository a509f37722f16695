// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors that all point one way. An element of bf16 or f16 may be off by a unit in its last place,
// and no bound for it alone shows a kernel that cuts off instead of rounding: half of its results
// are a unit too small, and none is too large.

#include <map>
#include <optional>
#include <string>

#include "compiler/verify/bounds.h"

namespace assay::compiler {

class OneSided {
 public:
  // An output of one more trial, which is within its bounds.
  void look(const std::string& output, const BoundedTensor& expected, const TensorView& got);
  // What is wrong, if anything: an output of which in two trials or more, and in all that are large
  // enough, an eighth of the elements or more is off, nearly all towards 0 or all away from it. One
  // trial may have it by chance, where all elements share a factor that was rounded.
  std::optional<std::string> mistake() const;

 private:
  struct Trials {
    int towards = 0, away = 0, neither = 0;
  };
  std::map<std::string, Trials> outputs_;
};

}  // namespace assay::compiler
