// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which products the updates of factors share, wherever these are made (mttkrp.h says why).
//
// Updates of factors go round: 0, 1, …, N−1, 0, … The product of the whole tensor with the factor
// updated last is good until that factor changes again, and that is N−1 updates later, wherever a
// sweep ends in between. So N−1 updates share one product with the tensor: N/(N−1) a sweep instead
// of N, or of the two that a tree within each sweep needs. Below that product the modes are halved
// again and again, and a half's partial result serves all of its modes.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace assay::einsum {

// `Data` is a tensor over some of the modes, in their order, with the components as its last axis.
template <typename Data>
class MttkrpTree {
 public:
  explicit MttkrpTree(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}

  std::size_t turn() const { return turn_; }  // the mode of the next call of next()

  // The product for the mode whose turn it is: mode × components. root(m) multiplies the tensor by
  // the factor of mode m; without(y, modes, m) sums y, over those modes, with the factor of m.
  template <typename Root, typename Without>
  const Data& next(const Root& root, const Without& without) {
    const std::size_t mode = turn_, n = shape_.size();
    turn_ = (turn_ + 1) % n;
    while (!stack_.empty() && std::ranges::count(stack_.back().updates, mode) == 0) {
      stack_.pop_back();
    }
    if (stack_.empty()) {  // all but the factor that was updated just before this one
      const std::size_t gone = (mode + n - 1) % n;
      Partial made;
      for (std::size_t m = 0; m < n; ++m) {
        if (m != gone) made.modes.push_back(m);
      }
      for (std::size_t k = 0; k + 1 < n; ++k) made.updates.push_back((mode + k) % n);
      made.data = root(gone);
      stack_.push_back(std::move(made));
    }
    while (stack_.back().updates.size() > 1) {
      // The half with this mode stays; the other half's modes go, the largest first.
      const Partial& y = stack_.back();
      const auto middle =
          y.updates.begin() + static_cast<std::ptrdiff_t>((y.updates.size() + 1) / 2);
      const bool first = std::find(y.updates.begin(), middle, mode) != middle;
      std::vector<std::size_t> gone(first ? middle : y.updates.begin(),
                                    first ? y.updates.end() : middle);
      std::ranges::stable_sort(gone, std::greater{}, [&](std::size_t m) { return shape_[m]; });
      Partial z{y.modes, y.updates, {}};
      for (const std::size_t m : gone) {
        z.data = without(m == gone.front() ? y.data : z.data, z.modes, m);
        std::erase(z.modes, m);
        std::erase(z.updates, m);
      }
      stack_.push_back(std::move(z));
    }
    return stack_.back().data;
  }

 private:
  struct Partial {
    std::vector<std::size_t> modes;    // in the order of memory
    std::vector<std::size_t> updates;  // the same in the order of their updates
    Data data;
  };
  std::vector<std::int64_t> shape_;
  std::size_t turn_ = 0;
  std::vector<Partial> stack_;  // each made from the one before it
};

}  // namespace assay::einsum
