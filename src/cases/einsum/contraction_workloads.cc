// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <limits>

#include "base/clock.h"
#include "cases/einsum/case_list.h"
#include "cases/einsum/contractions.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/einsum.h"
#include "einsum/lower/lower.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

// How a call comes to its plan.
enum class Planned {
  kByCall,   // as users call it: notation and shapes lead to a plan in the engine's cache
  kBefore,   // a plan that was made before
  kByTrial,  // the same by the kernel that was the fastest of all when they were tried
};

// Two slots of operands, one result, computed by the engine on one backend.
class ContractionWorkload : public lab::Workload {
 public:
  ContractionWorkload(const Json& json, const std::vector<Contraction>& table,
                      engine::Backend backend, Planned planned, int cores)
      : point_(json, table),
        slots_{make_operands(point_), make_operands(point_)},
        c_(point_.dtype, point_.output),
        engine_({.backend = backend, .threads = cores, .model = engine::machine_model(cores)}) {
    for (std::size_t s = 0; s < 2; ++s) {
      for (const auto& t : slots_[s]) views_[s].push_back(t.view());
    }
    const auto plan = engine_.plan(point_.contraction.expression, views_[0]);
    predicted_s_ = plan->predicted_s;
    if (planned != Planned::kByCall) plan_ = *plan;
    if (planned == Planned::kByTrial) choose_kernel();
  }
  void load(int slot, int set) override {
    fill_operands(point_, set, slots_[static_cast<std::size_t>(slot)]);
  }
  void call(int slot) override {
    const auto& views = views_[static_cast<std::size_t>(slot)];
    if (plan_) {
      plan_->run_into(views, c_.mutable_view(), workspace_);
    } else {
      engine_.einsum_into(point_.contraction.expression, views, c_.mutable_view());
    }
  }
  void poison_outputs() override { std::memset(c_.bytes().data(), 0xFF, c_.bytes().size()); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"c", c_.view()}});
  }
  std::map<std::string, double> metrics() const override {
    if (predicted_s_ <= 0) return {};
    return {{"predicted_time", predicted_s_}};
  }
  std::map<std::string, std::string> versions() const override {
    if (engine_.get_backend() == engine::Backend::kReference) return {};
    std::map<std::string, std::string> versions = {{"openblas", blas::description()},
                                                   {"einsum-model", engine_.model().id}};
    if (plan_ && plan_->steps.size() == 1) {
      versions["einsum-kernel"] = name_of(plan_->steps[0].lowered.kernel);
    }
    return versions;
  }

 private:
  // Best seconds of a few calls, of as many as fit a twentieth of a second.
  double try_plan() {
    double best = std::numeric_limits<double>::infinity();
    std::int64_t left = 50'000'000;
    for (int i = 0; i < 3 || (left > 0 && i < 1000); ++i) {
      const std::int64_t begin = monotonic_ns();
      call(0);
      const std::int64_t took = monotonic_ns() - begin;
      best = std::min(best, 1e-9 * static_cast<double>(took));
      left -= took;
    }
    return best;
  }

  void choose_kernel() {
    if (plan_->steps.size() != 1) return;  // sums before the product: there is no one kernel
    load(0, 0);
    auto& step = plan_->steps[0];
    const auto ways = engine::lower_pair(
        {step.a, step.b, step.c, plan_->compute, engine_.threads()}, engine_.model());
    double best = std::numeric_limits<double>::infinity();
    auto fastest = step.lowered;
    for (const auto& way : ways) {
      if (way.predicted_s > kHopeless * ways[0].predicted_s) continue;
      step.lowered = way;
      const double seconds = try_plan();
      if (seconds < best) {
        best = seconds;
        fastest = way;
      }
    }
    step.lowered = fastest;
  }

  static constexpr double kHopeless = 10;  // times the least predicted time

  ContractionPoint point_;
  std::array<std::vector<Tensor>, 2> slots_;
  std::array<std::vector<TensorView>, 2> views_;
  Tensor c_;
  engine::Engine engine_;
  std::optional<engine::Plan> plan_;  // where a call does not find it by itself
  engine::Workspace workspace_;
  double predicted_s_ = 0;
};

}  // namespace

void add_contraction_workloads(lab::WorkloadRegistry& w) {
  for (const auto& [name, table] : contraction_tables()) {
    const auto add = [&w, name = name, table = table](const char* provider, engine::Backend backend,
                                                      Planned planned) {
      w.add(name, provider, [table, backend, planned](const Json& point, int cores) {
        return std::make_unique<ContractionWorkload>(point, *table, backend, planned, cores);
      });
    };
    add("assay-blas", engine::Backend::kBlas, Planned::kByCall);
    add("assay-planned", engine::Backend::kBlas, Planned::kBefore);
    add("assay-tuned", engine::Backend::kBlas, Planned::kByTrial);
    add("reference", engine::Backend::kReference, Planned::kByCall);
  }
}

}  // namespace assay::cases::einsum
