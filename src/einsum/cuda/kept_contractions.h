// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contractions that are made again and again with other numbers: each is planned once, and its
// result lies where it lay the time before.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "einsum/cuda/device_engine.h"
#include "einsum/decompose/matrix.h"

namespace assay::einsum::cuda {

class KeptContractions {
 public:
  explicit KeptContractions(DeviceEngine& engine) : engine_(engine) {}

  DeviceEngine& engine() const { return engine_; }
  // The result is valid until the same contraction of operands of these shapes is made again.
  DeviceTensor contract(const std::string& expression, const std::vector<DeviceTensor>& operands);
  // The matrix on the device, until another of that name and shape is sent.
  template <typename T>
  DeviceTensor send(const std::string& name, const Matrix<T>& matrix);
  template <typename T>
  Matrix<T> fetch(const DeviceTensor& matrix);
  // √Σx², and √Σ(x − y)².
  double norm(const DeviceTensor& x);
  double distance(const DeviceTensor& x, const DeviceTensor& y);

 private:
  struct Kept {
    std::shared_ptr<const Plan> plan;
    DeviceTensor out;
  };
  DeviceEngine& engine_;
  std::map<std::string, Kept> kept_;
  std::map<std::string, DeviceTensor> sent_;
};

// "abc…" of so many modes.
std::string mode_labels(std::size_t modes);

}  // namespace assay::einsum::cuda
