// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/terms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace assay::transport::cuda {
namespace {

constexpr auto kGroup = static_cast<std::size_t>(kTogether);

// The lists of DeviceTerms on the host.
struct Lists {
  std::vector<std::int32_t> output, shared_begin, shared_source, own_begin, own_source, g_source,
      place;
  std::vector<double> shared_weight, own_weight, g_value;
};

// Entries of a line that one output has a part in.
struct Source {
  std::int32_t from = 0;
  double weight = 0;
};

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// Adds a group: `count` of the line's outputs, beginning with `first`.
void add_group(const Combination<double>& v, const TermBlock& line, int first, int count,
               const std::vector<std::vector<Source>>& own, Lists& lists) {
  const auto output = [&](int o) { return v.output[index(line.first_output + first + o)]; };
  lists.shared_begin.push_back(static_cast<std::int32_t>(lists.shared_source.size()));
  lists.own_begin.push_back(static_cast<std::int32_t>(lists.own_source.size() / kGroup));
  for (int s = 0; s < line.sources; ++s) {
    lists.shared_source.push_back(v.source[index(line.first_source + s)]);
    for (int o = 0; o < kTogether; ++o) {
      const auto at = line.first_weight + std::int64_t{s} * line.outputs + first + o;
      lists.shared_weight.push_back(o < count ? v.weight[static_cast<std::size_t>(at)] : 0.0);
    }
  }
  std::size_t longest = 0;
  for (int o = 0; o < count; ++o) longest = std::max(longest, own[index(output(o))].size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (int o = 0; o < kTogether; ++o) {
      const bool there = o < count && i < own[index(output(o))].size();
      const Source source = there ? own[index(output(o))][i] : Source{};
      lists.own_source.push_back(source.from);
      lists.own_weight.push_back(source.weight);
    }
  }
  for (int o = 0; o < kTogether; ++o) {
    if (o < count) lists.place[index(output(o))] = static_cast<std::int32_t>(lists.output.size());
    lists.output.push_back(o < count ? output(o) : -1);
  }
}

Lists lists_of(const Streaming::Terms& terms) {
  const auto& v = terms.v;
  Lists lists;
  lists.place.assign(index(v.outputs), -1);
  // Every output lies on one line of the first angle; what the other gives it is its own.
  std::vector<std::vector<Source>> own(index(v.outputs));
  for (const auto& line : v.blocks) {
    if (line.starts) continue;
    auto at = static_cast<std::size_t>(line.first_weight);
    for (int s = 0; s < line.sources; ++s) {
      for (int o = 0; o < line.outputs; ++o) {
        own[index(v.output[index(line.first_output + o)])].push_back(
            {v.source[index(line.first_source + s)], v.weight[at++]});
      }
    }
  }
  for (const auto& line : v.blocks) {
    if (!line.starts) continue;
    for (int first = 0; first < line.outputs; first += kTogether) {
      add_group(v, line, first, std::min(kTogether, line.outputs - first), own, lists);
    }
  }
  lists.shared_begin.push_back(static_cast<std::int32_t>(lists.shared_source.size()));
  lists.own_begin.push_back(static_cast<std::int32_t>(lists.own_source.size() / kGroup));
  lists.g_source.assign(lists.output.size(), 0);
  lists.g_value.assign(lists.output.size(), 0);
  for (const auto& g : terms.mirror) {
    const auto place = index(lists.place[index(g.output)]);
    check(lists.g_value[place] == 0, "g has one entry in a row");
    lists.g_source[place] = g.source;
    lists.g_value[place] = g.value;
  }
  check(std::ranges::none_of(lists.place, [](auto p) { return p < 0; }), "outputs are on a line");
  return lists;
}

}  // namespace

template <typename T>
const T* DeviceSystem::put(const std::vector<T>& values) {
  const auto bytes = values.size() * sizeof(T);
  auto* at = static_cast<T*>(memory_.allocate(std::max<std::size_t>(bytes, sizeof(T))));
  if (bytes > 0) kernels::cuda::copy_to_device(at, values.data(), bytes);
  return at;
}

DeviceTerms DeviceSystem::put(const Streaming::Terms& terms) {
  const auto lists = lists_of(terms);
  return {terms.v.inputs,
          terms.v.outputs,
          static_cast<int>(lists.output.size() / kGroup),
          put(lists.output),
          put(lists.shared_begin),
          put(lists.shared_source),
          put(lists.shared_weight),
          put(lists.own_begin),
          put(lists.own_source),
          put(lists.own_weight),
          put(lists.g_source),
          put(lists.g_value),
          put(lists.place)};
}

ScaledTerms DeviceSystem::scaled(const BlockSystem::Scaled& at,
                                 const std::vector<Made>& made) const {
  const auto it = std::ranges::find(made, &at.operators, &Made::operators);
  check(it != made.end(), "the operators of a system are on the device");
  return {it->terms, at.scale, at.shift};
}

DeviceSystem::DeviceSystem(const BlockSystem& system) : system_(&system) {
  for (const auto& operators :
       {system.lower[0], system.lower[1], system.upper[0], system.upper[1]}) {
    if (std::ranges::find(rows_, operators.get(), &Made::operators) != rows_.end()) continue;
    rows_.push_back({operators.get(), put(operators->by_row)});
    columns_.push_back({operators.get(), put(operators->by_column)});
  }
  if (system.electric) electric_ = put(Streaming::Terms{*system.electric, {}});
  for (std::size_t parity = 0; parity < 2; ++parity) {
    std::map<std::pair<std::int32_t, std::int32_t>, double> entries;
    for (std::int32_t r = 0; r < system.size[parity]; ++r) entries[{r, r}] = 0;
    if (system.electric) {
      const auto& e = *system.electric;
      for (const auto& line : e.blocks) {
        auto at = static_cast<std::size_t>(line.first_weight);
        for (int s = 0; s < line.sources; ++s) {
          for (int o = 0; o < line.outputs; ++o) {
            entries[{e.output[index(line.first_output + o)],
                     e.source[index(line.first_source + s)]}] += e.weight[at++];
          }
        }
      }
    }
    std::vector<std::int32_t> row, column;
    std::vector<double> value;
    for (const auto& [place, x] : entries) {
      row.push_back(place.first);
      column.push_back(place.second);
      value.push_back(x);
    }
    diagonal_[parity] = {static_cast<int>(value.size()), put(row), put(column), put(value)};
    weight_[parity] = put(system.weight[parity]);
  }
  std::vector<double> sources, functionals;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t u = 0; u < system.source[0][k].size(); ++u) {
      for (std::size_t j = 0; j < 2; ++j) {
        sources.push_back(system.source[j][k][u]);
        functionals.push_back(system.functional[j][k][u]);
      }
    }
  }
  sources_ = put(sources);
  functionals_ = put(functionals);
  if (!system.mirror.empty()) {
    mirror_ = put(std::vector<std::int32_t>(system.mirror.begin(), system.mirror.end()));
  }
}

std::int64_t DeviceSystem::offset(int k) const {
  const std::int64_t pairs = k / 2;
  return pairs * (system_->size[0] + system_->size[1]) + (k % 2 == 1 ? system_->size[0] : 0);
}

}  // namespace assay::transport::cuda
