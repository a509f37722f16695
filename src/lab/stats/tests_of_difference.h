// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// p-values: how often chance alone would show as much as was seen, if nothing were there.

#include <cstdint>
#include <span>
#include <vector>

namespace assay::lab {

inline constexpr int kPermutations = 9999;

// Exact one-sided sign test of "the median of d exceeds the threshold": P(Bin(n, ½) ≥ number of
// d > threshold). Values equal to the threshold count against the claim, so that ties can only
// raise p. No values: 1. NaN is refused with a UserError.
double sign_test(std::span<const double> d, double threshold = 0);

// Two-sided p of "the values of d are not balanced about zero" by random flips of their signs, with
// the mean as statistic: (b + 1)/(M + 1), b of M flips giving as much or more. Valid for values
// that are symmetric about zero when nothing is there, as differences of one distribution under two
// names are. No values: 1.
double sign_flip_p(std::span<const double> d, std::uint64_t seed, int permutations = kPermutations);

// Two-sided p of "a and b come from different distributions" by random exchange of labels, with the
// difference of the means of b and of a as statistic: (b + 1)/(M + 1). For times, pass logarithms.
// An empty side: 1.
double label_permutation_p(std::span<const double> a, std::span<const double> b, std::uint64_t seed,
                           int permutations = kPermutations);

// Adjusted p-values, in the order given, each at most 1: a row is significant at level α when its
// adjusted p is at most α. Holm keeps the chance of even one false alarm at α, whatever the rows
// have to do with each other; Benjamini and Hochberg keep the expected share of false ones among
// those reported at α. Values outside [0, 1] are refused with a UserError.
std::vector<double> holm(std::span<const double> p);
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace assay::lab
