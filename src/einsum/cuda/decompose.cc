// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/decompose.h"

#include <cmath>
#include <optional>

#include "einsum/cuda/kept_contractions.h"
#include "einsum/decompose/cp_tensor.h"
#include "einsum/decompose/mttkrp_tree.h"
#include "einsum/decompose/normalized.h"
#include "einsum/decompose/tucker_tensor.h"
#include "tensor/convert.h"

namespace assay::einsum::cuda {
namespace {

// A tensor in the middle of the range of T, as normalized() makes it of one on the processor.
template <typename T>
struct DeviceNormalized {
  DeviceTensor x;
  double norm = 0;
  int exponent = 0;
};

template <typename T>
DeviceNormalized<T> normalized_on_device(KeptContractions& engine, const DeviceTensor& x,
                                         std::string_view who) {
  // Sums of squares are made in T here: where they may have left its range, or elements are no
  // numbers, the processor looks at all of it.
  constexpr int kReach = sizeof(T) == 4 ? 30 : 200;
  if (x.dtype() == kDTypeOf<T>) {
    const double norm = engine.norm(x);
    if (norm >= std::ldexp(1.0, -kReach) && norm <= std::ldexp(1.0, kReach)) return {x, norm, 0};
  }
  const Tensor host = engine.engine().to_host(x);
  const auto there = normalized<T>(host.view(), who);
  const TensorView view(kDTypeOf<T>, there.x.elements().data(), Shape(there.x.shape));
  return {engine.engine().to_device(view), there.norm, there.exponent};
}

std::vector<std::int64_t> extents_of(const DeviceTensor& x) {
  return {x.shape().extents().begin(), x.shape().extents().end()};
}

template <typename T>
Matrix<T> gram_on_device(KeptContractions& engine, const DeviceTensor& x, std::size_t mode) {
  const auto labels = mode_labels(x.shape().rank());
  auto other = labels;
  other[mode] = 'z';
  const auto expression = labels + "," + other + "->" + labels[mode] + "z";
  return engine.fetch<T>(engine.contract(expression, {x, x}));
}

template <typename T>
class DeviceCpTensor : public CpTensor<T> {
 public:
  DeviceCpTensor(DeviceEngine& engine, const DeviceTensor& x)
      : engine_(engine),
        x_(normalized_on_device<T>(engine_, x, "cp")),
        shape_(extents_of(x)),
        labels_(mode_labels(shape_.size())) {}
  const std::vector<std::int64_t>& shape() const override { return shape_; }
  double norm() const override { return x_.norm; }
  int exponent() const override { return x_.exponent; }
  Matrix<T> gram(std::size_t mode) override { return gram_on_device<T>(engine_, x_.x, mode); }

  void begin(const std::vector<Matrix<T>>& factors) override {
    factors_ = &factors;
    there_.clear();
    for (std::size_t mode = 0; mode < shape_.size(); ++mode) there_.push_back(sent(mode));
    tree_.emplace(shape_);
    changed_.reset();
  }

  Matrix<T> next() override {
    if (changed_) there_[*changed_] = sent(*changed_);
    changed_ = tree_->turn();
    const auto& product =
        tree_->next([&](std::size_t gone) { return multiplied(x_.x, labels_, gone); },
                    [&](const Data& y, const std::vector<std::size_t>& modes, std::size_t gone) {
                      std::string labels;
                      for (const std::size_t m : modes) labels += labels_[m];
                      return multiplied(*y, labels + "u", gone);
                    });
    return engine_.fetch<T>(*product);
  }

  double distance(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors) override {
    Matrix<T> row(1, static_cast<std::int64_t>(weights.size()));
    row.data = weights;
    std::vector<DeviceTensor> operands = {engine_.send("weights", row)};
    std::string expression = "vu";
    for (std::size_t mode = 0; mode < factors.size(); ++mode) {
      operands.push_back(engine_.send("model " + std::to_string(mode), factors[mode]));
      expression += std::string(",") + labels_[mode] + "u";
    }
    return engine_.distance(x_.x, engine_.contract(expression + "->" + labels_, operands));
  }

