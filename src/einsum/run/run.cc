// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan runs: operands in the dtype of the steps, then the steps, once for each slice.
#include <algorithm>
#include <limits>

#include "base/attend.h"
#include "base/clock.h"
#include "base/error.h"
#include "einsum/kernels/reference.h"
#include "einsum/kernels/strided.h"
#include "einsum/plan/plan.h"
#include "einsum/plan/steps.h"
#include "einsum/run/plan_run.h"
#include "einsum/run/run_pair.h"
#include "tensor/convert.h"
#include "tensor/overlap.h"

namespace assay::einsum {
namespace {

void check_operands(const Plan& plan, std::span<const TensorView> tensors) {
  if (tensors.size() != plan.operands.size()) {
    fail("einsum: the plan is for {} operands, but {} are given", plan.operands.size(),
         tensors.size());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& spec = plan.operands[i];
    const auto& given = tensors[i];
    if (given.dtype() != spec.dtype) {
      fail("einsum: operand {} is {} in the plan, but {} is given", i, name_of(spec.dtype),
           name_of(given.dtype()));
    }
    if (!(given.shape() == spec.shape)) {
      fail("einsum: operand {} has shape {} in the plan, but {} is given", i,
           spec.shape.to_string(), given.shape().to_string());
    }
    if (!std::ranges::equal(given.strides(), spec.strides)) {
      fail("einsum: operand {} has other strides than in the plan", i);
    }
  }
}

void check_output(const Plan& plan, std::span<const TensorView> tensors,
                  const MutableTensorView& out) {
  if (out.dtype() != plan.result) {
    fail("einsum: the result is {}, but out is {}", name_of(plan.result), name_of(out.dtype()));
  }
  if (!(out.shape() == plan.output_shape())) {
    fail("einsum: the result has shape {}, but out has {}", plan.output_shape().to_string(),
         out.shape().to_string());
  }
  if (const auto stride = overlapping_stride(out)) {
    fail("einsum: elements of out overlap: an axis has stride {}", *stride);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (overlap(out, tensors[i])) fail("einsum: out shares memory with operand {}", i);
  }
}

// Multiplies out by beta; the contraction adds nothing.
void scale(const MutableTensorView& out, std::complex<double> beta) {
  Tensor values(is_complex(out.dtype()) ? DType::kC128 : DType::kF64, out.shape());
  if (beta != 0.0) {
    convert_into(out, values.mutable_view());
    if (is_complex(out.dtype())) {
      for (auto& v : values.as<std::complex<double>>()) v *= beta;
    } else {
      for (auto& v : values.as<double>()) v *= beta.real();
    }
  }
  convert_into(values.view(), out);
}

template <typename T>
class Run {
 public:
  Run(const Plan& plan, std::span<const TensorView> tensors, Workspace& workspace,
      const RunOptions& options)
      : plan_(plan), workspace_(workspace), options_(options) {
    for (const auto& tensor : tensors) {
      operands_.push_back(tensor.dtype() == plan.compute ? tensor.data<T>() : converted(tensor));
    }
  }

  RunReport run(const MutableTensorView& out) {
    const bool direct = out.dtype() == plan_.compute && out.is_contiguous();
    const bool keeps = options_.beta != 0.0;
    Workspace::Buffer own;
    T* result = nullptr;
    if (direct) {
      result = out.data<T>();
    } else {
      own = workspace_.take<T>(static_cast<double>(out.element_count()));
      result = own.template data<T>();
      if (keeps) convert_into(out, MutableTensorView(plan_.compute, result, out.shape()));
    }
    // Buffers that kernels take for themselves and keep.
    const Workspace::Lent packing(workspace_,
                                  static_cast<std::size_t>(most_packing(plan_.steps)) * sizeof(T));
    PlanRun<T> steps(
        plan_, workspace_, options_,
        [this](const Step& step, const T* a, const T* b, T* c, T alpha, T beta,
               Counters& counters) { compute(step, a, b, c, alpha, beta, counters); },
        [] { return 1e-9 * static_cast<double>(monotonic_ns()); });
    auto report = steps.run(operands_, result);
    if (!direct) convert_into(TensorView(plan_.compute, result, out.shape()), out);
    return report;
  }

