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
  // Products of many rows and of few (8), attention on many keys (options.most_alone), and whatever
  // it is at options.used_at. None of what is looked at with these options anyway, and where even a
  // part is more than may be interpreted: `misses_use` says whether that is so at options.used_at.
  // Sums that other kernels have too are taken from `products`.
  struct All {
    std::vector<SampledRows> sizes;
    bool misses_use = false;
  };
  static All of(const Kernel& kernel, const Symbols& symbols, const VerifyOptions& options,
                KnownProducts& products);

  // More rows than `border`, by a few where rows can be so many, of kernels that compute those
  // soon.
  static std::optional<SampledRows> beyond(std::int64_t border, const Kernel& kernel,
                                           const Symbols& symbols, const VerifyOptions& options,
                                           KnownProducts& products);

  // Of the kernel it was made for, or of another way of computing it: of a second call, at the
  // addresses of a first one that was given something else.
  std::optional<std::string> mistake_of(const Kernel& kernel, const Runtime& runtime) const;

 private:
  // What a part of the kernel writes, and where in an operand that lies. Of the rest nothing is
  // said.
  struct Part {
    std::uint32_t operand;
    FixedView places;
    BoundedTensor expected;
  };

  // Parts at those values of the symbols that are no more work to interpret than that.
  SampledRows(const Kernel& kernel, const Symbols& symbols, const Bindings& values,
              std::uint64_t seed, double most_work, KnownProducts& products);

  Symbols symbols_;
  Trial trial_;
  std::vector<Part> parts_;
};

}  // namespace assay::compiler
