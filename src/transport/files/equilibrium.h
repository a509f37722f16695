// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one function that finds any surface.

#include "transport/scan/input.h"
#include "transport/surface/surface.h"

namespace assay::transport {

// Whatever a request asks for. Throws UserError that names the file or the value.
Surface load_surface(const SurfaceRequest& request);

// What load_surface() reads, or may read: the file, and the wout beside it.
std::vector<std::string> files_of(const SurfaceRequest& request);

}  // namespace assay::transport
