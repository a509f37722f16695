// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pieces that the algorithms are put together from. Each rank has a program in every lane;
// lanes run side by side, and their messages are told apart by the lane's channel.

#include <vector>

#include "chip/collective/schedule.h"

namespace assay::chip {

using Ranges = std::vector<Range>;

class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const ScheduleOptions& options);

  const ScheduleOptions& options() const { return options_; }
  std::int32_t ranks() const { return options_.ranks; }
  // Part r of the vector.
  Range part(std::int64_t r) const { return even_part(options_.length, options_.ranks, r); }
  // What s has for d in an all-to-all.
  Range block(std::int64_t s, std::int64_t d) const {
    const Range p = part(d);
    return {s * options_.length + p.begin, s * options_.length + p.end};
  }

  // Goes on in a new lane; the first is there from the start.
  void open_lane();
  // The rank's program of this lane.
  Program& program(std::int32_t rank) {
    return schedule_.programs[static_cast<std::size_t>(lane_ * options_.ranks + rank)];
  }
  // A further program; the reference is good until the next call.
  Program& add_program(std::int32_t rank, bool paced);

  // On the lane's channel, or another.
  Transfer transfer(std::int32_t peer, const Ranges& ranges, bool adds = false) {
    return transfer(peer, ranges, adds, lane_);
  }
  Transfer transfer(std::int32_t peer, const Ranges& ranges, bool adds, std::int32_t channel);
  // One stage of an exchange: `rank` sends and receives on its program.
  StagePlan& stage(std::int32_t rank) { return program(rank).stages.emplace_back(); }

  // Ring passes over `members`; pieces[i] belongs to position i. The first leaves the sum of piece
  // i at position i, the second leaves all pieces everywhere. Both take members - 1 stages.
  void ring_reduce_scatter(const std::vector<std::int32_t>& members,
                           const std::vector<Ranges>& pieces);
  void ring_all_gather(const std::vector<std::int32_t>& members, const std::vector<Ranges>& pieces);
  // The same in one stage, everybody to everybody, starting with the next position.
  void direct_reduce_scatter(const std::vector<std::int32_t>& members,
                             const std::vector<Ranges>& pieces);
  void direct_all_gather(const std::vector<std::int32_t>& members,
                         const std::vector<Ranges>& pieces);

  Schedule take();

 private:
  // Once around the ring, beginning with the piece that is `ahead` positions before its holder.
  void ring_pass(const std::vector<std::int32_t>& members, const std::vector<Ranges>& pieces,
                 std::size_t ahead, bool adds);

  ScheduleOptions options_;
  Schedule schedule_;
  std::int32_t lane_ = 0;
};

// The algorithms; each appends the stages of options().collective.
void build_ring(ScheduleBuilder& builder);
void build_direct(ScheduleBuilder& builder);
void build_grid(ScheduleBuilder& builder);  // torus_2d, hierarchical, bidirectional_torus
void build_bidirectional_ring(ScheduleBuilder& builder);
void build_recursive_doubling(ScheduleBuilder& builder);
void build_halving_doubling(ScheduleBuilder& builder);
void build_double_binary_tree(ScheduleBuilder& builder);

}  // namespace assay::chip