 private:
  const T* converted(const TensorView& view) {
    copies_.push_back(workspace_.take<T>(static_cast<double>(view.element_count())));
    T* const to = copies_.back().template data<T>();
    convert_into(view, MutableTensorView(plan_.compute, to, view.shape()));
    return to;
  }

  void compute(const Step& step, const T* a, const T* b, T* c, T alpha, T beta,
               Counters& counters) {
    const bool copies = step.lowered.kernel == Kernel::kCopy && step.lowered.size.k == 1;
    if (copies) {
      ++counters.kernels[static_cast<std::size_t>(Kernel::kCopy)];
      permute<T>(step.lowered.loops, a, c, alpha, beta, plan_.options.threads);
    } else {
      run_pair<T>(step.lowered, a, b, c, alpha, beta, plan_.options.threads, workspace_, counters);
    }
  }

  const Plan& plan_;
  Workspace& workspace_;
  const RunOptions& options_;
  std::vector<Workspace::Buffer> copies_;
  std::vector<const T*> operands_;
};

template <typename T>
RunReport run_as(const Plan& plan, std::span<const TensorView> tensors,
                 const MutableTensorView& out, Workspace& workspace, const RunOptions& options) {
  return Run<T>(plan, tensors, workspace, options).run(out);
}

}  // namespace

RunReport Plan::run_into(std::span<const TensorView> tensors, const MutableTensorView& out,
                         Workspace& workspace, const RunOptions& run_options) const {
  if (options.backend == Backend::kCuda) {
    fail("einsum: this plan is for a GPU, and the processor cannot run it");
  }
  check_operands(*this, tensors);
  check_output(*this, tensors, out);
  for (const auto& [name, value] :
       {std::pair{"alpha", run_options.alpha}, std::pair{"beta", run_options.beta}}) {
    if (value.imag() != 0 && !is_complex(result)) {
      fail("einsum: {} is complex, but the result is {}", name, name_of(result));
    }
  }
  std::size_t outside = static_cast<std::size_t>(out.byte_count());
  for (const auto& tensor : tensors) outside += static_cast<std::size_t>(tensor.byte_count());
  workspace.reset_peak();
  constexpr auto kUnbounded = std::numeric_limits<std::size_t>::max();
  workspace.set_bound(options.memory ? std::max<std::size_t>(*options.memory, outside) - outside
                                     : kUnbounded);
  RunReport report;
  if (problem.has_zero_extent()) {
    if (out.element_count() > 0) scale(out, run_options.beta);
  } else if (options.backend == Backend::kReference) {
    contract_reference(problem, tensors, out, run_options.alpha, run_options.beta);
    ++report.counters.reference_calls;
    std::vector<Shape> copied = {out.shape()};
    for (const auto& tensor : tensors) copied.push_back(tensor.shape());
    outside += static_cast<std::size_t>(reference_bytes(copied, is_complex(out.dtype())));
  } else {
    switch (compute) {
      case DType::kF32:
        report = run_as<float>(*this, tensors, out, workspace, run_options);
        break;
      case DType::kF64:
        report = run_as<double>(*this, tensors, out, workspace, run_options);
        break;
      case DType::kC64:
        report = run_as<std::complex<float>>(*this, tensors, out, workspace, run_options);
        break;
      default:
        check(compute == DType::kC128, "steps are in f32, f64, c64 or c128");
        report = run_as<std::complex<double>>(*this, tensors, out, workspace, run_options);
    }
  }
  attend();
  report.peak_bytes = outside + workspace.peak_bytes();
  return report;
}

Tensor Plan::run(std::span<const TensorView> tensors, Workspace& workspace) const {
  Tensor out(result, output_shape());
  run_into(tensors, out.mutable_view(), workspace);
  return out;
}

}  // namespace assay::einsum
