// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A processing element: four engines that hand tile steps to one another.
//
//   dma_in ──► fetch ──► gemm ──► dma_out
//     ▲                    │
//     └── operand buffers ─┘   free buffers are credits; a step takes one before its operands move
//                              and gives it back after fetch or gemm (pe.buffer_release)
//
// An output buffer is taken before the first K step of an output tile and given back when the tile
// has been written. Steps that need no DMA (both operands resident) take their credit before fetch.
// Up-front loads run first; steps start when the last load of the chip is done, so that a window
// without the load holds nothing of it.

#include <cstdint>
#include <vector>

#include "chip/gemm/memory_system.h"
#include "chip/gemm/tile_plan.h"
#include "chip/kernel/op_log.h"
#include "chip/kernel/simulator.h"
#include "chip/kernel/sync.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// A multicast in progress: the last member to be ready issues the read for all.
struct RoundState {
  std::int64_t missing = 0;  // members that are not ready yet
  Time issued_at = 0;
  Progress progress;
  std::vector<Latch> arrived;   // by member
  std::vector<Latch*> latches;  // the same, as the mesh wants them
  const std::vector<DeliveryTree>* trees = nullptr;
};

// What the processing elements of one simulation share.
struct Machine {
  Machine(Simulator& simulator, const Topology& topology, const GemmPlan& plan);

  Simulator& simulator;
  const Topology& topology;
  const GemmPlan& plan;
  MemorySystem memory;
  OpLog log;
  std::vector<RoundState> rounds;
  Latch loaded;  // all up-front loads of all elements are done
  OpId last_load = kNoOp;
};

class Pe {
 public:
  Pe(Machine& machine, std::int32_t id);
  Pe(const Pe&) = delete;
  Pe& operator=(const Pe&) = delete;

  // Hands the engines to the simulator.
  void spawn();

 private:
  // Operands that one request brings: a block of A, a block of B, or both.
  struct Wanted {
    const Block* a = nullptr;
    const Block* b = nullptr;
    std::int32_t round = -1;  // B comes by multicast
  };

  Process load(std::int32_t slot);
  Process dma_in(std::int32_t slot);
  Process fetch();
  Process gemm();
  Process dma_out(std::int32_t slot);
  Process read(Wanted wanted, OpRecord& op, Latch& done);
  void release_operands(std::size_t step, OpId by);

  Machine& machine_;
  Simulator& simulator_;
  const PePlan& plan_;
  std::int32_t id_;
  Time fetch_time_, gemm_time_;
  std::int64_t fetch_bytes_, tile_macs_;
  bool streams_a_, streams_b_;
  const std::vector<DeliveryTree>* to_me_;

  Credits buffers_, outputs_;
  std::vector<Lease> held_;                  // operand buffer of each step
  std::vector<Lease> output_held_;           // output buffer of each output, by its number in order
  std::vector<std::int32_t> output_number_;  // of each step, in the order of first K steps
  std::vector<std::int32_t> output_steps_;   // last K step of each output, in the order of writing

  std::vector<Latch> arrived_, fetched_,
      finished_;  // by step, by step, by position in output_steps_
  std::size_t next_load_ = 0, next_step_ = 0, next_output_ = 0;

  // Who did what, for the dependencies in the log.
  std::vector<OpId> in_op_, fetch_op_, gemm_op_, releases_, writes_;
};

}  // namespace assay::chip
