// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The data that travels in a collective, so that a schedule is checked by its result.
//
// Elements that every transfer either carries together or not at all share one fate, so one
// representative stands for each such run of elements: a cell. A 64 MiB vector on 16 ranks has a
// few dozen cells, and what holds for the cells holds for all elements. What a rank does not have
// yet is NaN, so that sending it shows up in the result.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chip/collective/schedule.h"

namespace assay::chip {

class Payload {
 public:
  // Fills every rank's own cells with small integers drawn from the seed: their sums are exact in
  // any order. `every_element`: no runs, each element is a cell. Throws UserError naming the number
  // of cells when this computer cannot hold them.
  Payload(const Schedule& schedule, std::uint64_t seed, bool every_element);

  // The values of a transfer's ranges at the sender, now.
  std::vector<double> pick_up(std::int32_t rank, std::span<const Range> ranges) const;
  // Puts them down at the receiver, added or in place of what is there.
  void put_down(std::int32_t rank, std::span<const Range> ranges, std::span<const double> values,
                bool adds);

  // Empty if every rank has what the collective promises, else one line about the first error.
  std::string error() const;

  // Cell values of the ranges that rank r must have after: its result.
  std::vector<double> result(std::int32_t rank) const;
  // What rank r put in at element e; the initial value of a cell is that of its first element.
  double initial(std::int32_t rank, std::int64_t element) const;

  std::int64_t cells() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  // The first element of each.
  std::vector<std::int64_t> cell_starts() const { return {starts_.begin(), starts_.end() - 1}; }

 private:
  std::size_t cell_at(std::int64_t element) const;  // of an element that starts a cell
  double expected(std::int32_t rank, std::size_t cell) const;
  template <typename Visit>
  void for_each_cell(std::span<const Range> ranges, Visit visit) const;

  const Schedule& schedule_;
  std::uint64_t seed_;
  std::vector<std::int64_t> starts_;         // first element of each cell, and the extent
  std::vector<std::vector<double>> values_;  // [rank][cell]
};

}  // namespace assay::chip
