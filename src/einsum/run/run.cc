// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan runs: operands in the dtype of the steps, then the steps, once for each slice.
#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "einsum/kernels/reference.h"
#include "einsum/kernels/strided.h"
#include "einsum/plan/plan.h"
#include "einsum/plan/steps.h"
#include "einsum/run/run_pair.h"
#include "tensor/convert.h"

namespace assay::einsum {
namespace {

// Where the elements of a view lie: first and one past the last byte.
std::pair<const char*, const char*> memory_of(const TensorView& view) {
  std::int64_t low = 0, high = 1;
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    const std::int64_t reach = (view.extent(axis) - 1) * view.stride(axis);
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  const auto* at = static_cast<const char*>(view.raw_data());
  return {at + low * size, at + high * size};
}

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
  if (out.element_count() == 0) return;
  // No two indices of out may be one element: sorted by stride, each must step over all before it.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t axis = 0; axis < out.rank(); ++axis) {
    if (out.extent(axis) > 1) axes.emplace_back(std::abs(out.stride(axis)), out.extent(axis));
  }
  std::ranges::sort(axes);
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride < span) fail("einsum: elements of out overlap: an axis has stride {}", stride);
    span = stride * (extent - 1) + span;
  }
  const auto [low, high] = memory_of(out);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].element_count() == 0) continue;
    const auto [from, to] = memory_of(tensors[i]);
    if (from < high && low < to) fail("einsum: out shares memory with operand {}", i);
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
T scalar(std::complex<double> value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()),
             static_cast<typename T::value_type>(value.imag()));
  }
}

template <typename T>
class Run {
 public:
  Run(const Plan& plan, std::span<const TensorView> tensors, Workspace& workspace,
      const RunOptions& options)
      : plan_(plan), workspace_(workspace), options_(options) {
    const std::size_t nodes = plan.operands.size() + plan.steps.size();
    buffers_.resize(nodes);
    base_.resize(nodes, nullptr);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      base_[i] =
          tensors[i].dtype() == plan.compute ? tensors[i].data<T>() : converted(i, tensors[i]);
    }
    if (options.analyze) report_.step_seconds.assign(plan.steps.size(), 0);
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
    for_each_slice(result);
    if (!direct) convert_into(TensorView(plan_.compute, result, out.shape()), out);
    return std::move(report_);
  }

 private:
  const T* converted(std::size_t i, const TensorView& view) {
    buffers_[i] = workspace_.take<T>(static_cast<double>(view.element_count()));
    T* const to = buffers_[i].template data<T>();
    convert_into(view, MutableTensorView(plan_.compute, to, view.shape()));
    return to;
  }

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
        timed(s, [&] { compute(step, a, b, to, alpha, keep); });
      } else {
        compute(step, a, b, to, alpha, keep);
      }
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

  void compute(const Step& step, const T* a, const T* b, T* c, T alpha, T beta) {
    const bool copies = step.lowered.kernel == Kernel::kCopy && step.lowered.size.k == 1;
    if (copies) {
      ++report_.counters.kernels[static_cast<std::size_t>(Kernel::kCopy)];
      permute<T>(step.lowered.loops, a, c, alpha, beta, plan_.options.threads);
    } else {
      run_pair<T>(step.lowered, a, b, c, alpha, beta, plan_.options.threads, workspace_,
                  report_.counters);
    }
  }

  template <typename F>
  void timed(std::size_t s, F&& f) {
    const Counters before = report_.counters;
    const auto begin = monotonic_ns();
    f();
    report_.step_seconds[s] += 1e-9 * static_cast<double>(monotonic_ns() - begin);
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
  std::vector<Workspace::Buffer> buffers_;
  std::vector<const T*> base_;
  RunReport report_;
};

template <typename T>
RunReport run_as(const Plan& plan, std::span<const TensorView> tensors,
                 const MutableTensorView& out, Workspace& workspace, const RunOptions& options) {
  return Run<T>(plan, tensors, workspace, options).run(out);
}

}  // namespace

RunReport Plan::run_into(std::span<const TensorView> tensors, const MutableTensorView& out,
                         Workspace& workspace, const RunOptions& run_options) const {
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
  report.peak_bytes = outside + workspace.peak_bytes();
  return report;
}

Tensor Plan::run(std::span<const TensorView> tensors, Workspace& workspace) const {
  Tensor out(result, output_shape());
  run_into(tensors, out.mutable_view(), workspace);
  return out;
}

}  // namespace assay::einsum
