// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "einsum/cuda/device_engine.h"

namespace assay::einsum::cuda {

// CP and Tucker of the device held to the processor's.
void test_decompositions(DeviceEngine& engine, bool small,
                         const std::function<void(bool, const std::string&)>& expect);

}  // namespace assay::einsum::cuda
