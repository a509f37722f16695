// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: a runtime of plain kernels that are wrong in a way of one's own.

#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include "compiler/run/executor.h"

namespace assay::compiler {

using Operands = std::span<std::byte* const>;
// Called in the place of a kernel, with what the kernel would do.
using Fault = std::function<void(const Kernel&, const Bindings&, Operands, std::function<void()>)>;

class FaultyKernel : public ReadyKernel {
 public:
  FaultyKernel(Kernel kernel, Fault fault) : kernel_(std::move(kernel)), fault_(std::move(fault)) {}
  void run(const Bindings& symbols, Operands operands) override {
    fault_(kernel_, symbols, operands, [&] { right_->run(symbols, operands); });
  }

 private:
  Kernel kernel_;
  Fault fault_;
  std::unique_ptr<ReadyKernel> right_ = plain_runtime().prepare(kernel_);
};

inline Runtime with_fault(Fault fault) {
  auto runtime = plain_runtime();
  runtime.prepare = [fault = std::move(fault)](const Kernel& kernel) {
    return std::make_unique<FaultyKernel>(kernel, fault);
  };
  return runtime;
}

inline std::int64_t bytes_of(const Kernel::Formal& formal, const Bindings& symbols) {
  return product(formal.shape).at(symbols) * static_cast<std::int64_t>(size_of(formal.dtype));
}

// The last element of the result is 0.
inline Fault last_is_lost(std::function<bool(const Bindings&)> where) {
  return [where = std::move(where)](const Kernel& kernel, const Bindings& symbols,
                                    Operands operands, const std::function<void()>& right) {
    right();
    const auto bytes = bytes_of(kernel.operands.back(), symbols);
    if (where(symbols)) std::memset(operands.back() + bytes - 4, 0, 4);
  };
}

}  // namespace assay::compiler
