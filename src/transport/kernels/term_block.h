// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Weighted sums of vectors, out_o += Σ_s weight·in_s, as a list of small dense blocks: the outputs
// of a block all use the same sources. Derivatives along one angle are of this kind, a block for
// each value of the other angle.

#include <cstdint>

namespace assay::transport {

struct TermBlock {
  std::int32_t sources = 0, outputs = 0;            // how many
  std::int32_t first_source = 0, first_output = 0;  // in the lists of sources and outputs
  std::int64_t first_weight = 0;                    // sources×outputs of them, outputs fastest
  bool starts = false;  // the first block of each of its outputs: sums are set, not added to
};

// All blocks of such sums, by address.
template <typename T>
struct TermsView {
  int inputs = 0, outputs = 0;
  const TermBlock* blocks = nullptr;
  std::int64_t block_count = 0;
  const std::int32_t* source = nullptr;
  const std::int32_t* output = nullptr;
  const T* weight = nullptr;
};

}  // namespace assay::transport
