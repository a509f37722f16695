// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of each unit beside its layout: its tiles, and whether this machine has it.

#include <string>

#include "kernels/bf16/pair_units.h"

namespace assay::kernels {

// Layouts, without tiles: the same on every architecture.
constexpr PairUnit amx_layout() {
  return {.rows = 32,
          .lanes = 16,
          .vectors = 2,
          .step = 16,
          .few = 4,
          .row_group = PairUnit::kWholeRow};
}
constexpr PairUnit avx512_layout() {
  return {.rows = 12, .lanes = 16, .vectors = 2, .row_group = PairUnit::kWholeRow};
}
constexpr PairUnit neon_layout() {
  return {.rows = 8, .lanes = 4, .vectors = 3, .step = 2, .row_group = 2, .column_group = 2};
}

#if defined(__x86_64__)
const PairUnit& amx_unit();
std::string why_no_amx();
const PairUnit& avx512_unit();
std::string why_no_avx512();
#elif defined(__aarch64__)
const PairUnit& neon_unit();
std::string why_no_neon();
#endif

}  // namespace assay::kernels
