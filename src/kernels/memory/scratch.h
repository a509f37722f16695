// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Working memory that a thread keeps between calls.
//
// Fresh pages cost more than what is computed on them: a product of 1024³ packs 2 MiB, and taking
// those from the system anew takes a tenth of its time. So blocks that are given back wait for the
// next call of the same thread, on huge pages where the system lends them; at most kKeptBytes of
// them, freed when the thread ends. Nothing that a result depends on lives here.

#include <cstddef>

namespace assay::kernels {

inline constexpr std::size_t kKeptBytes = std::size_t{128} << 20;  // for each thread

// At least `bytes` on a cache-line boundary, not initialised. Throws std::bad_alloc.
void* take_scratch(std::size_t bytes);
// What take_scratch gave for the same `bytes`, on any thread; null is ignored.
void return_scratch(void* data, std::size_t bytes) noexcept;

}  // namespace assay::kernels
