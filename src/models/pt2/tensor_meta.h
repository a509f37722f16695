// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an archive says of a tensor: its dtype, and sizes and strides that may be expressions.

#include <vector>

#include "compiler/graph/dimension.h"
#include "models/config/json_field.h"
#include "tensor/dtype.h"

namespace assay::models::pt2 {

struct TensorMeta {
  DType dtype = DType::kF32;
  std::vector<compiler::Dim> shape, strides;
  compiler::Dim offset = 0;
};

// {"as_int": 4}, {"as_expr": {"expr_str": …}}
compiler::Dim size_from(const JsonField& field);
// Throws UserError for dtypes that graphs do not know, by torch's name.
DType dtype_from_number(const JsonField& field);
TensorMeta tensor_meta_from(const JsonField& field);
// A number of JSON, or "Infinity", "-Infinity", "NaN".
double float_from(const JsonField& field);

}  // namespace assay::models::pt2
