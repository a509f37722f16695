// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the simulator did, as tensors that an attempt leaves behind for its judge. The judge
// (certificates.h) reads the same names.

#include <map>
#include <string>

#include "chip/collective.h"
#include "chip/kernel/op_log.h"
#include "tensor/tensor.h"

namespace assay::cases::chip {

using Tensors = std::map<std::string, Tensor>;

// One number, as f64.
Tensor scalar(double value);
Tensor numbers(const std::vector<double>& values);

// "ops": a line for each operation, with the columns of oracle/op_laws.h.
void add_op_log(const assay::chip::OpLog& log, Tensors& out);

// "messages", "starts", "ranges" with the columns of oracle/message_laws.h; "cells" and "results",
// the sums that came out on every rank. Needs CollectiveOptions::detail.
void add_message_log(const assay::chip::CollectiveResult& result, Tensors& out);

}  // namespace assay::cases::chip
