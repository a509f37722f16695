// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all generated sources begin with: storage types, roundings, loads of sixteen bytes, sums of
// warps and blocks, products of tensor cores. CUDA C++ that needs no header; with ASSAY_ON_HOST it
// compiles as C++ behind a file that stands in for the device (compiler/cuda/test), which is how
// generated kernels run where there is none.

#include <string_view>

namespace assay::compiler::cuda {

std::string_view scalar_text();      // types and their arithmetic, as graph.h says
std::string_view collective_text();  // of threads together

// Of forms that want it: copies that go on behind, and loads of tiles for tensor cores.
std::string_view tile_loads_text();

}  // namespace assay::compiler::cuda
