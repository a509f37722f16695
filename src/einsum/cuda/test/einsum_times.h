// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::einsum::cuda {

// Measures copies, the DF-MP2 energy and contractions on the device, and prints a line of each.
void time_all();

}  // namespace assay::einsum::cuda
