// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/site/site_history.h"

#include <map>
#include <vector>

namespace assay::lab {

Json site_history(const SiteIndex& index) {
  std::map<SeriesKey, std::vector<int>> series;
  for (std::size_t i = 0; i < index.summaries().size(); ++i) {
    const auto& s = index.summaries()[i];
    if (s.summary.median && s.summary.status == Status::kOk) {
      series[s.key].push_back(static_cast<int>(i));
    }
  }
  Json history = Json::array();
  for (const auto& [key, at] : series) {
    if (at.size() >= 2) history.push_back({{"at", at}});
  }
  return history;
}

}  // namespace assay::lab
