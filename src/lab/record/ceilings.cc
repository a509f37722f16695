// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/ceilings.h"

#include <charconv>

#include "base/error.h"
#include "base/machine_files.h"

namespace assay::lab {
namespace {

constexpr std::string_view kRead = "read_";
constexpr std::string_view kCeilingsFile = "ceilings";  // among the machine's files

double positive_number(const Json& object, const char* key, std::string_view what) {
  const auto value = object.value(key, Json());
  if (!value.is_number() || !(value.get<double>() > 0)) {
    fail("{}: '{}' must be a positive number, got {}", what, key, canonical_json(value));
  }
  return value.get<double>();
}

}  // namespace

std::optional<double> Ceilings::rate(std::string_view name, int cores) const {
  std::optional<double> of_one;
  for (const auto& group : groups) {
    const auto it = group.rates.find(std::string(name));
    if (it == group.rates.end()) continue;
    if (group.cores == cores) return it->second;
    if (group.cores == 1) of_one = it->second * cores;
  }
  return of_one;
}

std::optional<double> Ceilings::read_rate(double bytes, int cores) const {
  std::string best;
  double best_size = 0;
  for (const auto& group : groups) {
    for (const auto& [name, value] : group.rates) {
      if (!name.starts_with(kRead)) continue;
      double size = 0;
      std::from_chars(name.data() + kRead.size(), name.data() + name.size(), size);
      const bool fits = size >= bytes, best_fits = best_size >= bytes;
      // The smallest that is large enough; failing that, the largest.
      if (best.empty() || (fits && (!best_fits || size < best_size)) ||
          (!fits && !best_fits && size > best_size)) {
        best = name;
        best_size = size;
      }
    }
  }
  return best.empty() ? std::nullopt : rate(best, cores);
}

int Ceilings::operations(std::string_view name) {
  const auto is = [&](std::string_view loop) { return name.starts_with(loop); };
  return is("sub_fma_") ? 3 : is("fma_") || is("add_max_") ? 2 : 1;
}

Json Ceilings::to_json() const {
  Json list = Json::array();
  for (const auto& group : groups) {
    list.push_back({{"cores", group.cores}, {"clock_hz", group.clock_hz}, {"rates", group.rates}});
  }
  return {{"measured", measured}, {"instruction_set", instruction_set}, {"groups", list}};
}

Ceilings Ceilings::from_json(const Json& json, std::string_view what) {
  const auto groups = json.is_object() ? json.value("groups", Json()) : Json();
  if (!groups.is_array()) fail("{}: no list of 'groups'", what);
  Ceilings c;
  const auto text = [&](const char* key) {
    const auto value = json.value(key, Json());
    if (!value.is_string()) fail("{}: '{}' must be text, got {}", what, key, canonical_json(value));
    return value.get<std::string>();
  };
  c.measured = text("measured");
  c.instruction_set = text("instruction_set");
  for (const auto& from : groups) {
    if (!from.is_object() || !from.value("rates", Json()).is_object()) {
      fail("{}: a group must have 'rates', got {}", what, canonical_json(from));
    }
    Group group;
    group.cores = static_cast<int>(positive_number(from, "cores", what));
    group.clock_hz = positive_number(from, "clock_hz", what);
    for (const auto& [name, value] : from["rates"].items()) {
      group.rates[name] = positive_number(from["rates"], name.c_str(), what);
    }
    c.groups.push_back(std::move(group));
  }
  return c;
}

std::optional<Ceilings> load_ceilings(std::string_view fingerprint) {
  const auto stored = load_machine_file(fingerprint, kCeilingsFile);
  if (!stored) return std::nullopt;
  return Ceilings::from_json(*stored, machine_file(fingerprint, kCeilingsFile));
}

std::string save_ceilings(std::string_view fingerprint, const Ceilings& ceilings) {
  return save_machine_file(fingerprint, kCeilingsFile, ceilings.to_json());
}

}  // namespace assay::lab
