// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/topology/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"

namespace assay::chip {
namespace {

namespace fs = std::filesystem;

// The default topology with one piece of its text replaced.
std::string with(std::string_view old_text, std::string_view new_text) {
  std::string text(default_topology_text());
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

std::string error_of(const std::string& text) {
  try {
    parse_topology(text, "t.toml");
  } catch (const UserError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Topology, DefaultIsTheChipOfTheOracle) {
  const Topology t = default_topology();
  EXPECT_EQ(t.pe_count(), 1);
  EXPECT_EQ(t.pe.sram_bytes, 4 << 20);
  EXPECT_EQ(t.pe.buffer_depth, 4);
  EXPECT_DOUBLE_EQ(t.hbm_bytes_per_second(), 256e9);  // a quotient: 4 ulp
  EXPECT_EQ(t.peak_macs_per_second(), 4096e9);
  // The 16 ns of one 64 x 32 operand tile of 2-byte elements follow from the file.
  const auto tile = t.tile.k * t.tile.n * t.tile.element_bytes;
  EXPECT_EQ(tile / (t.hbm.channels * t.hbm.burst_bytes) * t.hbm.burst_time(), 16 * kNanosecond);
}

TEST(Topology, EveryExampleParses) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(ASSAY_CHIP_EXAMPLES)) {
    EXPECT_NO_THROW(read_topology(entry.path().string())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 1);
  EXPECT_EQ(read_file(std::string(ASSAY_CHIP_EXAMPLES) + "/default.toml"), default_topology_text());
}

TEST(Topology, HashIsOfTheNumbers) {
  const std::string hash = default_topology().hash();
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(parse_topology(with("core_GHz = 1.0 ", "core_GHz=1  # changed\n#"), "x").hash(), hash);
  EXPECT_EQ(parse_topology(with("\"default\"", "\"other\""), "x").hash(), hash);
  EXPECT_NE(parse_topology(with("setup_ns = 0.0", "setup_ns = 0.001"), "x").hash(), hash);
  EXPECT_NE(parse_topology(with("ranks = 8", "ranks = 9"), "x").hash(), hash);
  // The echo says everything the hash is made of.
  EXPECT_EQ(default_topology().to_json()["hbm"]["channel_GBps"], 32.0);
}

// "t.toml:LINE: " of the line that holds `piece`.
std::string at(const std::string& text, std::string_view piece) {
  const auto position = text.find(piece);
  EXPECT_NE(position, std::string::npos) << piece;
  const auto lines = std::count(text.begin(), text.begin() + static_cast<long>(position), '\n');
  return fmt::format("t.toml:{}: ", lines + 1);
}

TEST(Topology, RefusalsNameFileLineAndKey) {
  const struct {
    std::string_view old_text, new_text, line, message;
  } cases[] = {
      {"channel_GBps = 32.0\n", "", "[hbm]", "hbm.channel_GBps: missing key, expected a number"},
      {"channel_GBps = 32.0", "channel_GBps = -32.0", "channel_GBps",
       "hbm.channel_GBps: must be positive, got -32"},
      {"sram_bytes = 4194304", "sram_bytes = 1000", "sram_bytes",
       "pe.sram_bytes: too small: the buffers alone take 20480 bytes, got 1000"},
      {"[[0, 0]]", "[[0, 1]]", "memory_ports",
       "noc.memory_ports: [0, 1] lies outside the 1x1 grid"},
      {"[[0, 0]]", "[]", "memory_ports",
       "noc.memory_ports: memory is disconnected: at least one port is needed"},
      {"kind = \"ring\"",
       "kind = \"custom\"\nswitches = 0\nlinks = [[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7]]",
       "links =", "network.links: the network is disconnected: rank 1 cannot reach rank 0"},
      {"kind = \"ring\"", "kind = \"mesh\"\nrows = 3\ncolumns = 3", "ranks = 8",
       "network.ranks: must be 9 for this mesh, got 8"},
      {"kind = \"ring\"", "kind = \"star\"", "\"star\"",
       "network.kind: expected one of ring, fully_connected, switch, mesh, torus, fat_tree, "
       "custom, "
       "got 'star'"},
      {"queues = 2", "queues = 2\nqeues = 3", "qeues", "dma.qeues: unknown key"},
      {"refresh_share = 0.0", "refresh_share = 1.0", "refresh_share",
       "hbm.refresh_share: must be between 0 and 0.99, got 1"},
      {"setup_ns = 0.0", "setup_ns = -1", "setup_ns",
       "dma.setup_ns: must be between 0 and 1000000000, got -1"},
      {"rows = 1", "rows = 5000", "rows = 5000", "pe.rows: must be between 1 and 4096, got 5000"}};
  for (const auto& c : cases) {
    const std::string text = with(c.old_text, c.new_text);
    EXPECT_EQ(error_of(text), at(text, c.line) + std::string(c.message));
  }
}

TEST(Topology, EveryKeyIsRequired) {
  // Deleting any one assignment must be noticed, and the message must name the key.
  const std::string text(default_topology_text());
  int keys = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const std::size_t equals = line.find(" = ");
    if (line.front() != '#' && line.front() != ' ' && equals != std::string::npos) {
      std::string shorter = text;
      shorter.erase(begin, end - begin);
      EXPECT_THAT(error_of(shorter),
                  ::testing::HasSubstr(line.substr(0, equals) + ": missing key"));
      ++keys;
    }
    begin = text.find_first_not_of('\n', end);
  }
  EXPECT_GE(keys, 35);
}

TEST(Topology, RefreshStretchesBursts) {
  Topology t = default_topology();
  t.hbm.refresh_share = 0.2;
  EXPECT_EQ(t.hbm.burst_time(), 10 * kNanosecond);
  EXPECT_DOUBLE_EQ(t.hbm_bytes_per_second(), 8 * 256 / 10e-9);
}

TEST(Network, ReadsTheWordsOfTheCommandLine) {
  const NetworkTopology base = default_topology().network;
  EXPECT_EQ(parse_network("ring", 5, base).ranks, 5);
  EXPECT_EQ(parse_network("torus:3x4", 0, base).ranks, 12);
  EXPECT_EQ(parse_network("torus:3x4", 12, base).columns, 4);
  EXPECT_EQ(parse_network("fat_tree:4x3x2", 0, base).spines, 2);
  EXPECT_EQ(parse_network("switch", 5, base).link, base.link);
  for (const char* bad :
       {"", "star", "ring:4", "mesh", "mesh:4", "mesh:4x", "mesh:4x4x4", "mesh:x4", "mesh:0x4",
        "mesh:-1x4", "torus:4x4 ", "torus:2000x2", "torus:999x999", "fat_tree:2x2", "custom"}) {
    EXPECT_THROW(parse_network(bad, 0, base), UserError) << bad;
  }
  EXPECT_THROW(parse_network("ring", 1, base), UserError);
  EXPECT_THROW(parse_network("mesh:2x2", 5, base), UserError);
}

}  // namespace
}  // namespace assay::chip
