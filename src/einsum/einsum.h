// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine's door:
//
//   einsum::Engine engine;
//   Tensor c = engine.einsum("ij,jk->ik", {a.view(), b.view()});
//
// An engine owns what calls share: the model of this machine's speed, plans that were made before,
// and memory for intermediates. Calls from several threads at once are fine.

#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einsum/kernels/time_model.h"
#include "einsum/plan/multi_plan.h"
#include "einsum/plan/plan.h"
#include "einsum/plan/plan_cache.h"

namespace assay::einsum {

struct EngineOptions {
  Backend backend = Backend::kBlas;
  int threads = 1;
  TimeModel model;  // defaults until a calibration is put there
  std::size_t cached_plans = 1024;
  std::size_t cached_paths = 8192;  // orders of contractions: a few hundred bytes each
  std::string path_file;            // where those persist; empty: nowhere

  // The defaults with the backend that ASSAY_EINSUM_BACKEND names, if it is set. Throws UserError.
  static EngineOptions from_environment();
};

struct CallOptions {
  std::complex<double> alpha = 1, beta = 0;  // beta needs an `out`
  std::optional<DType> dtype;
  Precision precision = Precision::kDefault;
  Objective objective = Objective::kTime;
  std::optional<std::uint64_t> memory;
};

// What a call of multi_einsum shared, and what ran.
struct MultiReport {
  std::size_t shared = 0;                  // intermediates that several expressions read
  int saved = 0;                           // contractions that were not made again
  double predicted_s = 0, separate_s = 0;  // as planned, and if each expression went its own way
  Counters counters;
};

class Engine {
 public:
  explicit Engine(EngineOptions options = {});

  // The contraction as a new tensor. Throws UserError as make_plan and Plan::run_into do.
  Tensor einsum(std::string_view expression, std::span<const TensorView> operands,
                const CallOptions& options = {});
  Tensor einsum(std::string_view expression, std::initializer_list<TensorView> operands,
                const CallOptions& options = {}) {
    return einsum(expression, std::span(operands.begin(), operands.size()), options);
  }
  // out = alpha·contraction + beta·out.
  RunReport einsum_into(std::string_view expression, std::span<const TensorView> operands,
                        const MutableTensorView& out, const CallOptions& options = {});
  // The interleaved form: integer labels for each operand, −1 for "...".
  Tensor einsum(std::span<const std::vector<std::int32_t>> labels,
                std::span<const TensorView> operands,
                const std::optional<std::vector<std::int32_t>>& output,
                const CallOptions& options = {});

  // Several contractions at once, planned together (multi_plan.h).
  std::vector<Tensor> multi_einsum(std::span<const SharedExpression> expressions,
                                   std::span<const TensorView> operands,
                                   MultiReport* report = nullptr);
  std::shared_ptr<const MultiPlan> multi_plan(std::span<const SharedExpression> expressions,
                                              std::span<const TensorView> operands);

  // The plan for such operands, from the cache if it was made before.
  std::shared_ptr<const Plan> plan(std::string_view expression,
                                   std::span<const TensorView> operands,
                                   const CallOptions& options = {});
  std::shared_ptr<const Plan> plan(std::string_view expression,
                                   std::span<const OperandSpec> operands, PlanOptions options);
  // The same, null where it was not made before: never searches.
  std::shared_ptr<const Plan> find_plan(std::string_view expression,
                                        std::span<const TensorView> operands,
                                        const CallOptions& options = {});
  // Plan::run_into in memory that the engine keeps.
  RunReport run_into(const Plan& plan, std::span<const TensorView> operands,
                     const MutableTensorView& out, const RunOptions& options = {});

  void set_backend(Backend backend);
  Backend get_backend() const;
  const TimeModel& model() const { return options_.model; }
  int threads() const { return options_.threads; }
  CacheStatistics plan_statistics() const { return plans_.statistics(); }
  CacheStatistics path_statistics() const { return paths_.statistics(); }
  // Reads the orders that options.path_file holds, and writes those found so far to it, if there is
  // one. Throws UserError where that cannot be done: plans are then made without.
  void load_paths();
  void save_paths() const;

 private:
  PlanOptions plan_options(const CallOptions& options) const;
  // Into the calling thread's buffer, where it is valid until the next key.
  std::string& key_of(std::string_view expression, std::span<const TensorView> operands,
                      const PlanOptions& options) const;
  std::shared_ptr<const Plan> make(std::string_view expression, std::vector<OperandSpec> operands,
                                   const PlanOptions& options);
  EngineOptions options_;
  std::atomic<Backend> backend_;
  PlanCache plans_;
  PathCache paths_;
  LruCache<MultiPlan> multi_plans_;
  std::mutex workspace_mutex_;
  Workspace workspace_;
};

}  // namespace assay::einsum
