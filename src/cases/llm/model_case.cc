// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/error.h"
#include "cases/llm/case_list.h"
#include "cases/llm/cases.h"
#include "cases/llm/model_peers.h"
#include "cases/llm/model_point.h"
#include "cases/llm/oracle/plain_model.h"

namespace assay::cases::llm {
namespace {

constexpr std::size_t kLongestIds = 1 << 13;

enum class Reading { kChunk, kTokenByToken, kDecode, kSearch };

struct ModelCaseText {
  Reading reading;
  const char *name, *description, *figure;
};
constexpr ModelCaseText kModelCases[] = {
    {Reading::kChunk, "llm_prefill",
     "a language model reads a prompt at once: time to the first token", "Time to first token"},
    {Reading::kTokenByToken, "llm_prefill_sequential",
     "a language model reads a prompt token by token: time to the first token",
     "Time to first token, prompt read token by token"},
    {Reading::kDecode, "llm_decode",
     "a language model goes on from a prompt, token by token: time per output token",
     "Time per output token"},
    {Reading::kSearch, "llm_search",
     "what a search for faster programs costs and brings: a prompt and what follows it, over the "
     "budget in candidates",
     "A prompt of a language model and what follows it"}};

double mean_square_of(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return squares / static_cast<double>(values.size());
}

// Where two experts are nearly equal, roundings may choose another, and what follows differs by
// more than roundings do: by about as much as what a few draws of router noise do. Twice that,
// since there are more ways to choose than draws.
void add_other_experts(const ModelPoint& p, std::span<const std::int64_t> tokens,
                       std::int64_t first, const PlainMatrix& logits, Tolerance& tolerance) {
  if (p.router_noise() == 0) return;
  constexpr std::uint64_t kDraws = 2;
  double largest = 0, mean = 0;
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    auto other = plain_logits(p.folder(), tokens, first, {p.router_noise(), draw});
    for (std::size_t i = 0; i < other.values.size(); ++i) {
      other.values[i] -= logits.values[i];
      largest = std::max(largest, std::abs(other.values[i]));
    }
    mean = std::max(mean, std::sqrt(mean_square_of(other.values)));
  }
  tolerance.atol += 2 * largest;
  tolerance.rms += 2 * mean;
}

class ModelCase : public lab::Case {
 public:
  explicit ModelCase(const ModelCaseText& text) : text_(text), schema_(parameters(text.reading)) {}

  std::string_view suite() const override { return kSuite; }
  std::string_view name() const override { return text_.name; }
  std::string_view description() const override { return text_.description; }
  const lab::PointSchema& schema() const override { return schema_; }
  Json complete_point(const Json& given, const Json& defaults) const override {
    auto point = schema_.complete(given, defaults);
    ModelPoint checked(point);
    return point;
  }
  std::vector<Json> representative_points() const override {
    return {point("qwen3-tiny", "bf16", 32)};
  }
  std::vector<Json> standard_points() const override {
    auto points = representative_points();
    if (is_search()) {
      for (const char* model : {"qwen3-tiny", "qwen3-160m"}) {
        for (const int budget : {0, 4, 16, 64}) {
          points.push_back(point(model, "bf16", 32));
          points.back()["budget"] = budget;
        }
      }
      points.erase(points.begin());
      return points;
    }
    points.push_back(point("llama-tiny", "f32", 32));
    for (const char* model : {"qwen3-160m", "qwen3-0.6b"})
      points.push_back(point(model, "bf16", 128));
    return points;
  }
  std::vector<Json> all_points() const override {
    auto points = standard_points();
    if (is_search()) return points;
    points.push_back(point("llama-160m", "bf16", 128));
    points.push_back(point("qwen3-160m", "f32", 128));
    points.push_back(point("qwen3-0.6b", "bf16", 512));
    for (const char* model : {"gemma3-tiny", "qwen3-moe-tiny", "gemma4-tiny"}) {
      points.push_back(point(model, "bf16", 32));
      points.push_back(point(model, "f32", 32));
    }
    points.push_back(point("qwen3-tiny", "bf16", 512));
    return points;
  }
  std::vector<lab::Provider> providers() const override {
    if (!is_search()) return model_providers();
    return {{.id = "assay", .description = "our compiler, with so many candidates, each verified"}};
  }
  std::string_view baseline() const override { return is_search() ? "assay" : "hf-eager"; }
  const lab::Metric& primary_metric() const override {
    return text_.reading == Reading::kDecode ? lab::metric("token_time")
                                             : lab::metric("steady_time");
  }
  std::optional<lab::Skip> why_not(const Json& json, std::string_view provider,
                                   std::string_view) const override {
    return why_no_model(provider, ModelPoint(json));
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view provider) const override {
    // What a search remembers of each candidate; and where one ran out of memory, those of larger
    // budgets need not be tried.
    constexpr std::uint64_t kOfCandidate = 1 << 14;
    const auto candidates = is_search() ? lab::point_int(json, "budget") : 0;
    return model_worker_bytes(provider, ModelPoint(json)) +
           kOfCandidate * static_cast<std::uint64_t>(candidates);
  }
  std::map<std::string, double> work(const Json& json) const override {
    const ModelPoint p(json);
    return {{"flops", 2 * products(p)},
            {"bytes", bytes(p)},
            {"tokens", static_cast<double>(p.tokens > 0 ? p.tokens : p.prompt)}};
  }
  // Products or bytes, whichever takes longer; tokens that come one by one read the weights anew.
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const ModelPoint p(json);
    const auto rate = ceilings.rate("fma_f32", cores);
    const auto read = ceilings.read_rate(p.weight_bytes(), cores);
    if (!rate || !read) return std::nullopt;
    // Neither is a bound: 16-bit types have faster units somewhere, and caches hold what is small.
    const double arithmetic = products(p) / *rate, memory = bytes(p) / *read;
    if (arithmetic > memory) return lab::Limit{arithmetic, "fma_f32", false};
    return lab::Limit{memory, "read", false};
  }
  std::vector<lab::FigureRecipe> figures() const override {
    if (is_search()) return search_figures();
    return {{.name = "time",
             .title = text_.figure,
             .form = lab::FigureForm::kBars,
             .x = {"model", "dtype", "prompt"},
             .log_y = true},
            {.name = "speedup",
             .title = std::string(text_.figure) + ", speed over eager transformers'",
             .form = lab::FigureForm::kBars,
             .x = {"model", "dtype", "prompt"},
             .y = "speedup"}};
  }
  std::vector<lab::Expectation> expect(const Json& json, int set, std::int64_t) const override {
    const ModelPoint p(json);
    p.make_folder();
    // Of a prompt what follows on its last token; of what is said what follows on each token.
    const auto tokens = p.all_tokens(set);
    const auto first = p.prompt - (is_decode() ? 0 : 1);
    const auto logits = plain_logits(p.folder(), tokens, first);
    auto tolerance = p.tolerance(mean_square_of(logits.values));
    add_other_experts(p, tokens, first, logits, tolerance);
    lab::Expectation e;
    e.output = "logits";
    e.dtype = "f32";
    e.shape = {logits.rows, logits.columns};
    e.rows.resize(static_cast<std::size_t>(logits.rows));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    e.values = logits.values;
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
    e.rms = tolerance.rms;
    e.oracle = fmt::format(
        "plain layers in f64, all tokens at once; errors within {:.2g} in the root mean square",
        e.rms);
    return {e};
  }

