// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/kept_contractions.h"

#include <cmath>

#include "base/error.h"

namespace assay::einsum::cuda {

std::string mode_labels(std::size_t modes) {
  constexpr std::size_t kMost = 20;  // the letters from u on are for ranks
  if (modes > kMost) fail("a device decomposes tensors of at most {} modes, not {}", kMost, modes);
  return std::string("abcdefghijklmnopqrst").substr(0, modes);
}

DeviceTensor KeptContractions::contract(const std::string& expression,
                                        const std::vector<DeviceTensor>& operands) {
  std::string key = expression;
  for (const auto& operand : operands) key += " " + operand.shape().to_string();
  auto it = kept_.find(key);
  if (it == kept_.end()) {
    const std::vector<Operand> given(operands.begin(), operands.end());
    auto plan = engine_.plan(expression, given);
    DeviceTensor out(plan->result, plan->output_shape());
    it = kept_.emplace(key, Kept{std::move(plan), std::move(out)}).first;
  }
  engine_.run_into(*it->second.plan, operands, it->second.out);
  return it->second.out;
}

template <typename T>
DeviceTensor KeptContractions::send(const std::string& name, const Matrix<T>& matrix) {
  const Shape shape({matrix.rows, matrix.columns});
  const auto key = name + " " + shape.to_string();
  const auto it = sent_.try_emplace(key, kDTypeOf<T>, shape).first;
  engine_.put(it->second, std::as_bytes(std::span(matrix.data)));
  return it->second;
}

template <typename T>
Matrix<T> KeptContractions::fetch(const DeviceTensor& matrix) {
  Matrix<T> to(matrix.shape()[0], matrix.shape()[1]);
  engine_.take(matrix, std::as_writable_bytes(std::span(to.data)));
  return to;
}

double KeptContractions::norm(const DeviceTensor& x) {
  const auto labels = mode_labels(x.shape().rank());
  const Tensor square = engine_.to_host(contract(labels + "," + labels + "->", {x, x}));
  return std::sqrt(value_as_double(square.view(), 0));
}

double KeptContractions::distance(const DeviceTensor& x, const DeviceTensor& y) {
  const auto labels = mode_labels(x.shape().rank());
  const auto same = labels + "->" + labels;
  const auto difference = contract(same, {x});
  const std::vector<Operand> operand = {y};
  engine_.run_into(*engine_.plan(same, operand), std::vector{y}, difference,
                   {.alpha = -1.0, .beta = 1.0});
  return norm(difference);
}

#define ASSAY_INSTANTIATE(T)                                                          \
  template DeviceTensor KeptContractions::send(const std::string&, const Matrix<T>&); \
  template Matrix<T> KeptContractions::fetch(const DeviceTensor&);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum::cuda
