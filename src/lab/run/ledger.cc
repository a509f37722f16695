// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::lab {
namespace {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const auto part : parts) key.append(part).push_back('\n');
  return key;
}

std::string place(const Case& c, const Json& point, const std::string& provider,
                  const std::string& platform) {
  return joined({c.name(), canonical_json(point), provider, platform});
}

// How large a point is for a provider: its memory, or where that is not known its work.
double size_of_point(const Case& c, const Json& point, std::string_view known_as) {
  const auto provider = provider_of(known_as);
  if (const auto bytes = c.memory_estimate(point, provider); bytes > 0) {
    return static_cast<double>(bytes);
  }
  double sum = 0;
  for (const auto& [name, amount] : c.work(point)) sum += amount;
  return sum;
}

}  // namespace

void Ledger::record(const Case& c, const Row& row) {
  const auto at = place(c, row.point, row.provider, row.platform);
  auto& tries = tries_[at + std::to_string(row.round)];
  tries.complete = tries.complete || !is_void(row.status);
  tries.count = std::max(tries.count, row.try_number + 1);
  tries.excluded += row.status == Status::kExcluded ? 1 : 0;
  next_order_ = std::max(next_order_, row.order + 1);
  if (row.provenance.contaminated) {
    ++kept_disturbed_;
  } else if (is_measured(row.status)) {
    kept_disturbed_ = 0;
  }
  if (row.status == Status::kTimeout) timed_out_[at] = 1;
  if (row.status == Status::kOutOfMemory) {
    const double size = size_of_point(c, row.point, row.provider);
    const auto key = joined({c.name(), row.provider, row.platform});
    const auto [it, first] = out_of_memory_.try_emplace(key, size, row.point);
    if (!first && size < it->second.size) it->second = {size, row.point};
  }
}

std::optional<int> Ledger::next_try(const Case& c, const Json& point, const std::string& provider,
                                    const std::string& platform, int round) const {
  const auto it = tries_.find(place(c, point, provider, platform) + std::to_string(round));
  if (it == tries_.end()) return 0;
  if (it->second.complete || it->second.excluded >= max_tries_) return std::nullopt;
  return it->second.count;
}

std::optional<Skip> Ledger::given_up(const Case& c, const Json& point, const std::string& provider,
                                     const std::string& platform) const {
  if (timed_out_.contains(place(c, point, provider, platform))) {
    return Skip{"after_timeout", "an earlier round of this provider at this point timed out"};
  }
  const auto it = out_of_memory_.find(joined({c.name(), provider, platform}));
  if (it != out_of_memory_.end() && size_of_point(c, point, provider) >= it->second.size) {
    const auto& smaller = it->second.point;
    return Skip{"after_out_of_memory",
                smaller == point ? "this provider ran out of memory at this point before"
                                 : fmt::format("this provider ran out of memory where less is "
                                               "needed: {}",
                                               point_label(smaller))};
  }
  return std::nullopt;
}

}  // namespace assay::lab
