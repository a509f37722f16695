// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input sets of a point, the same bits here and in python/assay_worker/own_inputs.py. Element
// i, in row-major order, is made of raw outputs of the stream lab::input_stream(seed, name, set):
//
//   uniform      x[i], see tensor/fill.h
//   normal       the halves of x[6i] … x[6i+5], twelve integers of 32 bits, added up: their sum S
//                gives z = (S − 6·(2³² − 1)) / 2³², mean 0, deviation 1, all within ± 6, and the
//                element deviation·z + mean. No logarithm, so that every language has the same
//                bits.
//   below        x[i], see tensor/fill.h
//   permutation  the order of x[0], x[1], …, equal ones as they stand
//
// A constant and a file are the same in every set.

#include "base/json.h"
#include "cases/own/problem.h"
#include "tensor/view.h"

namespace assay::cases::own {

// Fills a tensor of the input's shape and dtype at this point. Throws UserError where the file is
// not what it was.
void fill_input(const InputSpec& input, const Json& point, int set, const MutableTensorView& into);

}  // namespace assay::cases::own
