// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frameworks people use today, as providers: each runs in the optional peers' environment
// (`make peers`) by python/assay_worker/<framework>_peer.py, and leaves env_missing rows without
// it.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/record/case.h"
#include "semiring/algebra.h"

namespace assay::cases::semiring {

std::vector<lab::Provider> matmul_peers();
std::vector<lab::Provider> dense_matmul_peers();
std::vector<lab::Provider> edge_peers();

// `own` followed by `peers`.
std::vector<lab::Provider> with_peers(std::vector<lab::Provider> own,
                                      std::vector<lab::Provider> peers);

// Why a peer cannot say a product over this algebra; nothing for other providers.
// What computes these cases on a GPU: our own kernels, and cuBLAS where the algebra is real.
std::vector<lab::Provider> device_matmul_providers();
std::vector<lab::Provider> device_edge_providers();

std::optional<lab::Skip> why_peer_cannot(std::string_view provider,
                                         assay::semiring::Algebra algebra);

// What a process takes once the framework of this provider is loaded; 0 for other providers.
// Whether a provider on platform cuda multiplies factors that are in f16 or bf16.
bool takes_halves_on_gpu(std::string_view provider);

std::uint64_t framework_bytes(std::string_view provider);
// Whether the provider keeps a term for every edge and feature in memory, at this many slots.
bool keeps_all_edges(std::string_view provider, std::int64_t slots);

}  // namespace assay::cases::semiring
