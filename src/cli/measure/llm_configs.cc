// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/llm_configs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/error.h"
#include "cases/llm/model_point.h"
#include "cli/measure/run_configs.h"
#include "models/init/init_model.h"
#include "models/init/model_sizes.h"
#include "models/tokenizer/tokenizer.h"

namespace assay::cli {
namespace {

// What configurations share that do not say otherwise.
struct LlmSuite {
  RunArguments settings;
  std::vector<int> budgets = {0, 16, 64};
};

// What `act` says, or its complaint with file, line and key.
template <typename Act>
auto told_at(const TomlTable& table, const char* key, Act&& act) {
  try {
    return act();
  } catch (const UserError& e) {
    table.reject(key, "{}", e.what());
  }
}

// In ascending order, each once: what is too large is then known before what is larger.
std::vector<int> budgets_of(const TomlTable& table, const std::vector<int>& otherwise) {
  if (!table.has("search_budgets")) return otherwise;
  std::set<int> budgets;
  for (const double budget : table.numbers("search_budgets")) {
    if (!(budget >= 0 && budget <= 1 << 14) || budget != static_cast<int>(budget)) {
      table.reject("search_budgets", "a number of candidates is expected, not {}", budget);
    }
    budgets.insert(static_cast<int>(budget));
  }
  return {budgets.begin(), budgets.end()};
}

std::int64_t count_of(const TomlTable& table, const char* key, std::int64_t otherwise,
                      std::int64_t most, std::int64_t least = 1) {
  const auto count = table.has(key) ? table.integer(key) : otherwise;
  if (count < least || count > most) {
    table.reject(key, "expected {} to {}, not {}", least, most, count);
  }
  return count;
}

// What is given of a model, as cases name it, and how texts become tokens.
struct NamedModel {
  std::string name;
  Json config;
  std::function<models::Tokenizer()> tokenizer;
};
NamedModel model_of(const TomlTable& table) {
  const bool is_folder = table.has("model");
  if (is_folder == table.has("family")) {
    table.reject(is_folder ? "model" : "family", "give a folder (model), or family and size");
  }
  if (is_folder) {
    auto folder = table.text("model");
    // What has no slash would be taken for a size.
    if (folder.find('/') == std::string::npos) folder = "./" + folder;
    const auto config = told_at(table, "model", [&] { return cases::llm::plain_config(folder); });
    return {folder, config, [folder] { return models::Tokenizer::from_file(folder); }};
  }
  const auto name = table.text("family"), size = table.text("size");
  const auto family = told_at(table, "family", [&] { return models::family_from_name(name); });
  const auto config =
      told_at(table, "size", [&] { return models::config_of_size(family, size, "float32"); });
  return {name + "-" + size, config, [family, config] {
            const auto vocab = config.at("vocab_size").get<std::int64_t>();
            const auto made = models::small_tokenizer(family, vocab);
            return models::Tokenizer::from_json(made.tokenizer_json, "tokenizer.json");
          }};
}

// A number of tokens, which are then drawn; tokens; or a text, by the model's own tokenizer.
Json prompt_of(const TomlTable& table, const NamedModel& model) {
  constexpr std::int64_t kLongest = 1 << 15;
  if (!table.has("prompt")) return {{"prompt", 128}};
  const auto given = table.json("prompt");
  if (given.is_number_integer()) return {{"prompt", count_of(table, "prompt", 0, kLongest)}};
  std::vector<std::int64_t> ids;
  if (given.is_string()) {
    const auto tokens = told_at(table, "prompt", [&] {
      return model.tokenizer().encode(given.get_ref<const std::string&>());
    });
    ids.assign(tokens.begin(), tokens.end());
  } else if (given.is_array() && std::ranges::all_of(given, &Json::is_number_integer)) {
    ids = given.get<std::vector<std::int64_t>>();
  } else {
    table.reject("prompt", "a number of tokens, a text or a list of tokens is expected, not {}",
                 canonical_json(given));
  }
  if (ids.empty()) table.reject("prompt", "at least one token is expected, not {}", given.dump());
  return {{"prompt", ids.size()}, {"ids", fmt::format("{}", fmt::join(ids, ","))}};
}

// What all cases know of a configuration's model.
Json model_point_of(const TomlTable& table, std::int64_t decoded) {
  const auto model = model_of(table);
  auto point = prompt_of(table, model);
  const auto prompt = point.at("prompt").get<std::int64_t>();
  point["model"] = model.name;
  // A folder knows what its weights are.
  const auto dtype = table.has("dtype")   ? table.text("dtype")
                     : table.has("model") ? cases::llm::dtype_of_config(model.config)
                                          : "bf16";
  if (dtype != "f32" && dtype != "bf16" && dtype != "f16") {
    table.reject("dtype", "expected f32, bf16 or f16, not '{}'", dtype);
  }
  point["dtype"] = dtype;
  const auto longest =
      json_field<std::int64_t>(model.config, "max_position_embeddings", model.name);
  point["context"] = count_of(
      table, "max_context", std::min(std::max(4 * prompt, prompt + decoded), longest), 1 << 17, 2);
  point["seed"] = 0;
  // What remains to be seen is whether they fit together.
  auto decoding = point;
  decoding["tokens"] = decoded;
  const char* blamed = table.has("max_context") ? "max_context"
                       : table.has("prompt")    ? "prompt"
                       : table.has("model")     ? "model"
                                                : "size";
  told_at(table, blamed, [&] { return cases::llm::ModelPoint(decoding); });
  return point;
}

RunArguments read_llm_config(const TomlTable& table, const LlmSuite& suite, bool sweep) {
  auto a = suite.settings;
  read_run_settings(table, a);
  const auto calls_of = [&](const char* key, std::optional<int>& to, std::int64_t least) {
    if (table.has(key)) to = static_cast<int>(count_of(table, key, least, 1 << 20, least));
  };
  calls_of("warmups", a.warm_up, 1);
  calls_of("iters", a.batches, 5);  // fewer times have no spread to tell
  const auto decoded = count_of(table, "decode_tokens", 16, 1 << 12);
  const auto model = model_point_of(table, decoded);
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
  const auto budgets = budgets_of(table, suite.budgets);
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
  LlmSuite all;
  if (file.has("suite")) {
    const auto suite = file.table("suite");
    read_run_settings(suite, all.settings);
    all.budgets = budgets_of(suite, all.budgets);
    if (suite.has("models")) {
      const auto models = suite.json("models");
      const bool are_names = models.is_array() && std::ranges::all_of(models, &Json::is_string);
      const auto known = file.table("configs").keys();
      if (!are_names) {
        suite.reject("models", "names of configurations are expected, not {}",
                     canonical_json(models));
      }
      for (const auto& model : models) {
        if (std::ranges::find(known, model.get<std::string>()) != known.end()) continue;
        suite.reject("models", "no such configuration (there are {}): {}", fmt::join(known, ", "),
                     canonical_json(model));
      }
      if (asked.cases.empty()) asked.cases = models.get<std::vector<std::string>>();
    }
  }
  if (asked.cases.empty()) asked.cases = {"all"};
  return runs_of(file, asked,
                 [&](const TomlTable& table) { return read_llm_config(table, all, sweep); });
}

}  // namespace assay::cli
