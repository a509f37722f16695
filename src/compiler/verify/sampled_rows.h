// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of many rows by matrices that are too large to be interpreted as often: the kernel
// computes all rows, and a few rows and a few columns are looked at, so that every block has some
// of either. What a runtime does with many rows at a time it does with none of the few that are
// affordable (verifier.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/run/executor.h"
#include "compiler/verify/bounds.h"
#include "compiler/verify/known_products.h"
#include "compiler/verify/test_inputs.h"
#include "compiler/verify/verifier.h"

namespace assay::compiler {

class SampledRows {
 public:
  // One for each number of rows: many, few (8), and those of options.used_at. None where
  // the kernel is no product, where it cannot have as many, where as many are looked at with these
  // options anyway, and where even a few of them are more than may be interpreted. Sums that other
  // kernels have too are taken from `products`.
  static std::vector<SampledRows> of(const Kernel& kernel, const Symbols& symbols,
                                     const VerifyOptions& options, KnownProducts& products);

  // A few more rows than `border`, of kernels that compute those soon.
  static std::optional<SampledRows> beyond(std::int64_t border, const Kernel& kernel,
                                           const Symbols& symbols, const VerifyOptions& options,
                                           KnownProducts& products);

  // Of the kernel it was made for, or of another way of computing it.
  std::optional<std::string> mistake_of(const Kernel& kernel, const Runtime& runtime) const;

 private:
  // Every step-th row and every step-th column at those values of the symbols, where either is no
  // more work to interpret than that.
  SampledRows(const Kernel& kernel, const Symbols& symbols, const Bindings& values,
              std::int64_t step, const VerifyOptions& options, double most_work,
              KnownProducts& products);
  void expect(const Kernel& few, std::map<std::string, BoundedTensor> known);

  Symbols symbols_;
  Trial trial_;
  std::map<std::string, BoundedTensor> expected_;  // of all else anything
};

}  // namespace assay::compiler