 private:
  using Data = std::optional<DeviceTensor>;

  DeviceTensor sent(std::size_t mode) {
    return engine_.send("factor " + std::to_string(mode), (*factors_)[mode]);
  }
  // y, over these labels, times the factor of a mode, whose axis goes; components come last.
  Data multiplied(const DeviceTensor& y, const std::string& labels, std::size_t gone) {
    std::string kept = labels;
    std::erase(kept, labels_[gone]);
    if (!kept.ends_with('u')) kept += 'u';
    return engine_.contract(labels + "," + labels_[gone] + "u->" + kept, {y, there_[gone]});
  }

  KeptContractions engine_;
  DeviceNormalized<T> x_;
  std::vector<std::int64_t> shape_;
  std::string labels_;
  const std::vector<Matrix<T>>* factors_ = nullptr;
  std::vector<DeviceTensor> there_;  // the factors
  std::optional<std::size_t> changed_;
  std::optional<MttkrpTree<Data>> tree_;
};

template <typename T>
class DeviceTuckerTensor : public TuckerTensor<T> {
 public:
  DeviceTuckerTensor(KeptContractions& engine, DeviceTensor x)
      : engine_(engine), x_(std::move(x)), shape_(extents_of(x_)) {}
  const std::vector<std::int64_t>& shape() const override { return shape_; }
  std::unique_ptr<TuckerTensor<T>> multiplied(std::size_t mode, const Matrix<T>& u,
                                              bool transpose_u) const override {
    const auto labels = mode_labels(shape_.size());
    auto out = labels;
    out[mode] = 'z';
    const auto of_u = transpose_u ? std::string{labels[mode], 'z'} : std::string{'z', labels[mode]};
    const auto there = engine_.send("factor " + std::to_string(mode), u);
    return std::make_unique<DeviceTuckerTensor>(
        engine_, engine_.contract(labels + "," + of_u + "->" + out, {x_, there}));
  }
  Matrix<T> gram(std::size_t mode) const override { return gram_on_device<T>(engine_, x_, mode); }
  DenseTensor<T> to_host() const override {
    return DenseTensor<T>::from(engine_.engine().to_host(x_).view());
  }
  double distance(const TuckerTensor<T>& y) const override {
    return engine_.distance(x_, dynamic_cast<const DeviceTuckerTensor&>(y).x_);
  }

 private:
  KeptContractions& engine_;
  DeviceTensor x_;
  std::vector<std::int64_t> shape_;
};

template <typename T>
TuckerResult tucker_there(DeviceEngine& engine, const DeviceTensor& x,
                          const TuckerOptions& options) {
  KeptContractions contractions(engine);
  const auto input = normalized_on_device<T>(contractions, x, "tucker");
  const DeviceTuckerTensor<T> tensor(contractions, input.x);
  return decompose_tucker<T>(tensor, input.norm, input.exponent, options);
}

template <typename T>
CpResult cp_there(DeviceEngine& engine, const DeviceTensor& x, const CpOptions& options) {
  DeviceCpTensor<T> tensor(engine, x);
  return decompose_cp<T>(tensor, options);
}

}  // namespace

CpResult device_cp(DeviceEngine& engine, const DeviceTensor& x, const CpOptions& options) {
  check_cp(x.dtype(), x.shape(), options);
  return x.dtype() == DType::kF32 ? cp_there<float>(engine, x, options)
                                  : cp_there<double>(engine, x, options);
}

TuckerResult device_tucker(DeviceEngine& engine, const DeviceTensor& x,
                           const TuckerOptions& options) {
  check_tucker(x.dtype(), x.shape(), options);
  return x.dtype() == DType::kF32 ? tucker_there<float>(engine, x, options)
                                  : tucker_there<double>(engine, x, options);
}

}  // namespace assay::einsum::cuda
