// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::blas {

// How a matrix lies in memory: its rows one after the other, or its columns.
enum class Order : int { kRows = 101, kColumns = 102 };
// Whether a matrix is taken as it lies in memory, or its transpose.
enum class Op : char { kNone = 'N', kTranspose = 'T' };

}  // namespace assay::blas
