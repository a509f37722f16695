// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How messages share a network. Four models, from a published simulator's to a fluid one:
//
//   astra          store and forward, first come, first served; each hop takes the whole
//                  nanoseconds of latency + bytes/bandwidth and blocks its link for those of
//                  bytes/bandwidth: ASTRA-sim's analytical network with congestion
//   astra-unaware  the whole nanoseconds of hops * latency + bytes/bandwidth, whatever else travels
//   fifo           cut-through: the head moves on after each latency, the tail follows; links first
//                  come, first served
//   fluid          messages share links as fluids do, max-min fairly, and are there hops * latency
//                  after the last byte has left

#include <cstdint>
#include <string_view>

namespace assay::chip {

enum class Contention { kAstra, kAstraUnaware, kFifo, kFluid };

std::string_view name_of(Contention contention);
Contention parse_contention(std::string_view text);  // throws UserError naming the text
// Whether a link carries one message's bytes at a time. If not, times may be below any bound.
constexpr bool models_links(Contention contention) {
  return contention != Contention::kAstraUnaware;
}

using MessageId = std::int32_t;

}  // namespace assay::chip
