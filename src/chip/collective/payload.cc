// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/payload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"

namespace assay::chip {
namespace {

constexpr std::int64_t kMaxCells = std::int64_t{1} << 26;  // half a gigabyte over all ranks

}  // namespace

Payload::Payload(const Schedule& schedule, std::uint64_t seed, bool every_element)
    : schedule_(schedule), seed_(seed) {
  const auto too_many = [&](std::int64_t cells) {
    if (cells > kMaxCells / schedule.ranks) {
      fail("a payload of {} cells on each of {} ranks is too large to carry: switch it off", cells,
           schedule.ranks);
    }
  };
  if (every_element) {
    too_many(schedule.extent);
    starts_.resize(static_cast<std::size_t>(schedule.extent) + 1);
    std::iota(starts_.begin(), starts_.end(), 0);
  } else {
    starts_ = {0, schedule.extent};
    const auto cut = [&](std::span<const Range> ranges) {
      for (const Range range : ranges) {
        starts_.push_back(range.begin);
        starts_.push_back(range.end);
      }
    };
    cut(schedule.ranges);
    for (std::int32_t rank = 0; rank < schedule.ranks; ++rank) {
      cut(schedule.owned_before(rank));
      cut(schedule.owned_after(rank));
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    too_many(static_cast<std::int64_t>(starts_.size()));
  }
  const auto count = static_cast<std::size_t>(cells());
  values_.assign(static_cast<std::size_t>(schedule.ranks),
                 std::vector<double>(count, std::numeric_limits<double>::quiet_NaN()));
  for (std::int32_t rank = 0; rank < schedule.ranks; ++rank) {
    for_each_cell(schedule.owned_before(rank), [&](std::size_t cell) {
      values_[static_cast<std::size_t>(rank)][cell] = initial(rank, starts_[cell]);
    });
  }
}

double Payload::initial(std::int32_t rank, std::int64_t element) const {
  const Philox stream(seed_, static_cast<std::uint64_t>(rank));
  constexpr std::uint64_t kValues = 1000;
  return static_cast<double>(uniform_below(stream[static_cast<std::uint64_t>(element)], kValues)) -
         static_cast<double>(kValues / 2);
}

std::size_t Payload::cell_at(std::int64_t element) const {
  const auto it = std::lower_bound(starts_.begin(), starts_.end(), element);
  dcheck(it != starts_.end() && *it == element, "ranges begin and end where cells do");
  return static_cast<std::size_t>(it - starts_.begin());
}

template <typename Visit>
void Payload::for_each_cell(std::span<const Range> ranges, Visit visit) const {
  for (const Range range : ranges) {
    if (range.size() == 0) continue;
    const std::size_t end = cell_at(range.end);
    for (std::size_t cell = cell_at(range.begin); cell < end; ++cell) visit(cell);
  }
}

std::vector<double> Payload::pick_up(std::int32_t rank, std::span<const Range> ranges) const {
  std::vector<double> out;
  const auto& mine = values_[static_cast<std::size_t>(rank)];
  for_each_cell(ranges, [&](std::size_t cell) { out.push_back(mine[cell]); });
  return out;
}

void Payload::put_down(std::int32_t rank, std::span<const Range> ranges,
                       std::span<const double> values, bool adds) {
  auto& mine = values_[static_cast<std::size_t>(rank)];
  std::size_t next = 0;
  for_each_cell(ranges, [&](std::size_t cell) {
    mine[cell] = adds ? mine[cell] + values[next] : values[next];
    ++next;
  });
}

double Payload::expected(std::int32_t rank, std::size_t cell) const {
  const std::int64_t element = starts_[cell];
  switch (schedule_.collective) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter: {
      double sum = 0;
      for (std::int32_t r = 0; r < schedule_.ranks; ++r) sum += initial(r, element);
      return sum;
    }
    case Collective::kAllGather:
      for (std::int32_t r = 0; r < schedule_.ranks; ++r) {
        const Range part = even_part(schedule_.length, schedule_.ranks, r);
        if (element >= part.begin && element < part.end) return initial(r, element);
      }
      break;
    case Collective::kAllToAll:
      return initial(static_cast<std::int32_t>(element / schedule_.length), element);
  }
  throw InternalError(fmt::format("no rank owns element {} that rank {} wants", element, rank));
}

std::string Payload::error() const {
  // The sum of a cell is the same for every rank: worth remembering.
  std::vector<double> known(static_cast<std::size_t>(cells()),
                            std::numeric_limits<double>::quiet_NaN());
  std::string message;
  for (std::int32_t rank = 0; rank < schedule_.ranks && message.empty(); ++rank) {
    for_each_cell(schedule_.owned_after(rank), [&](std::size_t cell) {
      if (std::isnan(known[cell])) known[cell] = expected(rank, cell);
      const double got = values_[static_cast<std::size_t>(rank)][cell];
      if (got != known[cell] && message.empty()) {  // NaN differs from everything
        message = fmt::format("rank {} has {} at element {} instead of {}", rank, got,
                              starts_[cell], known[cell]);
      }
    });
  }
  return message;
}

std::vector<double> Payload::result(std::int32_t rank) const {
  return pick_up(rank, schedule_.owned_after(rank));
}

}  // namespace assay::chip
