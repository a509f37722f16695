// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Large sums of products, interpreted once for all graphs that have them: kernels of one search
// multiply the same matrices again and again, and differ in what they do with the sums.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compiler/verify/bounds.h"

namespace assay::compiler {

class KnownProducts {
 public:
  // interpret_with_bounds(graph, inputs, symbols), to the last bit. `fingerprints` say of each
  // input what is in it: equal ones are taken for equal inputs. May be called by several threads.
  std::map<std::string, BoundedTensor> interpret(
      const Graph& graph, const InputViews& inputs, const Bindings& symbols,
      const std::map<std::string, std::uint64_t>& fingerprints);
  // How often sums were known already.
  int found() const { return found_; }

 private:
  using Sums = std::shared_ptr<const TensorWithErrors>;
  Sums sums_of(const Graph& product, const InputViews& inputs, const Bindings& symbols,
               const std::map<std::string, std::uint64_t>& fingerprints);

  std::mutex mutex_;
  std::map<std::string, Sums> known_;  // by graph, symbols and fingerprints
  int found_ = 0;
};

}  // namespace assay::compiler
