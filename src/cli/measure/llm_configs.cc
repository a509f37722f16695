// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/llm_configs.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "cli/measure/run_configs.h"

namespace assay::cli {
namespace {

std::vector<int> budgets_of(const TomlTable& table, const std::vector<int>& otherwise) {
  if (!table.has("search_budgets")) return otherwise;
  std::vector<int> budgets;
  for (const double budget : table.numbers("search_budgets")) {
    if (!(budget >= 0 && budget <= 1 << 14) || budget != static_cast<int>(budget)) {
      table.reject("search_budgets", "a number of candidates is expected, not {}", budget);
    }
    budgets.push_back(static_cast<int>(budget));
  }
  return budgets;
}

std::int64_t tokens_of(const TomlTable& table, const char* key, std::int64_t otherwise) {
  const auto count = table.has(key) ? table.integer(key) : otherwise;
  if (count < 1 || count > 1 << 17) table.reject(key, "out of range: {}", count);
  return count;
}

// What all cases know of a configuration's model.
Json model_point_of(const TomlTable& table) {
  const bool is_folder = table.has("model");
  if (is_folder == table.has("family")) {
    table.reject("model", "give a folder, or family and size");
  }
  auto model = is_folder ? table.text("model") : table.text("family") + "-" + table.text("size");
  // What has no slash would be taken for a size.
  if (is_folder && model.find('/') == std::string::npos) model = "./" + model;
  const auto prompt = tokens_of(table, "prompt", 128);
  return {{"model", model},
          {"dtype", table.has("dtype") ? table.text("dtype") : "bf16"},
          {"prompt", prompt},
          {"context", tokens_of(table, "max_context", 4 * prompt)}};
}

RunArguments read_llm_config(const TomlTable& table, const std::vector<int>& suite_budgets,
                             bool sweep) {
  RunArguments a;
  read_run_settings(table, a);
  const auto count_of = [&](const char* key, std::optional<int>& to) {
    if (table.has(key)) to = static_cast<int>(tokens_of(table, key, 1));
  };
  count_of("warmups", a.warm_up);
  count_of("iters", a.batches);
  const auto model = model_point_of(table);
  const auto decoded = tokens_of(table, "decode_tokens", 16);
  const auto budgets = budgets_of(table, suite_budgets);
  auto points = Json::array();
  const auto add = [&](const char* name, const Json& more) {
    if (std::ranges::find(a.cases, name) == a.cases.end()) a.cases.emplace_back(name);
    points.push_back(model);
    points.back()["case"] = name;
    points.back().update(more);
  };
  add("llm_prefill", Json::object());
  add("llm_prefill_sequential", Json::object());
  add("llm_decode", {{"tokens", decoded}});
  for (const int budget : sweep ? budgets : std::vector<int>()) {
    add("llm_search", {{"tokens", decoded}, {"budget", budget}});
  }
  a.points = canonical_json(points);
  return a;
}

}  // namespace

std::vector<RunArguments> llm_configured_runs(const RunArguments& typed, bool sweep) {
  const auto file = TomlTable::read(typed.config);
  auto asked = typed;
  std::vector<int> suite_budgets = {0, 16, 64};
  if (file.has("suite")) {
    const auto suite = file.table("suite");
    suite_budgets = budgets_of(suite, suite_budgets);
    if (suite.has("models") && asked.cases.empty()) {
      const auto models = suite.json("models");
      const bool are_names = models.is_array() && std::ranges::all_of(models, &Json::is_string);
      if (!are_names) suite.reject("models", "names of configurations are expected");
      asked.cases = models.get<std::vector<std::string>>();
    }
  }
  if (asked.cases.empty()) asked.cases = {"all"};
  return runs_of(file, asked, [&](const TomlTable& table) {
    return read_llm_config(table, suite_budgets, sweep);
  });
}

}  // namespace assay::cli
