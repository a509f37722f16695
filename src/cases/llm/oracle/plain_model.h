// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a language model says, from its files and nothing else: plain layers in f64, no compiler, no
// cache, every token seen at once. The families are those of plain_config.h.

#include <cstdint>
#include <span>
#include <string>

#include "cases/llm/oracle/plain_config.h"
#include "cases/llm/oracle/plain_layers.h"

namespace assay::cases::llm {

// Scores of routers are moved by chance, each by this share of a row's scores in the root mean
// square: what becomes of a model whose roundings choose another expert where two are nearly equal.
struct RouterNoise {
  double deviation = 0;
  std::uint64_t draw = 0;
};

// Logits of what follows on each token from number `first` on, one row for each. Takes some hundred
// million products of a second and core. Throws UserError that names a file.
PlainMatrix plain_logits(const std::string& folder, std::span<const std::int64_t> tokens,
                         std::int64_t first, const RouterNoise& noise = {});

}  // namespace assay::cases::llm
