// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/benchmark_entry.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace assay::lab {
namespace {

double unit_of(const Json& entry, std::string_view what) {
  const auto unit = entry.contains("time_unit") ? json_field<std::string>(entry, "time_unit", what)
                                                : std::string("ns");
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  fail("{}: unknown time_unit '{}'", what, unit);
}

std::string text_or(const Json& entry, const char* key, const std::string& otherwise) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

bool is_true(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_boolean() && found->get<bool>();
}

std::optional<double> number_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

BenchmarkEntry read_benchmark_entry(const Json& entry, std::string_view what) {
  if (!entry.is_object()) fail("{}: a benchmark that is no object", what);
  BenchmarkEntry read;
  const auto name = json_field<std::string>(entry, "name", what);
  read.benchmark = text_or(entry, "run_name", name);
  if (entry.contains("threads")) {
    read.threads = static_cast<int>(json_field<std::int64_t>(entry, "threads", what));
  }
  if (entry.contains("family_index")) {
    read.instance = canonical_json(entry["family_index"]) + "/" +
                    canonical_json(entry.value("per_family_instance_index", Json()));
  }
  const bool is_aggregate = text_or(entry, "run_type", "iteration") == "aggregate";
  if (is_aggregate) {
    read.aggregate = text_or(entry, "aggregate_name", "unknown");
    if (read.aggregate != "mean" && read.aggregate != "median") return read;
  } else if (is_true(entry, "error_occurred")) {
    read.failure = "error_occurred";
    read.message = text_or(entry, "error_message", "");
  } else if (is_true(entry, "skipped")) {
    read.failure = "skipped_by_benchmark";
    read.message = text_or(entry, "skip_message", "");
  }
  if (!read.failure.empty()) return read;
  const double unit = unit_of(entry, what);
  read.real_s = unit * json_field<double>(entry, "real_time", what);
  if (is_aggregate) return read;
  read.cpu_s = unit * json_field<double>(entry, "cpu_time", what);
  read.iterations = json_field<std::int64_t>(entry, "iterations", what);
  read.bytes_per_second = number_at(entry, "bytes_per_second");
  read.items_per_second = number_at(entry, "items_per_second");
  return read;
}

bool is_benchmark_member(std::string_view key) {
  constexpr auto kMembers = std::to_array<std::string_view>(
      {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
       "threads", "repetition_index", "iterations", "real_time", "cpu_time", "time_unit",
       "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
       "skip_message", "label"});
  return std::ranges::find(kMembers, key) != kMembers.end();
}

void blank_non_numbers(std::span<char> json) {
  const std::string_view text(json.data(), json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '"') in_string = false;
      if (text[i] == '\\') ++i;
      continue;
    }
    in_string = text[i] == '"';
    if (text[i] != 'N' && text[i] != 'I') continue;
    for (const std::string_view word : {"NaN", "Infinity"}) {
      if (text.substr(i, word.size()) != word) continue;
      std::fill_n(json.begin() + static_cast<std::ptrdiff_t>(i), word.size(), ' ');
      std::size_t at = i;
      if (at > 0 && text[at - 1] == '-') json[--at] = ' ';
      json[at] = json[at + 1] = '"';
      i += word.size() - 1;
      break;
    }
  }
}

}  // namespace assay::lab
