// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inputs to try a program on, and values for its symbols; all of a seed.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/reference/interpret.h"
#include "tensor/tensor.h"

namespace assay::compiler {

enum class InputStyle : std::uint8_t {
  kOrdinary,  // floating point in (−2, 2), less for factors of long sums; integers around 0 and
              // along the inputs' axes, as indices are
  kAdversarial,  // with zeros of both signs, infinities, NaN, the greatest, the least, denormals
  kMasking,  // ordinary with zeros, and −∞ in what is only ever added to something; some rows
             // wholly so, or false; large factors, as weights are, without zeros: one copy then
             // serves both styles
  kHuge,     // magnitudes over the whole range of the dtype, finite
  kStrong,  // ordinary, a quarter of it up to 2^7 times as large, and factors of long sums not made
            // smaller: exponentials overflow, sums of them are one term, functions end
  kDirect,  // ordinary, but 0 where an input is only ever a factor of sums of products, as
            // weights are: what reaches the result past all products stands there alone
  kSpecks,  // ordinary, but for one in some hundreds that is NaN or infinite: what it spoils is
            // seen beside what it does not; and one in eight is very small
  kPositive,  // floating point in (0, 1), for graphs in which all else may leave roots NaN
};

struct Trial {
  Bindings symbols;
  std::map<std::string, Tensor> inputs;
  std::string what;  // "s = 3, adversarial inputs of seed 7"
  InputViews views() const;
};

// The least value of each symbol; the greatest, or about `most` where the interval is longer; and
// each symbol's least beside the others' greatest. All least values come first, all greatest last.
std::vector<Bindings> symbol_values(const Graph& graph, std::int64_t most = 41);
// Each symbol in turn a little beyond the greatest number that positions are compared with (the
// window of an attention), the others at their least; none where `most` is beyond it already.
std::vector<Bindings> symbols_beyond_borders(const Graph& graph, std::int64_t most);
// Of how many seeds one after the other trials have each kind of number in each input at least once
// (each infinity, the greatest, an index behind an axis): one, unless there are few elements.
std::uint64_t trials_of_kinds(const Graph& graph, const Bindings& symbols);
// Whether kDirect is anything else than ordinary.
bool has_factors(const Graph& graph);
// Floating point that a root or a logarithm is taken of (input_roles.h) is not below 0, except
// where it is adversarial or has specks.
Trial make_trial(const Graph& graph, Bindings symbols, InputStyle style, std::uint64_t seed);

}  // namespace assay::compiler
