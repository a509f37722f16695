// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a plan in their order, once for each slice: the same wherever the tensors lie. Who
// runs a plan says how one step is computed, and what time it is.

#include <complex>
#include <functional>
#include <span>
#include <vector>

#include "base/attend.h"
#include "einsum/plan/plan.h"

namespace assay::einsum {

template <typename T>
T scalar(std::complex<double> value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()),
             static_cast<typename T::value_type>(value.imag()));
  }
}

template <typename T>
class PlanRun {
 public:
  // Computes c = alpha·step + beta·c and counts that.
  using Compute =
      std::function<void(const Step&, const T* a, const T* b, T* c, T alpha, T beta, Counters&)>;
  // Seconds, when all work so far is done.
  using Now = std::function<double()>;

  // Intermediates are taken from the workspace. All of these outlive the run.
  PlanRun(const Plan& plan, Workspace& workspace, const RunOptions& options, Compute compute,
          Now now)
      : plan_(plan),
        workspace_(workspace),
        options_(options),
        compute_(std::move(compute)),
        now_(std::move(now)),
        buffers_(plan.operands.size() + plan.steps.size()) {}

  // Operands as the steps want them; the result is dense and row-major.
  RunReport run(std::span<const T* const> operands, T* result) {
    base_.assign(buffers_.size(), nullptr);
    std::copy(operands.begin(), operands.end(), base_.begin());
    if (options_.analyze) report_.step_seconds.assign(plan_.steps.size(), 0);
    for_each_slice(result);
    return std::move(report_);
  }

 private:
  // Elements from one part of a slice to the next, in a tensor with these labels and strides.
  static std::int64_t part_stride(const Slice& slice, std::span<const Label> labels,
                                  const Shape& shape, std::span<const std::int64_t> strides) {
    std::int64_t stride = 0;
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      if (labels[axis] == slice.label && shape[axis] != 1) stride += strides[axis];
    }
    return stride * slice.chunk;
  }

  void for_each_slice(T* result) {
    if (plan_.slices.empty()) {
      steps(base_, result, scalar<T>(options_.beta), 0);
      return;
    }
    const Shape shape = plan_.output_shape();
    const auto output_strides = row_major_strides(shape);
    std::vector<std::int64_t> index(plan_.slices.size(), 0);
    auto pointers = base_;
    int from = 0;  // steps of this depth and more run for the next part
    for (std::int64_t part = 0; part < plan_.slice_count(); ++part) {
      std::copy_n(base_.begin(), plan_.operands.size(), pointers.begin());
      std::int64_t offset = 0;
      bool first = true;
      for (std::size_t s = 0; s < plan_.slices.size(); ++s) {
        const Slice& slice = plan_.slices[s];
        for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
          pointers[i] += index[s] * part_stride(slice, plan_.problem.terms[i],
                                                plan_.operands[i].shape, plan_.operand_strides[i]);
        }
        offset += index[s] * part_stride(slice, plan_.problem.output, shape, output_strides);
        first &= !slice.summed || index[s] == 0;
      }
      steps(pointers, result + offset, first ? scalar<T>(options_.beta) : T(1), from);
      for (std::size_t s = index.size(); s-- > 0;) {
        from = static_cast<int>(s) + 1;
        if (++index[s] < plan_.slices[s].parts) break;
        index[s] = 0;
      }
    }
  }

  // Runs the steps of depth `from` and more; `at` has the results of the others from before.
  void steps(std::vector<const T*>& at, T* result, T beta, int from) {
    for (const Step& step : plan_.steps) {  // what was kept of earlier runs makes room first
      if (step.depth >= from) buffers_[static_cast<std::size_t>(step.result)].reset();
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      if (step.depth < from) continue;
      const bool last = s + 1 == plan_.steps.size();
      const auto node = static_cast<std::size_t>(step.result);
      T* to = result;
      if (!last) {
        buffers_[node] = workspace_.take<T>(element_count(step.c));
        to = buffers_[node].template data<T>();
        at[node] = to;
      }
      const T* a = at[static_cast<std::size_t>(step.operands[0])];
      const T* b =
          step.operands.size() > 1 ? at[static_cast<std::size_t>(step.operands[1])] : nullptr;
      const T alpha = last ? scalar<T>(options_.alpha) : T(1);
      const T keep = last ? beta : T(0);
      if (options_.analyze) {
        timed(s, [&] { compute_(step, a, b, to, alpha, keep, report_.counters); });
      } else {
        compute_(step, a, b, to, alpha, keep, report_.counters);
      }
      attend();
      release(step);
    }
  }

  void release(const Step& step) {
    for (const int used : step.operands) {
      const auto node = static_cast<std::size_t>(used);
      if (node < plan_.operands.size()) continue;
      // A result of an outer loop serves more than this run.
      if (plan_.steps[node - plan_.operands.size()].depth == step.depth) buffers_[node].reset();
    }
  }

  template <typename F>
  void timed(std::size_t s, F&& f) {
    const Counters before = report_.counters;
    const double begin = now_();
    f();
    report_.step_seconds[s] += now_() - begin;
    if (report_.step_kernels.size() > s) return;  // a later slice
    for (int k = 0; k < kKernels; ++k) {
      if (report_.counters.kernels[static_cast<std::size_t>(k)] !=
          before.kernels[static_cast<std::size_t>(k)]) {
        report_.step_kernels.push_back(static_cast<Kernel>(k));
      }
    }
  }

  const Plan& plan_;
  Workspace& workspace_;
  const RunOptions& options_;
  Compute compute_;
  Now now_;
  std::vector<Workspace::Buffer> buffers_;
  std::vector<const T*> base_;
  RunReport report_;
};

}  // namespace assay::einsum
