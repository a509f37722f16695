// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a blocked product has come, for any number of workers that come and go.
//
// The obvious way to share a product out is a team with barriers: pack together, wait, multiply,
// wait. Whoever is slowed down then slows everybody, twice a step, and the team must be complete.
// Here nobody waits for a worker, only for a piece of work that the next one needs.
//
// A step is one block of rows, columns and terms. The tiles of its result form a grid, cut into a
// cell for each worker that was asked for; a cell is cut into units, and whoever is free takes the
// next unit, of its own cell first, of the others' afterwards. A panel is packed by the first unit
// that needs it. What must be in order:
//
//   - the same unit of two steps, because they add to the same results: await_turn()
//   - the packing of a panel after the last use of the memory it is packed into, which is that of
//     the panel two steps before (one, for a single worker): claims_left(), claims_right()
//   - everything, where a step has other rows or columns than the one before: await_all()
//
// Nothing waits in a circle: a unit waits for units and panels of its own or of earlier steps, and
// a unit that is taken is being worked on.

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/threads/patience.h"
#include "kernels/tiles/blocking.h"

namespace assay::kernels {

class ProductProgress {
 public:
  // For steps of at most `left` × `right` panels; a unit is one left panel and `right_at_once`
  // right ones.
  ProductProgress(int workers, std::int64_t left, std::int64_t right, std::int64_t right_at_once)
      : grid_(thread_grid(workers, left, right)),
        units_(divide_up(left, grid_.left) *
               divide_up(divide_up(right, grid_.right), right_at_once)),
        copies_(workers > 1 ? 2 : 1),
        cells_(static_cast<std::size_t>(workers)),
        steps_(static_cast<std::size_t>(workers * units_)),
        left_(static_cast<std::size_t>(left)),
        right_(static_cast<std::size_t>(right)) {}

  // Cells, and where cell number c lies: row c % grid().left, column c / grid().left.
  int cells() const { return grid_.left * grid_.right; }
  const ThreadGrid& grid() const { return grid_; }
  // How many steps are in memory at once: step s is packed into copy s % copies().
  int copies() const { return copies_; }

  // The next unit of a cell that nobody has taken in this step. A worker takes all units of all
  // cells in one step before it asks for the next.
  std::optional<std::int64_t> take(int cell, std::int64_t step) noexcept {
    std::atomic<std::int64_t>& taken = at(cell).taken;
    std::int64_t next = taken.load(std::memory_order_relaxed);
    while (next < (step + 1) * units_) {
      if (taken.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
        return next - step * units_;
      }
    }
    return {};
  }
  // Until the unit is done in the step before.
  void await_turn(int cell, std::int64_t unit, std::int64_t step) const noexcept {
    const auto& steps = steps_[static_cast<std::size_t>(cell * units_ + unit)];
    wait_until([&] { return steps.load(std::memory_order_acquire) >= step; });
  }
  // The unit is done, also one that has no tiles in this step. Its steps are done in their order: a
  // worker that was slow to say so would otherwise take back what another said of a later step.
  void done(int cell, std::int64_t unit, std::int64_t step) noexcept {
    await_turn(cell, unit, step);
    await(at(cell), step - 1);
    steps_[static_cast<std::size_t>(cell * units_ + unit)].store(step + 1,
                                                                 std::memory_order_release);
    at(cell).done[step % 2].fetch_add(1, std::memory_order_release);
  }
  // Until every unit of the steps before this one is done.
  void await_all(std::int64_t step) const noexcept {
    for (const Cell& cell : cells_) await(cell, step);
  }

  // Whether the caller is the one to pack a panel in this step, and the memory for it is free. If
  // not, the panel is packed on return. After true, left_is_packed() or right_is_packed() must
  // follow.
  bool claims_left(std::int64_t panel, int row, std::int64_t step) noexcept {
    if (!claims(left_[static_cast<std::size_t>(panel)], step)) return false;
    for (int j = 0; j < grid_.right; ++j) await(at(row + j * grid_.left), step + 1 - copies_);
    return true;
  }
  bool claims_right(std::int64_t panel, int column, std::int64_t step) noexcept {
    if (!claims(right_[static_cast<std::size_t>(panel)], step)) return false;
    for (int i = 0; i < grid_.left; ++i) await(at(i + column * grid_.left), step + 1 - copies_);
    return true;
  }
  void left_is_packed(std::int64_t panel, std::int64_t step) noexcept {
    left_[static_cast<std::size_t>(panel)].store(packed_in(step), std::memory_order_release);
  }
  void right_is_packed(std::int64_t panel, std::int64_t step) noexcept {
    right_[static_cast<std::size_t>(panel)].store(packed_in(step), std::memory_order_release);
  }

 private:
  // Every step gives a cell the same number of units, used or not, so that a count tells steps and
  // units. Units of a step may be done while some of the step before are not, but none of the step
  // after it: even and odd steps are counted apart.
  struct alignas(64) Cell {
    std::atomic<std::int64_t> taken = 0;
    std::atomic<std::int64_t> done[2] = {0, 0};
  };

  Cell& at(int cell) noexcept { return cells_[static_cast<std::size_t>(cell)]; }

  // Until all units of a cell in the first `steps` steps are done.
  void await(const Cell& cell, std::int64_t steps) const noexcept {
    wait_until([&] {
      return cell.done[0].load(std::memory_order_acquire) >= (steps + 1) / 2 * units_ &&
             cell.done[1].load(std::memory_order_acquire) >= steps / 2 * units_;
    });
  }

  // What a panel's state says once it is packed; one less while somebody packs it.
  static std::int64_t packed_in(std::int64_t step) noexcept { return 2 * step + 2; }

  static bool claims(std::atomic<std::int64_t>& state, std::int64_t step) noexcept {
    for (Patience patience;; patience.wait()) {
      std::int64_t seen = state.load(std::memory_order_acquire);
      if (seen >= packed_in(step)) return false;
      if (seen % 2 == 0 &&
          state.compare_exchange_strong(seen, packed_in(step) - 1, std::memory_order_acquire)) {
        return true;
      }
    }
  }

  const ThreadGrid grid_;
  const std::int64_t units_;  // of a cell in a step, at most
  const int copies_;
  std::vector<Cell> cells_;
  std::vector<std::atomic<std::int64_t>> steps_;         // that each unit has behind it
  std::vector<std::atomic<std::int64_t>> left_, right_;  // the panels' states
};

}  // namespace assay::kernels
