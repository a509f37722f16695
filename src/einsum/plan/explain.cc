// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/explain.h"

#include "base/json.h"
#include "base/units.h"

namespace assay::einsum {
namespace {

std::string optimality(const Plan& plan) {
  const auto objective = name_of(plan.options.objective);
  if (plan.options.backend == Backend::kReference) return "all labels at once";
  if (plan.path.optimal) {
    return fmt::format("optimal for {}{}", objective, plan.slices.empty() ? "" : " of a slice");
  }
  return fmt::format("heuristic ({}), {} {:.4g}, lower bound {:.4g}", plan.path.method, objective,
                     plan.path.cost, plan.path.lower_bound);
}

std::string prediction(const Plan& plan) {
  if (plan.steps.empty()) return "no prediction: plain loops have no model";
  return fmt::format("predicted {}{}", format_seconds(plan.predicted_s),
                     plan.calibrated ? "" : " (not calibrated: run assay einsum calibrate)");
}

std::string slices_text(const Plan& plan) {
  std::string text;
  for (const auto& slice : plan.slices) {
    text += fmt::format("{}{} in {} parts of {}", text.empty() ? "" : ", ",
                        plan.problem.names[static_cast<std::size_t>(slice.label)], slice.parts,
                        slice.chunk);
  }
  return text;
}

std::string step_line(const Plan& plan, std::size_t s, const RunReport* report) {
  const Step& step = plan.steps[s];
  const auto& l = step.lowered;
  std::string text = fmt::format(
      "  {:>2}  {:<20} {:<14} m {:.0f} n {:.0f} k {:.0f} batch {:.0f}  {} {}, {}  predicted {} "
      "±{:.0f} %",
      s, step.expression, name_of(l.kernel), l.size.m, l.size.n, l.size.k, l.size.batch, l.copies,
      l.copies == 1 ? "copy" : "copies", format_bytes(l.bytes + l.copied_bytes),
      format_seconds(l.predicted_s), 100 * l.band);
  if (!plan.slices.empty()) text += fmt::format("; {} runs", plan.runs_of(step));
  if (step.runner_up) {
    text += fmt::format("; next {} ×{:.2f}", name_of(*step.runner_up),
                        step.runner_up_s / l.predicted_s);
  }
  if (report != nullptr && s < report->step_seconds.size()) {
    text += fmt::format(
        "; measured {} by {}",
        format_seconds(report->step_seconds[s] / static_cast<double>(plan.runs_of(step))),
        name_of(report->step_kernels[s]));
  }
  return text + "\n";
}

Json step_json(const Plan& plan, std::size_t s, const RunReport* report) {
  const Step& step = plan.steps[s];
  const auto& l = step.lowered;
  Json json = {{"operands", step.operands},
               {"result", step.result},
               {"expression", step.expression},
               {"backend", name_of(plan.options.backend)},
               {"kernel", name_of(l.kernel)},
               {"m", l.size.m},
               {"n", l.size.n},
               {"k", l.size.k},
               {"batch", l.size.batch},
               {"mac", l.size.mac()},
               {"flop", l.size.flop()},
               {"bytes", l.bytes},
               {"copies", l.copies},
               {"copied_bytes", l.copied_bytes},
               {"predicted_s", l.predicted_s},
               {"runs", plan.runs_of(step)},
               {"band", l.band},
               {"runner_up", nullptr}};
  if (step.runner_up) {
    json["runner_up"] = {{"kernel", name_of(*step.runner_up)},
                         {"predicted_s", step.runner_up_s},
                         {"margin", step.runner_up_s / l.predicted_s - 1}};
  }
  if (report != nullptr && s < report->step_seconds.size()) {
    json["measured_s"] = report->step_seconds[s] / static_cast<double>(plan.runs_of(step));
    json["measured_kernel"] = name_of(report->step_kernels[s]);
  }
  return json;
}

}  // namespace

Json explain(const Plan& plan, const RunReport* report) {
  Json steps = Json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s) steps.push_back(step_json(plan, s, report));
  Json slices = Json::array();
  for (const auto& slice : plan.slices) {
    slices.push_back({{"label", plan.problem.names[static_cast<std::size_t>(slice.label)]},
                      {"chunk", slice.chunk},
                      {"parts", slice.parts},
                      {"summed", slice.summed}});
  }
  Json json = {{"expression", plan.problem.expression()},
               {"backend", name_of(plan.options.backend)},
               {"dtype", name_of(plan.result)},
               {"compute_dtype", name_of(plan.compute)},
               {"threads", plan.options.threads},
               {"mac", plan.mac},
               {"flop", plan.flop},
               {"peak_bytes", plan.peak_bytes},
               {"predicted_s", plan.steps.empty() ? Json() : Json(plan.predicted_s)},
               {"calibrated", plan.calibrated},
               {"objective", name_of(plan.options.objective)},
               {"optimal", plan.path.optimal},
               {"method", plan.path.method},
               {"cost", plan.path.cost},
               {"lower_bound", plan.path.lower_bound},
               {"slices", slices},
               {"steps", steps}};
  if (report != nullptr) {
    json["measured_peak_bytes"] = report->peak_bytes;
    if (report->transfer_seconds > 0) json["measured_transfer_s"] = report->transfer_seconds;
    json["counters"] = {{"gemm_calls", report->counters.gemm_calls},
                        {"gemv_calls", report->counters.gemv_calls},
                        {"reference_calls", report->counters.reference_calls},
                        {"copied_bytes", report->counters.copied_bytes}};
  }
  return json;
}

std::string explain_text(const Plan& plan, const RunReport* report) {
  std::string text =
      fmt::format("{}  {}, {} threads, {}\n{:.4g} MAC, {:.4g} FLOP, {}\npeak {}, {}\n",
                  plan.problem.expression(), name_of(plan.options.backend), plan.options.threads,
                  name_of(plan.compute), plan.mac, plan.flop, optimality(plan),
                  format_bytes(plan.peak_bytes), prediction(plan));
  if (!plan.slices.empty()) text += "sliced: " + slices_text(plan) + "\n";
  for (std::size_t s = 0; s < plan.steps.size(); ++s) text += step_line(plan, s, report);
  if (report != nullptr) {
    text +=
        fmt::format("measured peak {}\n", format_bytes(static_cast<double>(report->peak_bytes)));
    if (report->transfer_seconds > 0) {
      text += fmt::format("measured transfers {}\n", format_seconds(report->transfer_seconds));
    }
  }
  return text;
}

}  // namespace assay::einsum
