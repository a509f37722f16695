// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/show/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/json.h"

namespace assay::chip {
namespace {

// Microseconds with six decimals are whole picoseconds.
Time picoseconds(const Json& value) { return std::llround(value.get<double>() * 1e6); }

std::pair<int, int> track_of(const Json& event) {
  return {event["pid"].get<int>(), event["tid"].get<int>()};
}

Topology mesh() {
  Topology topology = default_topology();
  topology.pe.rows = 2;
  topology.pe.columns = 2;
  topology.noc.hop = 700;
  topology.dma.queues = 3;
  topology.hbm.separate_write_path = false;
  topology.hbm.turnaround = 3333;
  return topology;
}

TEST(Trace, SlicesAddUpToTheBusyTime) {
  const Topology chips[] = {default_topology(), mesh()};
  for (const Topology& topology : chips) {
    for (const Variant variant : {Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad}) {
      const GemmResult result =
          simulate_gemm({.shape = {100, 130, 170}, .variant = variant}, topology);
      const Json trace = parse_json(gemm_trace(result, topology), "trace");
      std::map<std::string, Time> busy;
      std::map<std::pair<int, int>, Time> end_of_track;
      std::size_t slices = 0, arrows = 0;
      for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] == "s") ++arrows;
        if (event["ph"] != "X") continue;
        ++slices;
        busy[event["cat"]] += picoseconds(event["dur"]);
        // Slices of one track follow one another.
        Time& end = end_of_track[track_of(event)];
        EXPECT_GE(picoseconds(event["ts"]), end);
        end = picoseconds(event["ts"]) + picoseconds(event["dur"]);
      }
      const GemmMetrics metrics = measure(result.log, topology, {WindowKind::kComposite, true, 0});
      for (const Stage stage : kStages) {
        EXPECT_EQ(busy[std::string(name_of(stage))], metrics[stage].busy) << name_of(stage);
      }
      EXPECT_EQ(slices, result.log.ops.size());
      EXPECT_GT(arrows, slices / 2);
      EXPECT_EQ(trace["otherData"]["topology_hash"], topology.hash());
    }
  }
}

TEST(Trace, CountersStayWithinTheHardware) {
  const Topology topology = default_topology();
  const GemmResult result =
      simulate_gemm({.shape = {256, 256, 256}, .variant = Variant::kRefRef}, topology);
  const Json trace = parse_json(gemm_trace(result, topology), "trace");
  double most_read = 0, most_buffers = 0, last_buffers = -1;
  std::set<std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    const std::string name = event["name"];
    const double value = event["args"]["value"];
    names.insert(name);
    EXPECT_GE(value, 0);
    if (name == "HBM read GB/s") most_read = std::max(most_read, value);
    if (name == "buffers in use") {
      most_buffers = std::max(most_buffers, value);
      last_buffers = value;
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"HBM read GB/s", "HBM write GB/s", "buffers in use"}));
  EXPECT_EQ(most_read, 256);
  EXPECT_GT(most_buffers, 1);
  EXPECT_LE(most_buffers, static_cast<double>(topology.pe.buffer_depth));
  EXPECT_EQ(last_buffers, 0);
}

TEST(Trace, NamesEveryTrack) {
  const Topology topology = mesh();
  const GemmResult result = simulate_gemm({.shape = {64, 64, 64}}, topology);
  const Json trace = parse_json(gemm_trace(result, topology), "trace");
  std::set<std::pair<int, int>> named, used;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") named.insert(track_of(event));
    if (event["ph"] == "X") used.insert(track_of(event));
  }
  EXPECT_EQ(named.size(), 4u * (3 + 1 + 1 + 3));
  for (const auto& track : used) EXPECT_TRUE(named.contains(track));
}

TEST(Trace, ShowsMessagesOfACollective) {
  Topology topology = default_topology();
  topology.network = parse_network("switch", 4, topology.network);
  const CollectiveResult result =
      simulate_collective({.algorithm = Algorithm::kDirect, .bytes = 4096}, topology);
  const Json trace = parse_json(collective_trace(result), "trace");
  std::size_t slices = 0;
  std::map<std::pair<int, int>, Time> end_of_track;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++slices;
    Time& end = end_of_track[track_of(event)];
    EXPECT_GE(picoseconds(event["ts"]), end);
    end = picoseconds(event["ts"]) + picoseconds(event["dur"]);
  }
  EXPECT_EQ(slices, result.messages.size());
  EXPECT_EQ(slices, 24u);
}

}  // namespace
}  // namespace assay::chip
