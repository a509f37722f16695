// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace assay::transport {

// lane() on this thread and on `count` − 1 others; returns when all have returned. lane() never
// throws. All of them attend to what this thread does (base/attend.h), which goes on asking while
// it waits for the others. Throws what ended the work, if that was ended.
void run_lanes(std::size_t count, const std::function<void()>& lane);

}  // namespace assay::transport
