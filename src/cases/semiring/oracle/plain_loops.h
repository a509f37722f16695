// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The right answers of the semiring suite, from their definitions and nothing else: this folder
// uses no engine, so that no mistake of an engine can hide in the answer it is held to.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/view.h"

namespace assay::cases::semiring::oracle {

// Rows `rows` of C_ij = ⊕_k (A_ik ⊗ B_kj), one after the other, for A (m×k) and B (k×n) of any
// numeric dtype; bool is 0 or 1. Sums in long double; a NaN among the terms makes a NaN. Algebras:
// real, log, max_plus, min_plus, euclidean, boolean.
std::vector<double> matmul_rows(std::string_view algebra, const TensorView& a, const TensorView& b,
                                std::span<const std::int64_t> rows);

// Rows `rows` of out_i = ⊕_p v_ip (W x_idx(i,p)) over the slots p with idx(i,p) ≥ 0, ⊕ = sum or
// max; without any slot 0 or −∞. v and idx (i32) are n×k, x has a row for each source, W is out×in.
std::vector<double> edge_rows(bool is_sum, const TensorView& v, const TensorView& idx,
                              const TensorView& x, const TensorView& w,
                              std::span<const std::int64_t> rows);

}  // namespace assay::cases::semiring::oracle
