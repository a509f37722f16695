// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace assay {

// One number for each axis of a tensor. Up to kInline of them lie in the object itself, so that
// views of ordinary tensors are made and copied without the heap.
class Axes {
 public:
  static constexpr std::size_t kInline = 6;
  using value_type = std::int64_t;
  using const_iterator = const std::int64_t*;

  Axes() = default;
  explicit Axes(std::size_t size) : size_(size) {
    if (size > kInline) more_ = std::make_unique<std::int64_t[]>(size);
  }
  Axes(std::span<const std::int64_t> values) : Axes(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }
  Axes(const std::vector<std::int64_t>& values) : Axes(std::span<const std::int64_t>(values)) {}
  Axes(std::initializer_list<std::int64_t> values)
      : Axes(std::span<const std::int64_t>(values.begin(), values.size())) {}

  Axes(const Axes& other) : Axes(std::span<const std::int64_t>(other)) {}
  Axes(Axes&&) noexcept = default;
  Axes& operator=(const Axes& other) { return *this = Axes(other); }
  Axes& operator=(Axes&&) noexcept = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t axis) const { return data()[axis]; }
  std::int64_t& operator[](std::size_t axis) { return data()[axis]; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }

  // Without that axis.
  Axes without(std::size_t axis) const {
    Axes rest(size_ - 1);
    std::copy(begin(), begin() + axis, rest.data());
    std::copy(begin() + axis + 1, end(), rest.data() + axis);
    return rest;
  }

  bool operator==(const Axes& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  const std::int64_t* data() const { return more_ ? more_.get() : own_; }
  std::int64_t* data() { return more_ ? more_.get() : own_; }

  std::size_t size_ = 0;
  std::int64_t own_[kInline] = {};
  std::unique_ptr<std::int64_t[]> more_;  // instead of own_ where there are more
};

}  // namespace assay
