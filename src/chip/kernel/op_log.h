// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The op log: what every engine did and when. It is the primary result of a simulation; metrics,
// figures and traces are pure functions of it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chip/kernel/time.h"

namespace assay::chip {

enum class Stage : std::uint8_t { kDmaIn, kFetch, kGemm, kDmaOut };
inline constexpr std::array kStages = {Stage::kDmaIn, Stage::kFetch, Stage::kGemm, Stage::kDmaOut};

std::string_view name_of(Stage stage);    // "dma_in", …
std::string_view engine_of(Stage stage);  // "dma_read", "fetch", "mac", "dma_write"

using OpId = std::int32_t;
inline constexpr OpId kNoOp = -1;
inline constexpr std::int64_t kUpFront = -1;  // the tile of an up-front load

struct OpRecord {
  OpId id = kNoOp;  // position in the log; an op ends no earlier than those before it
  std::int32_t pe = 0;
  std::int32_t slot = 0;  // of the engine: a DMA has as many as it has queues
  Stage stage = Stage::kDmaIn;
  std::int64_t tile = kUpFront;
  Time t_request = 0;  // the engine's slot turned to it
  Time t_ready = 0;    // it had its buffer: what it waits for from here on is memory
  Time t_grant = 0;    // it was served: buffers, slot and memory were there
  Time t_end = 0;
  std::int64_t bytes = 0;  // moved; for memory whole bursts
  std::int64_t macs = 0;   // padded
  std::int64_t useful_macs = 0;
  std::array<OpId, 3> dependencies = {kNoOp, kNoOp, kNoOp};

  Time busy() const { return t_end - t_grant; }
  bool up_front() const { return tile == kUpFront; }
};

struct OpLog {
  std::int32_t pes = 1;
  std::int32_t dma_slots = 1;  // per processing element and direction
  std::vector<OpRecord> ops;

  std::int32_t slots(Stage stage) const {
    return stage == Stage::kDmaIn || stage == Stage::kDmaOut ? dma_slots : 1;
  }
  // Appends a finished operation and returns its id.
  OpId add(OpRecord op);
};

// One line per operation under a header, times in picoseconds: equal logs have equal text.
std::string to_csv(const OpLog& log);

}  // namespace assay::chip
