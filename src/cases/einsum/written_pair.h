// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contractions of two tensors that a point spells out: any that somebody asks for, and drawn ones.

#include <cstdint>
#include <string>
#include <vector>

#include "cases/einsum/contractions.h"

namespace assay::cases::einsum {

// "ij,jk->ik" with the extents "512x64x512" of its labels in order of appearance. Each term has a
// letter at most once, and so has the output, whose letters are in the terms. Throws UserError.
Contraction written_pair(const std::string& expression, const std::string& extents);

// Pairs whose labels are batched, free or summed at random, in random orders: tensors of at most
// 2²¹ elements, 2¹⁰ to 2²⁶ products. A function of the seed; the first of more are the same.
std::vector<Contraction> random_pairs(int count, std::uint64_t seed);

// The extents as a point spells them.
std::string extents_text(const Contraction& contraction);

}  // namespace assay::cases::einsum
