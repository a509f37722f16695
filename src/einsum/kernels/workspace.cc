// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/workspace.h"

#include <algorithm>

#include "base/memory.h"

namespace assay::einsum {

MemorySource processor_memory() { return {allocate_aligned, free_aligned}; }

Workspace::~Workspace() {
  for (const auto& block : kept_) source_.release(block.data, block.capacity);
}

void Workspace::set_bound(std::size_t bytes) {
  bound_ = bytes;
  make_room(0);
}

void Workspace::make_room(std::size_t bytes) {
  while (!kept_.empty() && out_ + kept_sum_ + bytes > bound_) {
    const auto largest = std::ranges::max_element(kept_, {}, &Block::capacity);
    kept_sum_ -= largest->capacity;
    source_.release(largest->data, largest->capacity);
    kept_.erase(largest);
  }
}

Workspace::Buffer::Buffer(Workspace& from, std::size_t bytes)
    : owner_(&from), asked_(bytes), capacity_(std::max<std::size_t>(bytes, 64)) {
  // The smallest kept block that is large enough and not wastefully so; under a bound, no waste.
  const bool bounded = from.bound_ != std::numeric_limits<std::size_t>::max();
  const std::size_t most = bounded ? capacity_ : 2 * capacity_ + 4096;
  auto best = from.kept_.end();
  for (auto it = from.kept_.begin(); it != from.kept_.end(); ++it) {
    if (it->capacity < capacity_ || it->capacity > most) continue;
    if (best == from.kept_.end() || it->capacity < best->capacity) best = it;
  }
  if (best != from.kept_.end()) {
    data_ = best->data;
    capacity_ = best->capacity;
    from.kept_sum_ -= capacity_;
    from.kept_.erase(best);
  } else {
    from.make_room(capacity_);
    data_ = from.source_.allocate(capacity_);
  }
  from.out_ += capacity_;
  from.live_ += asked_;
  from.peak_ = std::max(from.peak_, from.live_);
}

Workspace::Buffer& Workspace::Buffer::operator=(Buffer&& other) noexcept {
  reset();
  owner_ = std::exchange(other.owner_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  asked_ = std::exchange(other.asked_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

void Workspace::Buffer::reset() {
  if (data_ == nullptr) return;
  owner_->live_ -= asked_;
  owner_->out_ -= capacity_;
  if (owner_->kept_sum_ + capacity_ <= owner_->keep_bytes_) {
    owner_->kept_.push_back({data_, capacity_});
    owner_->kept_sum_ += capacity_;
  } else {
    owner_->source_.release(data_, capacity_);
  }
  data_ = nullptr;
}

}  // namespace assay::einsum
