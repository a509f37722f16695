// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs on operands of this process: copied there and back, with guards around them; and the
// guards around temporaries.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "compiler/cuda/device_program.h"
#include "compiler/cuda/staged_operands.h"

namespace assay::compiler::cuda {
namespace {

constexpr std::int64_t kGuardBytes = 128;
// NaN in every floating-point dtype, and an index outside.
constexpr int kGuard = 0xFF;

bool is_whole(const std::vector<std::byte>& guard) {
  return std::ranges::all_of(guard, [](std::byte b) { return b == std::byte{kGuard}; });
}

}  // namespace

// Operands begin as far behind a boundary as they do here: kernels see the same alignment.
std::vector<std::byte*> DeviceProgram::staged(const Bindings& symbols,
                                              std::span<std::byte* const> outer, Staged& memory) {
  assay::check(outer.size() == outer_.size(), "a pointer for each buffer that is not a temporary");
  constexpr std::int64_t kBoundary = 256;
  std::int64_t end = kBoundary;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const auto& buffer = program_.buffers[outer_[i]];
    const auto bytes =
        product(buffer.shape).at(symbols) * static_cast<std::int64_t>(size_of(buffer.dtype));
    const auto behind =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(outer[i]) % kBoundary);
    const auto begin = (end + kBoundary - 1) / kBoundary * kBoundary + kBoundary + behind;
    memory.operands.push_back({begin, bytes, buffer.kind});
    end = begin + bytes + kGuardBytes;
  }
  stage_.grow(end + kBoundary);
  if (options_.canaries) {
    kernels::cuda::fill_bytes(stage_.data(), kGuard, static_cast<std::size_t>(end),
                              store_->stream());
  }
  std::vector<std::byte*> there;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const auto& operand = memory.operands[i];
    there.push_back(stage_.data() + operand.begin);
    if (operand.kind != Buffer::Kind::kOutput) store_->put(there[i], outer[i], operand.bytes);
  }
  return there;
}

void DeviceProgram::bring_back(std::span<std::byte* const> outer, Staged& memory) {
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const auto& operand = memory.operands[i];
    const auto* from = stage_.data() + operand.begin;
    const auto& name = program_.buffers[outer_[i]].name;
    if (operand.kind != Buffer::Kind::kInput) store_->take(outer[i], from, operand.bytes);
    if (!options_.canaries) continue;
    std::vector<std::byte> guard(kGuardBytes);
    for (const auto* at : {from - kGuardBytes, from + operand.bytes}) {
      store_->take(guard.data(), at, kGuardBytes);
      if (is_whole(guard)) continue;
      throw InternalError(fmt::format("what lies beside '{}' was overwritten", name));
    }
    if (operand.kind != Buffer::Kind::kInput) continue;
    std::vector<std::byte> now(static_cast<std::size_t>(operand.bytes));
    store_->take(now.data(), from, operand.bytes);
    if (operand.bytes > 0 && std::memcmp(now.data(), outer[i], now.size()) != 0)
      throw InternalError(fmt::format("input '{}' was overwritten", name));
  }
  store_->wait();
}

void DeviceProgram::fill_guards() {
  kernels::cuda::fill_bytes(arena_.data(), kGuard, static_cast<std::size_t>(plan_.arena_bytes),
                            store_->stream());
}

// A buffer's guard may be another's elements at another time.
void DeviceProgram::write_guards(const Step& step) {
  for (const auto id : step.buffers) {
    if (plan_.offsets[id] < 0) continue;
    kernels::cuda::fill_bytes(pointers_[id] + plan_.bytes[id], kGuard, kGuardBytes,
                              store_->stream());
  }
}

void DeviceProgram::check_guards(std::size_t step) {
  std::vector<std::byte> guard(kGuardBytes);
  for (const auto id : program_.steps[step].buffers) {
    if (plan_.offsets[id] < 0) continue;
    store_->take(guard.data(), pointers_[id] + plan_.bytes[id], kGuardBytes);
    if (!is_whole(guard))
      throw InternalError(fmt::format("{} wrote beyond buffer {}", said_of(step), id));
  }
}

}  // namespace assay::compiler::cuda
