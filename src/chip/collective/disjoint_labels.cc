// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/disjoint_labels.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace assay::chip {
namespace {

class Relabelling {
 public:
  explicit Relabelling(const std::vector<std::int32_t>& parents)
      : parents_(parents), degree_(parents.size(), 0) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (parents[i] < 0) continue;
      ++degree_[i];
      ++degree_[static_cast<std::size_t>(parents[i])];
    }
  }

  std::vector<std::int32_t> best() {
    const auto p = static_cast<std::int64_t>(parents_.size());
    // i -> (a i + s) mod p moves edges of one length to another; most often one of these will do.
    std::vector<std::int32_t> labels(parents_.size()), found;
    Badness least{};
    std::int64_t tries = 0;
    for (std::int64_t a = 1; a < p && tries < kTries; ++a) {
      if (std::gcd(a, p) != 1) continue;
      for (std::int64_t s = 0; s < p && tries < kTries; ++s, ++tries) {
        for (std::int64_t i = 0; i < p; ++i) {
          labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((a * i + s) % p);
        }
        const Badness bad = badness(labels);
        if (!found.empty() && bad >= least) continue;
        found = labels;
        least = bad;
      }
    }
    swap_while_it_helps(found, least);
    return found;
  }

 private:
  static constexpr std::int64_t kTries = 1 << 12;
  static constexpr std::size_t kSwapped = 1 << 6;  // nodes, beyond which swaps are not tried

  // Most neighbours of a node, edges shared, nodes that have that many: the less, the better.
  using Badness = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  bool joined(std::int32_t a, std::int32_t b) const {
    return parents_[static_cast<std::size_t>(a)] == b || parents_[static_cast<std::size_t>(b)] == a;
  }

  Badness badness(const std::vector<std::int32_t>& labels) const {
    std::int64_t shared = 0, most = 0, crowded = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      const auto here = static_cast<std::size_t>(labels[i]);
      const std::int64_t neighbours = degree_[i] + degree_[here];
      crowded = neighbours > most ? 1 : crowded + (neighbours == most ? 1 : 0);
      most = std::max(most, neighbours);
      if (parents_[i] >= 0) {
        shared += joined(labels[i], labels[static_cast<std::size_t>(parents_[i])]) ? 1 : 0;
      }
    }
    return {most, shared, crowded};
  }

  void swap_while_it_helps(std::vector<std::int32_t>& labels, Badness& least) const {
    if (labels.size() > kSwapped) return;
    for (bool helped = true; helped && std::get<1>(least) > 0;) {
      helped = false;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          std::swap(labels[i], labels[j]);
          if (const Badness bad = badness(labels); bad < least) {
            least = bad;
            helped = true;
          } else {
            std::swap(labels[i], labels[j]);
          }
        }
      }
    }
  }

  const std::vector<std::int32_t>& parents_;
  std::vector<std::int64_t> degree_;
};

}  // namespace

std::vector<std::int32_t> disjoint_labels(const std::vector<std::int32_t>& parents) {
  if (parents.size() < 3) {  // one edge, or none
    std::vector<std::int32_t> labels(parents.size());
    std::iota(labels.rbegin(), labels.rend(), 0);
    return labels;
  }
  return Relabelling(parents).best();
}

}  // namespace assay::chip
