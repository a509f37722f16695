// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of a topology file.

#include "base/names.h"
#include "chip/topology/topology.h"

namespace assay::chip {

inline constexpr auto kMacKinds =
    make_names<MacKind>({{MacKind::kRate, "rate"}, {MacKind::kSystolic, "systolic"}});

inline constexpr auto kDataflows =
    make_names<Dataflow>({{Dataflow::kOutputStationary, "output_stationary"},
                          {Dataflow::kWeightStationary, "weight_stationary"},
                          {Dataflow::kInputStationary, "input_stationary"}});

inline constexpr auto kLayouts = make_names<Layout>(
    {{Layout::kTileContiguous, "tile_contiguous"}, {Layout::kRowMajor, "row_major"}});

inline constexpr auto kBufferReleases =
    make_names<BufferRelease>({{BufferRelease::kFetch, "fetch"}, {BufferRelease::kGemm, "gemm"}});

inline constexpr auto kNetworkKinds =
    make_names<NetworkKind>({{NetworkKind::kRing, "ring"},
                             {NetworkKind::kFullyConnected, "fully_connected"},
                             {NetworkKind::kSwitch, "switch"},
                             {NetworkKind::kMesh, "mesh"},
                             {NetworkKind::kTorus, "torus"},
                             {NetworkKind::kFatTree, "fat_tree"},
                             {NetworkKind::kCustom, "custom"}});

}  // namespace assay::chip
