// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/plan_cache.h"

#include <filesystem>
#include <sstream>

#include "base/checked_line.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "base/json.h"

namespace assay::einsum {
namespace {

template <typename T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_numbers(std::string& key, std::span<const std::int64_t> numbers) {
  put(key, numbers.size());
  key.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

Json to_json(std::string_view key, const PathReport& path) {
  Json merges = Json::array();
  for (const auto& [a, b] : path.tree.merges) merges.push_back({a, b});
  return {{"key", key},
          {"method", path.method},
          {"cost", number_to_json(path.cost)},
          {"lower_bound", number_to_json(path.lower_bound)},
          {"optimal", path.optimal},
          {"merges", merges}};
}

// The order in a line that checks. Merges are checked again: a wrong one would read beyond arrays.
std::pair<std::string, PathReport> from_json(const Json& line) {
  constexpr const char* kWhat = "path cache";
  PathReport path;
  path.method = json_field<std::string>(line, "method", kWhat);
  path.cost = number_from_json(json_field<Json>(line, "cost", kWhat), kWhat);
  path.lower_bound = number_from_json(json_field<Json>(line, "lower_bound", kWhat), kWhat);
  path.optimal = json_field<bool>(line, "optimal", kWhat);
  const auto merges = json_field<Json>(line, "merges", kWhat);
  const auto terms = static_cast<int>(merges.size()) + 1;
  std::vector<bool> used(static_cast<std::size_t>(2 * terms), false);
  for (const auto& merge : merges) {
    const int made = terms + static_cast<int>(path.tree.merges.size());
    const int a = merge.at(0).get<int>(), b = merge.at(1).get<int>();
    for (const int node : {a, b}) {
      if (node < 0 || node >= made || used[static_cast<std::size_t>(node)]) {
        fail("{}: no order of contractions: node {}", kWhat, node);
      }
      used[static_cast<std::size_t>(node)] = true;
    }
    path.tree.merges.emplace_back(a, b);
  }
  return {json_field<std::string>(line, "key", kWhat), std::move(path)};
}

std::string line_of(std::string_view key, const PathReport& path) {
  return checked_line(to_json(key, path));
}

}  // namespace

void append_key(std::string& key, const TensorView& operand) {
  put(key, operand.dtype());
  put_numbers(key, operand.shape().extents());
  put_numbers(key, operand.strides());
  put(key, false);  // not resident, as OperandSpec::of has it
}

void append_key(std::string& key, const OperandSpec& operand) {
  put(key, operand.dtype);
  put_numbers(key, operand.shape.extents());
  put_numbers(key, operand.strides);
  put(key, operand.resident);
}

void append_key(std::string& key, const PlanOptions& options, std::string_view model_id) {
  put(key, options.backend);
  put(key, options.objective);
  put(key, options.dtype.has_value());
  put(key, options.dtype.value_or(DType::kF64));
  put(key, options.precision);
  put(key, options.memory.has_value());
  put(key, options.memory.value_or(0));
  put(key, options.threads);
  put(key, options.seed);
  put(key, options.exact_limit);
  put(key, options.tries);
  put(key, options.budget_s);
  put(key, options.result_stays);
  key.append(model_id);
}

std::string path_key(const Problem& problem, std::span<const OperandSpec> operands,
                     const PlanOptions& options, std::string_view model_id) {
  std::string key;
  for (const auto& term : problem.terms) {
    for (const Label l : term) put(key, l);
    put(key, Label{-1});
  }
  for (const Label l : problem.output) put(key, l);
  put_numbers(key, problem.extents);
  for (const auto& operand : operands) put(key, operand.dtype);
  append_key(key, options, model_id);
  return sha256_hex(key);
}

PathFileReport load_paths(const std::string& path, PathCache& cache) {
  PathFileReport report;
  if (!std::filesystem::exists(path)) return report;
  std::istringstream lines(read_input_file(path));
  for (std::string line; std::getline(lines, line);) {
    try {
      const auto json = read_checked_line(line, path);
      if (!json) fail("checksum");
      auto [key, order] = from_json(*json);
      cache.insert(key, std::make_shared<const PathReport>(std::move(order)));
      ++report.loaded;
    } catch (const std::exception&) {  // a line that was cut or changed: its order is found again
      ++report.damaged;
    }
  }
  return report;
}

void save_paths(const std::string& path, const PathCache& cache, std::size_t capacity) {
  // What other processes have saved meanwhile stays, older than ours.
  PathCache all(capacity);
  load_paths(path, all);
  cache.for_each([&](const std::string& key, const PathReport& order) {
    all.insert(key, std::make_shared<const PathReport>(order));
  });
  std::string content;
  all.for_each(
      [&](const std::string& key, const PathReport& order) { content += line_of(key, order); });
  write_file_atomically(path, content);
}

}  // namespace assay::einsum
