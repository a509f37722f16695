// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the files of SCALE-Sim: a topology CSV (layers of a network, as convolutions or as M, N, K)
// and an array configuration, and gives the compute cycles that SCALE-Sim gives for them.

#include <string>
#include <string_view>
#include <vector>

#include "chip/gemm/systolic.h"

namespace assay::chip {

struct ScaleSimLayer {
  std::string name;
  GemmShape gemm;  // a convolution as the matrix product it is mapped to
};

// A header line, then one layer a line. The header names the columns after the layer's name: M, N
// and K in any order; or input height and width, filter height and width, channels, filters,
// stride, in this order. Any other header is refused. A convolution has ceil((input - filter +
// stride) / stride) outputs a side. A name with "DP" in it is depth-wise: one layer a channel.
// Sparse layers (a ratio other than 1:1) are refused. Throws UserError "FILE:LINE: …".
std::vector<ScaleSimLayer> parse_scalesim_topology(std::string_view text, const std::string& file);

// ArrayHeight, ArrayWidth and Dataflow (os, ws, is) of the section [architecture_presets]; the rest
// describes memory, which compute cycles do not depend on. Throws UserError "FILE: …",
// also for a key that is there twice.
SystolicArray parse_scalesim_config(std::string_view text, const std::string& file);

// The number in SCALE-Sim's compute report, stalls taken off: the index of the last cycle.
std::int64_t scalesim_compute_cycles(const ScaleSimLayer& layer, const SystolicArray& array);

}  // namespace assay::chip
