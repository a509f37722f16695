// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/reference.h"

#include <vector>

#include "base/attend.h"
#include "base/error.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kBetweenLooks = 1 << 20;  // products: some milliseconds

// A label's loop: its extent, and its stride in every operand (dense copies in fp64).
struct LabelLoop {
  std::int64_t extent;
  std::vector<std::int64_t> strides;
};

template <typename T>
class Reference {
 public:
  Reference(const Problem& problem, std::span<const TensorView> operands, DType wide) {
    for (const auto& view : operands) copies_.push_back(Tensor::converted(view, wide));
    LabelSetOf output(problem);
    for (const Label l : problem.output) kept_.push_back(loop(problem, l));
    for (Label l = 0; l < static_cast<Label>(problem.names.size()); ++l) {
      if (!output.contains(l)) summed_.push_back(loop(problem, l));
    }
  }

  // Element by element of the result, in row-major order.
  template <typename F>
  void run(F&& put) {
    std::vector<const T*> at;
    for (const auto& copy : copies_) at.push_back(copy.template as<T>().data());
    for (const auto& l : summed_) empty_sum_ |= l.extent == 0;
    index_ = 0;
    over_result(0, at, put);
  }

 private:
  class LabelSetOf {
   public:
    explicit LabelSetOf(const Problem& p) : in_(p.names.size(), false) {
      for (const Label l : p.output) in_[static_cast<std::size_t>(l)] = true;
    }
    bool contains(Label l) const { return in_[static_cast<std::size_t>(l)]; }

   private:
    std::vector<bool> in_;
  };

  LabelLoop loop(const Problem& problem, Label l) const {
    LabelLoop result{problem.extents[static_cast<std::size_t>(l)], {}};
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const auto strides = row_major_strides(copies_[i].shape());
      std::int64_t stride = 0;
      for (std::size_t axis = 0; axis < strides.size(); ++axis) {
        // An axis of extent 1 is repeated along its label.
        if (problem.terms[i][axis] == l && copies_[i].shape()[axis] != 1) stride += strides[axis];
      }
      result.strides.push_back(stride);
    }
    return result;
  }

  template <typename F>
  void over_result(std::size_t depth, const std::vector<const T*>& at, F& put) {
    if (depth == kept_.size()) {
      T total = 0;
      if (!empty_sum_) over_sum(0, at, total);
      put(index_++, total);
      return;
    }
    auto here = at;
    for (std::int64_t i = 0; i < kept_[depth].extent; ++i) {
      over_result(depth + 1, here, put);
      advance(here, kept_[depth]);
    }
  }

  void over_sum(std::size_t depth, const std::vector<const T*>& at, T& total) {
    if (depth == summed_.size()) {
      if (++products_ % kBetweenLooks == 0) attend();
      T product = *at[0];
      for (std::size_t i = 1; i < at.size(); ++i) product *= *at[i];
      total += product;
      return;
    }
    auto here = at;
    for (std::int64_t i = 0; i < summed_[depth].extent; ++i) {
      over_sum(depth + 1, here, total);
      advance(here, summed_[depth]);
    }
  }

  static void advance(std::vector<const T*>& at, const LabelLoop& loop) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += loop.strides[i];
  }

  std::vector<Tensor> copies_;
  std::vector<LabelLoop> kept_, summed_;
  bool empty_sum_ = false;
  std::int64_t index_ = 0, products_ = 0;
};

template <typename T>
void run(const Problem& problem, std::span<const TensorView> operands, const MutableTensorView& out,
         T alpha, T beta, DType wide) {
  if (out.element_count() == 0) return;
  Tensor result = beta == T(0) ? Tensor(wide, out.shape()) : Tensor::converted(out, wide);
  const auto values = result.as<T>();
  Reference<T>(problem, operands, wide).run([&](std::int64_t i, T total) {
    T& value = values[static_cast<std::size_t>(i)];
    value = beta == T(0) ? alpha * total : alpha * total + beta * value;
  });
  convert_into(result.view(), out);
}

}  // namespace

void contract_reference(const Problem& problem, std::span<const TensorView> operands,
                        const MutableTensorView& out, std::complex<double> alpha,
                        std::complex<double> beta) {
  if (is_complex(out.dtype())) {
    run<std::complex<double>>(problem, operands, out, alpha, beta, DType::kC128);
  } else {
    run<double>(problem, operands, out, alpha.real(), beta.real(), DType::kF64);
  }
}

double reference_bytes(std::span<const Shape> shapes, bool complex) {
  double bytes = 0;
  for (const auto& shape : shapes) {
    bytes += static_cast<double>(shape.element_count()) * (complex ? 16 : 8);
  }
  return bytes;
}

}  // namespace assay::einsum