 private:
  static std::vector<lab::Parameter> parameters(Reading reading) {
    std::vector<lab::Parameter> all = {
        {"model", "FAMILY-SIZE (assay llm init), or a folder", 0, 0, {}, "", true},
        {"dtype", "of weights, activations and caches", 0, 0, {"f32", "bf16", "f16"}, ""},
        {"prompt", "tokens of the prompt", 1, 1 << 15, {}, ""},
        {"ids",
         "which they are, e.g. 1,2,3; drawn where not given",
         0,
         0,
         {},
         "",
         true,
         kLongestIds}};
    if (reading == Reading::kDecode || reading == Reading::kSearch)
      all.push_back({"tokens", "behind it", 1, 1 << 12, {}, ""});
    if (reading == Reading::kSearch)
      all.push_back({"budget", "candidates of the search", 0, 1 << 14, {}, ""});
    all.push_back({"context", "tokens that caches hold", 2, 1 << 17, {}, ""});
    all.push_back({"seed", "of tokens and weights", 0, 1 << 30, {}, ""});
    return all;
  }
  Json point(const char* model, const char* dtype, int prompt) const {
    Json p = {{"model", model},
              {"dtype", dtype},
              {"prompt", prompt},
              {"context", 4 * prompt},
              {"seed", 0}};
    if (is_decode() || is_search()) p["tokens"] = 16;
    if (is_search()) p["budget"] = 4;
    return schema_.complete(p);
  }
  static std::vector<lab::FigureRecipe> search_figures() {
    const auto over_budget = [](const char* name, const char* what, const char* y) {
      return lab::FigureRecipe{.name = name,
                               .title = std::string(what) + " over the budget of a search",
                               .x = {"budget"},
                               .x_label = "candidates",
                               .y = y,
                               .y_label = what,
                               .series = {"model", "dtype"},
                               .log_y = true};
    };
    return {over_budget("first_token", "Time to first token", "stage_first_token"),
            over_budget("tokens", "Time of the tokens behind a prompt", "stage_tokens"),
            over_budget("search", "Time of the search", "search_time")};
  }
  bool is_search() const { return text_.reading == Reading::kSearch; }
  bool is_decode() const { return text_.reading == Reading::kDecode; }
  // Of a call.
  double products(const ModelPoint& p) const {
    const double prompt = is_decode() ? 0 : p.multiply_adds(p.prompt, 0, 1);
    return prompt + p.multiply_adds(p.tokens, p.prompt, p.tokens);
  }
  double bytes(const ModelPoint& p) const {
    const bool is_chunk = text_.reading == Reading::kChunk || is_search();
    double all = is_chunk ? p.read_bytes(p.prompt, 0) : 0;
    const auto first = is_decode() || is_chunk ? p.prompt : 0;
    for (auto i = first; i < p.prompt + p.tokens; ++i) all += p.read_bytes(1, i);
    return all;
  }

  const ModelCaseText& text_;
  lab::PointSchema schema_;
};

}  // namespace

std::vector<std::unique_ptr<lab::Case>> model_cases() {
  std::vector<std::unique_ptr<lab::Case>> cases;
  for (const auto& text : kModelCases) cases.push_back(std::make_unique<ModelCase>(text));
  return cases;
}

}  // namespace assay::cases::llm
