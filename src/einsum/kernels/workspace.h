// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where intermediate tensors live, and the count of them.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace assay::einsum {

// Where a workspace's memory comes from.
struct MemorySource {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* data, std::size_t bytes);
};
MemorySource processor_memory();

// Hands out aligned, uninitialised memory and counts the bytes that are out. Freed blocks are kept
// for the next one of about their size, since fresh pages cost as much as a pass over them. Not
// thread-safe: one for each run at a time.
class Workspace {
 public:
  // Keeps at most so many bytes of freed blocks.
  explicit Workspace(std::size_t keep_bytes = std::size_t{256} << 20,
                     const MemorySource& source = processor_memory())
      : source_(source), keep_bytes_(keep_bytes) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Owns a piece of the workspace; the workspace outlives it.
  class Buffer {
   public:
    Buffer() = default;
    Buffer(Workspace& from, std::size_t bytes);
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { reset(); }
    void reset();
    template <typename T>
    T* data() const {
      return static_cast<T*>(data_);
    }
    explicit operator bool() const { return data_ != nullptr; }

   private:
    Workspace* owner_ = nullptr;
    void* data_ = nullptr;
    std::size_t asked_ = 0, capacity_ = 0;
  };

  template <typename T>
  Buffer take(double elements) {
    return Buffer(*this, static_cast<std::size_t>(elements) * sizeof(T));
  }

  // Counts memory that a kernel takes elsewhere, while it lives.
  class Lent {
   public:
    Lent(Workspace& from, std::size_t bytes) : from_(from), bytes_(bytes) {
      from_.live_ += bytes_;
      from_.peak_ = std::max(from_.peak_, from_.live_);
    }
    ~Lent() { from_.live_ -= bytes_; }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    Workspace& from_;
    std::size_t bytes_;
  };

  // Frees kept blocks, largest first, when the bytes out, kept and asked for would exceed this:
  // what is kept for later is memory, too.
  void set_bound(std::size_t bytes);

  std::size_t live_bytes() const { return live_; }
  // Out and kept.
  std::size_t held_bytes() const { return out_ + kept_sum_; }
  std::size_t peak_bytes() const { return peak_; }
  void reset_peak() { peak_ = live_; }

 private:
  struct Block {
    void* data;
    std::size_t capacity;
  };
  MemorySource source_;
  std::size_t keep_bytes_;
  std::vector<Block> kept_;
  void make_room(std::size_t bytes);

  std::size_t kept_sum_ = 0, live_ = 0, peak_ = 0;
  std::size_t out_ = 0;  // capacity of what is out
  std::size_t bound_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace assay::einsum
