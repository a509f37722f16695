// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans that were made before, and orders of contractions that were found before.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "einsum/plan/plan.h"

namespace assay::einsum {

struct CacheStatistics {
  std::int64_t hits = 0, misses = 0, evictions = 0;
  std::int64_t entries = 0, capacity = 0;
};

// A bounded map that forgets what was not used for longest. Thread-safe.
template <typename Value>
class LruCache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  // Null where there is none.
  std::shared_ptr<const Value> find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto at = index_.find(key);
    if (at == index_.end()) {
      ++statistics_.misses;
      return nullptr;
    }
    ++statistics_.hits;
    if (at->second != entries_.begin()) entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->second;
  }

  void insert(std::string_view key, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    if (const auto at = index_.find(key); at != index_.end()) {
      at->second->second = std::move(value);
      return;
    }
    if (capacity_ == 0) return;
    if (entries_.size() == capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
      ++statistics_.evictions;
    }
    entries_.emplace_front(key, std::move(value));
    index_.emplace(entries_.front().first, entries_.begin());
  }

  CacheStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    CacheStatistics result = statistics_;
    result.entries = static_cast<std::int64_t>(entries_.size());
    result.capacity = static_cast<std::int64_t>(capacity_);
    return result;
  }

  // Every entry, the longest unused first.
  template <typename F>
  void for_each(F&& f) const {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) f(it->first, *it->second);
  }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const Value>>;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
  // Views into the entries' own keys, which do not move.
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> index_;
  CacheStatistics statistics_;
};

using PlanCache = LruCache<Plan>;
using PathCache = LruCache<PathReport>;

// Appends to `key` what a plan depends on beside the text of the expression.
void append_key(std::string& key, const TensorView& operand);
void append_key(std::string& key, const OperandSpec& operand);
void append_key(std::string& key, const PlanOptions& options, std::string_view model_id);

// What the order of contractions depends on: the same for all spellings of an expression.
std::string path_key(const Problem& problem, std::span<const OperandSpec> operands,
                     const PlanOptions& options, std::string_view model_id);

// The file holds one line for each order with a checksum of its own. Saving adds to what is there
// and replaces the file as a whole: a crash at any moment leaves the old or the new one. Lines that
// do not check are left out. Throws UserError naming the path where it cannot be read or written.
struct PathFileReport {
  int loaded = 0, damaged = 0;
};
PathFileReport load_paths(const std::string& path, PathCache& cache);
void save_paths(const std::string& path, const PathCache& cache, std::size_t capacity);

}  // namespace assay::einsum
