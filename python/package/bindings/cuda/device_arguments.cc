// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cuda/device_arguments.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/threads.h"

namespace assay::python::cuda {
namespace {

namespace nb = nanobind;
using einsum::cuda::DeviceTensor;

std::string place_text(const std::optional<int>& device) {
  return device ? fmt::format("on device {}", *device) : "in the processor's memory";
}

nb::tuple shape_of(const Shape& shape) {
  nb::list extents;
  for (const std::int64_t extent : shape.extents()) extents.append(extent);
  return nb::tuple(extents);
}

}  // namespace

const BorrowedArray& DeviceArguments::borrow(nb::handle array, ArgumentName name,
                                             BorrowedArray::Use use) {
  const auto& borrowed = arrays_.emplace_back(array, name, use, BorrowedArray::Where::kDevice);
  if (first_.empty()) {
    first_ = name.to_string();
    device_ = borrowed.device();
  } else if (borrowed.device() != device_) {
    fail("{}: is {}, but {} is {}: a call takes arrays of one memory", name.to_string(),
         place_text(borrowed.device()), first_, place_text(device_));
  }
  return borrowed;
}

int DeviceArguments::device() const {
  if (!device_) fail("{}: is in the processor's memory, and another array on a device", first_);
  return *device_;
}

DeviceTensor device_tensor(const TensorView& view) {
  return {view.dtype(), view.shape(), view.strides(), const_cast<void*>(view.raw_data())};
}

DeviceResult::DeviceResult(DeviceArguments& arguments, nb::handle out, nb::handle empty,
                           ArgumentName name, DType dtype, const Shape& shape)
    : device_(arguments.device()) {
  if (!out.is_none()) {
    array_ = nb::borrow(out);
    tensor_ = device_tensor(arguments.borrow(out, name, BorrowedArray::Use::kWrite).mutable_view());
  } else if (!empty.is_none()) {
    array_ = empty(shape_of(shape), nb::str(std::string(name_of(dtype)).c_str()), device_);
    tensor_ = device_tensor(arguments.borrow(array_, {"result"}).view());
    check(tensor_->dtype() == dtype && tensor_->shape() == shape && tensor_->is_contiguous(),
          "a result is made as it was asked for");
  } else {
    without_gil([&] {
      const kernels::cuda::CurrentDevice there(device_);
      tensor_.emplace(dtype, shape);
    });
  }
}

TensorView DeviceResult::view() const {
  return {tensor_->dtype(), tensor_->data(), tensor_->shape(), tensor_->strides()};
}

nb::object DeviceResult::finish() && {
  if (array_.is_valid()) return std::move(array_);
  auto owned = std::make_unique<DeviceTensor>(*std::move(tensor_));
  const std::vector<std::size_t> extents(owned->shape().extents().begin(),
                                         owned->shape().extents().end());
  void* const data = owned->data();
  const auto dtype = dlpack_dtype(owned->dtype());
  // Memory that is given back waits for the device, which may wait for a function of Python.
  nb::capsule owner(owned.get(), [](void* held) noexcept {
    const nb::gil_scoped_release released;
    delete static_cast<DeviceTensor*>(held);
  });
  owned.release();
  return nb::cast(nb::ndarray<nb::jax>(data, extents.size(), extents.data(), owner, nullptr, dtype,
                                       nb::device::cuda::value, device_),
                  nb::rv_policy::reference);
}

}  // namespace assay::python::cuda
