// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels at sizes that are too large to be interpreted: the kernel computes all of them, and a few
// rows and columns, or heads, are looked at, so that every block of a product has some of either.
// What a runtime does with many rows at a time it does with none of the few that are affordable
// (verifier.h).

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
  // Products of many rows and of few (8), and whatever it is at options.used_at. None of what is
  // looked at with these options anyway, and where even a part is more than may be interpreted.
  // Sums that other kernels have too are taken from `products`.
  static std::vector<SampledRows> of(const Kernel& kernel, const Symbols& symbols,
                                     const VerifyOptions& options, KnownProducts& products);

  // A few more rows than `border`, of kernels that compute those soon.
  static std::optional<SampledRows> beyond(std::int64_t border, const Kernel& kernel,
                                           const Symbols& symbols, const VerifyOptions& options,
                                           KnownProducts& products);

  // Of the kernel it was made for, or of another way of computing it.
  std::optional<std::string> mistake_of(const Kernel& kernel, const Runtime& runtime) const;

 private:
  // Parts at those values of the symbols that are no more work to interpret than that.
  SampledRows(const Kernel& kernel, const Symbols& symbols, const Bindings& values,
              std::uint64_t seed, double most_work, KnownProducts& products);
  void expect(const Kernel& few, std::map<std::string, BoundedTensor> known);

  Symbols symbols_;
  Trial trial_;
  std::map<std::string, BoundedTensor> expected_;  // of all else anything
};

}  // namespace assay::compiler
