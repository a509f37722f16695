// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/op_books.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cases/chip/oracle/first_wrong.h"

namespace assay::cases::chip {
namespace {

class OpBooks : FirstWrong {
 public:
  OpBooks(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops)
      : c_(c), p_(p), ops_(ops), by_element_(static_cast<std::size_t>(c.elements())) {
    for (const Op& op : ops) by_element_[static_cast<std::size_t>(op.pe)].push_back(op);
    for (auto& of_element : by_element_) std::ranges::stable_sort(of_element, {}, &Op::grant);
  }

  std::string first_wrong(const ProductBooks& books) {
    keep_books(books);
    return wrong_;
  }

 private:
  void keep_books(const ProductBooks& books) {
    Ps begin = ops_.empty() ? 0 : ops_.front().request, end = 0, steps_begin = -1;
    double macs = 0, useful = 0;
    for (const Op& op : ops_) {
      begin = std::min(begin, op.request);
      end = std::max(end, op.end);
      if (op.tile >= 0 && (steps_begin < 0 || op.request < steps_begin)) steps_begin = op.request;
      macs += static_cast<double>(op.macs);
      useful += static_cast<double>(op.useful_macs);
    }
    demand(useful == p_.useful_macs(), "{} useful multiply-accumulates instead of M·K·N = {}",
           useful, p_.useful_macs());
    near("simulated_time", books.simulated_s, 1e-12 * static_cast<double>(end - begin));
    near("composite_time", books.composite_s, 1e-12 * static_cast<double>(end - steps_begin));
    const double possible = c_.macs_per_ns * 1e-3 * static_cast<double>(c_.elements()) *
                            static_cast<double>(end - steps_begin);
    near("mac_utilisation", books.mac_utilisation, macs / possible);
    near("useful_efficiency", books.useful_efficiency, useful / possible);
    keep_use(end - begin, books.use);
    demand(books.shares.size() == 12, "{} shares of stages instead of 12", books.shares.size());
    for (std::size_t stage = 0; stage < 4 && wrong_.empty(); ++stage) {
      stage_shares(stage, steps_begin, end, books.shares);
    }
  }

  // Bytes of all, as their routes and channels carry them.
  void keep_use(Ps time, const std::vector<double>& use) {
    if (!demand(use.size() == 5, "{} kinds of use instead of 5", use.size())) return;
    const auto whole = static_cast<double>(time);
    std::int64_t read = 0, written = 0, fullest = 0;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> links;  // bytes
    for (std::int64_t pe = 0; pe < c_.elements(); ++pe) {
      std::int64_t in = 0, out = 0;
      for (const Op& op : by_element_[static_cast<std::size_t>(pe)]) {
        if (op.stage == OpStage::kIn) in += op.bytes;
        if (op.stage == OpStage::kOut) out += op.bytes;
      }
      read += in;
      written += out;
      // From the port at (0, 0) along the row, then down; back along the row, then up.
      const std::int64_t row = pe / c_.columns, column = pe % c_.columns;
      for (std::int64_t q = 0; q < column; ++q) {
        links[{q, q + 1}] += in;
        links[{row * c_.columns + q + 1, row * c_.columns + q}] += out;
      }
      for (std::int64_t r = 0; r < row; ++r) {
        links[{r * c_.columns + column, (r + 1) * c_.columns + column}] += in;
        links[{(r + 1) * c_.columns, r * c_.columns}] += out;
      }
      fullest = std::max(fullest, sram_of(row, column));
    }
    std::int64_t busiest = 0;
    for (const auto& [link, bytes] : links) busiest = std::max(busiest, bytes);
    const double reads = static_cast<double>(c_.memory(read)) / whole;
    const double writes = static_cast<double>(c_.memory(written)) / whole;
    near("hbm_read_use", use[0], reads);
    near("hbm_write_use", use[1], writes);
    near("channel_use", use[2], std::max(reads, writes));
    near("link_use", use[3], static_cast<double>(busiest / c_.burst_bytes * c_.link_burst) / whole);
    near("sram_use", use[4], static_cast<double>(fullest) / static_cast<double>(c_.sram_bytes));
  }

  // Panels that stay, buffers for what is streamed, and output tiles that are open or being
  // written.
  std::int64_t sram_of(std::int64_t grid_row, std::int64_t grid_column) const {
    const std::int64_t height = p_.rows_of(c_, grid_row), width = p_.columns_of(c_, grid_column);
    if (height == 0 || width == 0) return 0;
    return (p_.streams_a ? c_.buffers : height * p_.k_tiles(c_)) * c_.a_bytes() +
           (p_.streams_b ? c_.buffers : width * p_.k_tiles(c_)) * c_.b_bytes() +
           std::min(c_.outputs, height * width) * c_.c_bytes();
  }

  void near(const char* what, double is, double must) {
    demand(std::abs(is - must) <= 1e-12 * std::abs(must), "{} is {} instead of {}", what, is, must);
  }

  void stage_shares(std::size_t stage, Ps begin, Ps end, const std::vector<double>& shares) {
    const bool is_dma = stage == 0 || stage == 3;
    const auto slots = static_cast<std::size_t>(is_dma ? c_.queues : 1);
    double busy = 0, blocked = 0, waiting = 0;
    bool any = false;
    for (const auto& ops : by_element_) {
      std::vector<Ps> at(slots, begin);
      for (const Op& op : ops) {
        if (op.tile < 0 || static_cast<std::size_t>(op.stage) != stage) continue;
        any = true;
        Ps& now = at[static_cast<std::size_t>(op.slot)];
        // What was asked for while the slot was still busy counts from when it is free.
        busy += static_cast<double>(op.end - op.grant);
        blocked += static_cast<double>(std::max<Ps>(0, op.grant - std::max(now, op.request)));
        now = op.end;
      }
    }
    const double whole = static_cast<double>(slots) * static_cast<double>(c_.elements()) *
                         static_cast<double>(end - begin);
    if (!any) return;
    waiting = whole - busy - blocked;
    const double sum = shares[3 * stage] + shares[3 * stage + 1] + shares[3 * stage + 2];
    demand(std::abs(sum - 1) <= 1e-12, "{}: busy + blocked + starved = {} of the window",
           kStageNames[stage], sum);
    const double must[] = {busy / whole, blocked / whole, waiting / whole};
    for (std::size_t i = 0; i < 3; ++i) {
      demand(std::abs(shares[3 * stage + i] - must[i]) <= 1e-12,
             "{}: {} of the window is {} instead of {}", kStageNames[stage],
             i == 0   ? "busy"
             : i == 1 ? "blocked"
                      : "starved",
             shares[3 * stage + i], must[i]);
    }
  }

  const ChipNumbers& c_;
  const TiledProduct& p_;
  const std::vector<Op>& ops_;
  std::vector<std::vector<Op>> by_element_;  // in the order of grants
};

}  // namespace

std::string wrong_books(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops,
                        const ProductBooks& books) {
  return OpBooks(c, p, ops).first_wrong(books);
}

}  // namespace assay::cases::chip
