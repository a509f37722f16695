// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/guarded_tensor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/error.h"

namespace assay::cases::own {
namespace {

constexpr std::byte kMark{0xA5};
constexpr std::size_t kElementAlignment = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
// Of the pages on either side. They cost addresses, no memory; an index that is wrong by a row is
// caught as well as one that is wrong by one.
constexpr std::size_t kGuardBytes = std::size_t{1} << 20;
std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

GuardedTensor::GuardedTensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const std::size_t page = page_bytes();
  const std::size_t used = rounded_up(bytes(), kElementAlignment);
  open_bytes_ = rounded_up(std::max<std::size_t>(used, 1), page);
  void* const mapped = ::mmap(nullptr, open_bytes_ + 2 * kGuardBytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapped);
  std::byte* const open = mapping_ + kGuardBytes;
  if (::mprotect(open, open_bytes_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapping_, open_bytes_ + 2 * kGuardBytes);
    throw std::bad_alloc();
  }
  // As NumPy asks for its arrays, and our own tensors do (base/memory.h).
  if (open_bytes_ >= 2 * kLargePage) ::madvise(open, open_bytes_, MADV_HUGEPAGE);
  data_ = open + (open_bytes_ - used);
  std::fill(open, data_, kMark);
  std::fill(data_ + bytes(), open + open_bytes_, kMark);
}

GuardedTensor::GuardedTensor(GuardedTensor&& other) noexcept
    : dtype_(other.dtype_),
      shape_(other.shape_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      open_bytes_(other.open_bytes_),
      data_(other.data_) {}

GuardedTensor::~GuardedTensor() {
  if (mapping_ != nullptr) ::munmap(mapping_, open_bytes_ + 2 * kGuardBytes);
}

std::size_t GuardedTensor::bytes() const {
  return static_cast<std::size_t>(shape_.element_count()) * size_of(dtype_);
}

void GuardedTensor::poison() { std::memset(data_, 0xFF, bytes()); }

void GuardedTensor::protect(bool read_only) {
  const int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  check(::mprotect(mapping_ + kGuardBytes, open_bytes_, access) == 0,
        "our own pages can be protected");
}

bool GuardedTensor::is_intact() const {
  const std::byte* const open = mapping_ + kGuardBytes;
  const auto is_mark = [](std::byte b) { return b == kMark; };
  return std::all_of(open, static_cast<const std::byte*>(data_), is_mark) &&
         std::all_of(static_cast<const std::byte*>(data_) + bytes(), open + open_bytes_, is_mark);
}

}  // namespace assay::cases::own
