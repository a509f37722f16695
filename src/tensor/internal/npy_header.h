// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace assay {

// What the dictionary at the head of a .npy file says.
struct NpyHeader {
  DType dtype = DType::kF64;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

// Parses the dictionary, a Python literal such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Throws UserError that begins with `path`.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

// The inverse, without padding. Throws UserError for a dtype that NumPy lacks.
std::string format_npy_header(const NpyHeader& header, const std::string& path);

}  // namespace assay
