// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether views meet in memory: what is written there would be read, or written, another time.

#include <cstdint>
#include <optional>

#include "tensor/view.h"

namespace assay {

// Whether the bytes from the first to the last element of one reach into those of the other. True
// also of views that interleave (columns of one matrix) without an element in common.
bool overlap(const TensorView& a, const TensorView& b);

// Whether a byte is part of an element of both. Views that interleave are looked at part by part:
// time for as many parts as they have runs of bytes between each other.
bool share_memory(const TensorView& a, const TensorView& b);

// The stride of an axis along which two indices may be one element; nothing where each index has an
// element of its own. May name an axis of a view whose strides fit into each other like teeth.
std::optional<std::int64_t> overlapping_stride(const TensorView& view);

}  // namespace assay
