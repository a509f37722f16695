// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Nothing else stands here: device code, whose compiler cannot read all that the host's can, takes
// loops too.

#include <cstdint>

namespace assay::einsum {

// One loop over up to three tensors; a stride is 0 where the tensor does not have the label.
struct Loop {
  std::int64_t extent = 1;
  std::int64_t a = 0, b = 0, c = 0;
  bool operator==(const Loop&) const = default;
};

}  // namespace assay::einsum
