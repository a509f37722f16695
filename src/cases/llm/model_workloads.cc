// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>

#include "cases/llm/case_list.h"
#include "cases/llm/model_point.h"
#include "compiler/cpu/cpu_runtime.h"
#include "lab/record/point.h"
#include "models/session/searched_program.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What a search may cost where a point does not say; what it finds is kept by nobody, so that every
// attempt pays for its own.
constexpr int kModelCandidates = 40, kNoSearch = -1;
constexpr double kModelSearchSeconds = 60;

// A model with its cache, and the tokens of each slot.
class ModelWorkload : public lab::Workload {
 public:
  // With the best of so many programs beside the default one; below 0: without a search.
  ModelWorkload(const ModelPoint& point, int cores, int candidates)
      : point_(point), model_(point.folder()), session_(session(cores, candidates)) {}

  void load(int slot, int set) override {
    tokens_.at(static_cast<std::size_t>(slot)) = point_.all_tokens(set);
  }
  void poison_outputs() override { std::ranges::fill(logits_, NAN); }
  void write_outputs(const std::string& path) override {
    const std::int64_t vocab = model_.config.vocab;
    const Shape shape({static_cast<std::int64_t>(logits_.size()) / vocab, vocab});
    write_safetensors(path, {{"logits", TensorView(DType::kF32, logits_.data(), shape)}});
  }
  std::map<std::string, double> metrics() const override { return metrics_; }

 protected:
  using Tokens = std::span<const std::int64_t>;
  static models::GraphLimits limits_of(const ModelPoint& point) {
    models::GraphLimits limits;
    limits.context = point.context;
    limits.chunk = std::min(limits.chunk, limits.context);
    return limits;
  }
  models::Session session(int cores, int candidates) {
    const auto begin = Clock::now();
    const auto limits = limits_of(point_);
    const auto runtime = compiler::cpu_runtime(cores);
    if (candidates < 0) {
      auto unsearched =
          compiler::compile_default(models::model_graph(model_.config, model_.weights, limits));
      metrics_ = {{"compile_time", seconds_since(begin)}};
      return {model_.config, model_.weights, limits, std::move(unsearched), runtime};
    }
    compiler::SearchOptions options;
    options.candidates = candidates;
    options.seconds = kModelSearchSeconds;
    auto [program, found] = models::searched_program(model_, limits, runtime, options);
    metrics_ = {{"compile_time", seconds_since(begin) - found.seconds},
                {"search_time", found.seconds},
                {"search_tried", found.tried},
                {"search_rejected", found.too_large + found.abandoned},
                {"search_speedup", found.speedup}};
    return {model_.config, model_.weights, limits, std::move(program), runtime};
  }
  Tokens tokens(int slot) const { return tokens_[static_cast<std::size_t>(slot)]; }
  Tokens prompt(int slot) const { return tokens(slot).first(prompt_length()); }
  std::size_t prompt_length() const { return static_cast<std::size_t>(point_.prompt); }
  void keep(std::span<const float> logits) {
    logits_.insert(logits_.end(), logits.begin(), logits.end());
  }

  const ModelPoint point_;
  const models::LoadedModel model_;
  std::map<std::string, double> metrics_;
  models::Session session_;
  std::array<std::vector<std::int64_t>, 2> tokens_;
  std::vector<float> logits_;
};

class ReadPrompt : public ModelWorkload {
 public:
  using ModelWorkload::ModelWorkload;
  void call(int slot) override {
    session_.reset();
    logits_.clear();
    keep(session_.extend(prompt(slot)));
  }
};

class ReadTokenByToken : public ModelWorkload {
 public:
  using ModelWorkload::ModelWorkload;
  void call(int slot) override {
    session_.reset();
    std::span<const float> last;
    for (const auto& token : prompt(slot)) last = session_.extend({&token, 1});
    logits_.clear();
    keep(last);
  }
};

// The prompt, which all sets share, is read beforehand.
class Decode : public ModelWorkload {
 public:
  using ModelWorkload::ModelWorkload;
  void load(int slot, int set) override {
    ModelWorkload::load(slot, set);
    session_.reset();
    session_.extend(prompt(slot));
  }
  void call(int slot) override {
    session_.rewind(point_.prompt);
    logits_.clear();
    for (const auto& token : tokens(slot).subspan(prompt_length())) {
      keep(session_.extend({&token, 1}));
    }
  }
};

// A whole text, as somebody sees it: the prompt, then token after token.
class ReadAndDecode : public ModelWorkload {
 public:
  using ModelWorkload::ModelWorkload;
  void call(int slot) override {
    const auto begin = Clock::now();
    session_.reset();
    logits_.clear();
    keep(session_.extend(prompt(slot)));
    const double first = seconds_since(begin);
    for (const auto& token : tokens(slot).subspan(prompt_length())) {
      keep(session_.extend({&token, 1}));
    }
    stages_ = {{"first_token", first}, {"tokens", seconds_since(begin) - first}};
  }
  std::vector<std::pair<std::string, double>> stages() const override { return stages_; }

 private:
  std::vector<std::pair<std::string, double>> stages_;
};

template <typename Kind, int kCandidates>
std::unique_ptr<lab::Workload> model_workload(const Json& point, int cores) {
  return std::make_unique<Kind>(ModelPoint(point), cores, kCandidates);
}
template <typename Kind>
void add_model_providers(lab::WorkloadRegistry& workloads, const char* name) {
  workloads.add(name, "assay", model_workload<Kind, kModelCandidates>);
  workloads.add(name, "assay-unsearched", model_workload<Kind, kNoSearch>);
}

}  // namespace

void add_model_workloads(lab::WorkloadRegistry& workloads) {
  add_model_providers<ReadPrompt>(workloads, "llm_prefill");
  add_model_providers<ReadTokenByToken>(workloads, "llm_prefill_sequential");
  add_model_providers<Decode>(workloads, "llm_decode");
  workloads.add("llm_search", "assay", [](const Json& point, int cores) {
    const auto budget = static_cast<int>(lab::point_int(point, "budget"));
    return std::make_unique<ReadAndDecode>(ModelPoint(point), cores, budget);
  });
}

}  // namespace assay::cases::llm
