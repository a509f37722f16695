// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/terms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace assay::transport::cuda {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

template <typename T>
const T* DeviceSystem::put(const std::vector<T>& values) {
  const auto bytes = values.size() * sizeof(T);
  auto* at = static_cast<T*>(memory_.allocate(std::max<std::size_t>(bytes, sizeof(T))));
  if (bytes > 0) kernels::cuda::copy_to_device(at, values.data(), bytes);
  return at;
}

DeviceLines DeviceSystem::put_lines(const Combination<double>& v, bool first) {
  std::vector<std::int32_t> group, begin, weights, output, source;
  std::vector<std::int32_t> bundle(index(v.outputs), -1), place(index(v.outputs), -1);
  std::vector<double> weight;
  const auto whole = [](std::size_t size, int each) {
    return static_cast<std::int32_t>(size) / each;
  };
  // The outputs [from, to) of a line.
  const auto add_bundle = [&](const auto& line, int from, int to) {
    const auto own = static_cast<std::int32_t>(weights.size());
    const int end = from + (to - from + kTogether - 1) / kTogether * kTogether;
    group.push_back(whole(output.size(), kTogether));
    begin.push_back(whole(source.size(), kSources));
    weights.push_back(whole(weight.size(), kTogether * kSources));
    for (int tile = 0; tile < line.sources; tile += kSources) {
      const auto is_there = [&](int s) { return s < line.sources; };
      for (int s = tile; s < tile + kSources; ++s) {
        source.push_back(v.source[index(line.first_source + (is_there(s) ? s : 0))]);
      }
      for (int o = from; o < end; ++o) {
        for (int s = tile; s < tile + kSources; ++s) {
          const auto at = line.first_weight + std::int64_t{s} * line.outputs + o;
          weight.push_back(o < to && is_there(s) ? v.weight[static_cast<std::size_t>(at)] : 0.0);
        }
      }
    }
    for (int o = from; o < end; ++o) {
      const auto here = o < to ? v.output[index(line.first_output + o)] : -1;
      if (here >= 0) {
        bundle[index(here)] = own;
        place[index(here)] = static_cast<std::int32_t>(output.size());
      }
      output.push_back(here);
    }
  };
  constexpr int kMost = kBundled * kTogether;
  for (const auto& line : v.blocks) {
    if (line.starts != first) continue;
    for (int o = 0; o < line.outputs; o += kMost) {
      add_bundle(line, o, std::min(o + kMost, line.outputs));
    }
  }
  group.push_back(whole(output.size(), kTogether));
  begin.push_back(whole(source.size(), kSources));
  check(std::ranges::none_of(place, [](auto p) { return p < 0; }), "outputs are on a line");
  return {static_cast<int>(weights.size()),
          put(group),
          put(begin),
          put(weights),
          put(output),
          put(source),
          put(weight),
          put(bundle),
          put(place)};
}

DeviceTerms DeviceSystem::put(const Streaming::Terms& terms) {
  const auto outputs = index(terms.v.outputs);
  std::vector<std::int32_t> g_source(outputs, 0);
  std::vector<double> g_value(outputs, 0.0);
  for (const auto& g : terms.mirror) {
    check(g_value[index(g.output)] == 0, "g has one entry in a row");
    g_source[index(g.output)] = g.source;
    g_value[index(g.output)] = g.value;
  }
  return {terms.v.inputs, terms.v.outputs, put_lines(terms.v, true), put_lines(terms.v, false),
          put(g_source),  put(g_value)};
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
