// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The astra modes against runs of ASTRA-sim's analytical network and against its formulas.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "chip/collective.h"

namespace assay::chip {
namespace {

// The network of the reference: 50 GiB/s, 500 ns, endpoint delay 10 ns, memory free of cost.
Topology reference_network(std::string_view name, std::int64_t ranks) {
  const std::string_view kind = name == "Ring"             ? "ring"
                                : name == "Switch"         ? "switch"
                                : name == "FullyConnected" ? "fully_connected"
                                                           : name;
  Topology topology = default_topology();
  topology.network = parse_network(kind, ranks, topology.network);
  topology.network.link = Rate(std::int64_t{50} << 30);
  topology.network.link_latency = 500 * kNanosecond;
  topology.network.endpoint = 10 * kNanosecond;
  topology.network.memory.reset();
  return topology;
}

Algorithm reference_algorithm(std::string_view name) {
  return name == "halvingDoubling"    ? Algorithm::kHalvingDoubling
         : name == "doubleBinaryTree" ? Algorithm::kDoubleBinaryTree
                                      : parse_algorithm(name);
}

struct ReferenceRow {
  std::string collective, algorithm, topology;
  std::int64_t ranks, bytes, splits, aware_ns, unaware_ns;
};

void expect_reference(const ReferenceRow& row) {
  const Topology topology = reference_network(row.topology, row.ranks);
  CollectiveOptions options{.collective = parse_collective(row.collective),
                            .algorithm = reference_algorithm(row.algorithm),
                            .bytes = row.bytes,
                            .contention = Contention::kAstra,
                            .splits = row.splits};
  const std::string what =
      row.collective + " " + row.algorithm + " " + row.topology + " " + std::to_string(row.ranks);
  EXPECT_EQ(simulate_collective(options, topology).time, row.aware_ns * kNanosecond) << what;
  options.contention = Contention::kAstraUnaware;
  EXPECT_EQ(simulate_collective(options, topology).time, row.unaware_ns * kNanosecond) << what;
}

TEST(Astra, EqualsTheReferenceToTheNanosecond) {
  // One row for every way in which the reference's answers arise; the whole file is read below.
  const ReferenceRow rows[] = {
      {"all_reduce", "ring", "Ring", 4, 1048576, 1, 32362, 32362},
      {"all_reduce", "ring", "Switch", 4, 1048576, 1, 64654, 35362},
      {"all_reduce", "halvingDoubling", "Ring", 8, 1048576, 1, 65656, 41246},
      {"all_reduce", "halvingDoubling", "Switch", 16, 1048576, 1, 81322, 44706},
      {"all_reduce", "doubleBinaryTree", "Ring", 8, 1048576, 1, 280504, 124256},
      {"all_reduce", "doubleBinaryTree", "Switch", 16, 1048576, 1, 437772, 164338},
      {"all_reduce", "direct", "Ring", 16, 1048576, 1, 89870, 10470},
      {"all_reduce", "direct", "FullyConnected", 16, 1048576, 1, 3470, 3470},
      {"all_reduce", "direct", "Switch", 16, 1048576, 1, 41070, 4470},
      {"all_gather", "ring", "Switch", 16, 1048576, 1, 601090, 308125},
      {"all_gather", "halvingDoubling", "Ring", 16, 1048576, 1, 632546, 300518},
      {"all_gather", "direct", "Ring", 8, 1048576, 1, 196330, 21551},
      {"reduce_scatter", "halvingDoubling", "Ring", 16, 1048576, 1, 46603, 25858},
      {"reduce_scatter", "direct", "Ring", 16, 1048576, 1, 44940, 5240},
      {"all_to_all", "ring", "Switch", 16, 1048576, 1, 414010, 267610},
      {"all_to_all", "direct", "Ring", 16, 1048576, 1, 44940, 5240},
  };
  for (const auto& row : rows) expect_reference(row);
}

TEST(Astra, EqualsTheWholeReferenceFile) {
  namespace fs = std::filesystem;
  const char* set = std::getenv("ASSAY_SHARED_DATA");
  const fs::path data = set != nullptr ? fs::path(set) : fs::path(ASSAY_SHARED_DATA_DEFAULT);
  const fs::path file = data / "chip" / "collective_reference.csv";
  if (!fs::exists(file)) {
    GTEST_SKIP() << "no file " << file << ": set ASSAY_SHARED_DATA to the folder that holds "
                 << "chip/collective_reference.csv. Representative rows are checked above.";
  }
  std::string text = read_file(file.string());
  std::erase(text, '\r');
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  ASSERT_EQ(line,
            "collective,algorithm,topology,npus,bytes_per_collective_arg,link_GiBps,link_ns,"
            "endpoint_ns,splits,congestion_aware_ns,congestion_unaware_ns");
  int rows = 0;
  while (std::getline(lines, line)) {
    std::vector<std::string> cell;
    std::istringstream cells(line);
    for (std::string word; std::getline(cells, word, ',');) cell.push_back(word);
    ASSERT_EQ(cell.size(), 11u) << line;
    ASSERT_EQ(cell[5] + "," + cell[6] + "," + cell[7], "50,500,10");
    expect_reference({cell[0], cell[1], cell[2], std::stoll(cell[3]), std::stoll(cell[4]),
                      std::stoll(cell[8]), std::stoll(cell[9]), std::stoll(cell[10])});
    ++rows;
  }
  EXPECT_GE(rows, 60);
}

TEST(Astra, FourSplitsRunOneAfterAnother) {
  // T = k [(2p-1) e + 2(p-1) floor(L + m/B) + 3(p-1) floor(m/B_mem)], m = n/(p k).
  Topology topology = reference_network("Ring", 8);
  topology.network.memory = Rate(50'000'000'000);
  const CollectiveResult result = simulate_collective(
      {.bytes = 1 << 20, .contention = Contention::kAstra, .splits = 4}, topology);
  EXPECT_EQ(result.time, 117'780 * kNanosecond);
}

TEST(Astra, EqualsItsFormulas) {
  // e endpoint, L latency, B bandwidth, h hops, all truncated to whole nanoseconds a message.
  const auto message_ns = [](std::int64_t bytes, int hops) {
    return static_cast<std::int64_t>(hops * 500.0 +
                                     static_cast<double>(bytes) / (50.0 * (1 << 30) / 1e9));
  };
  const auto time_ns = [](Algorithm algorithm, const char* network, std::int64_t p,
                          std::int64_t bytes, std::int64_t splits) {
    return simulate_collective({.algorithm = algorithm,
                                .bytes = bytes,
                                .contention = Contention::kAstra,
                                .splits = splits},
                               reference_network(network, p))
               .time /
           kNanosecond;
  };
  constexpr std::int64_t e = 10;
  for (const std::int64_t p : {2, 4, 8, 16}) {
    const std::int64_t log2p = p == 2 ? 1 : p == 4 ? 2 : p == 8 ? 3 : 4;
    for (const std::int64_t bytes : {1024, 65'536, 3 * 1'048'576, 50'331'648}) {
      for (const std::int64_t k : {1, 2, 4}) {
        const std::int64_t m = bytes / (p * k);
        EXPECT_EQ(time_ns(Algorithm::kRing, "Ring", p, bytes, k),
                  k * ((2 * p - 1) * e + 2 * (p - 1) * message_ns(m, 1)));
        EXPECT_EQ(time_ns(Algorithm::kDirect, "FullyConnected", p, bytes, k),
                  k * (3 * e + 2 * message_ns(m, 1)));
      }
      // Several splits overlap in a tree: leaves are through before the root is.
      EXPECT_EQ(time_ns(Algorithm::kDoubleBinaryTree, "FullyConnected", p, bytes, 1),
                (2 * log2p + 1) * e + 2 * log2p * message_ns(bytes, 1));
    }
  }
}

TEST(Astra, DirectLetsSendsGoAsMessagesAreTakenIn) {
  // 4 ranks on a switch, 64 B messages: 1 ns of each link, 501 ns a hop. The three messages of the
  // first phase arrive at 1012, 1013 and 1014 ns and are taken in 10 ns later. All had arrived by
  // 1014, so sends go at 1022, 1023 and 1024, arrive 1002 ns later, and the last is taken in at
  // 2036.
  const CollectiveResult result = simulate_collective(
      {.algorithm = Algorithm::kDirect, .bytes = 256, .contention = Contention::kAstra},
      reference_network("Switch", 4));
  EXPECT_EQ(result.time, 2036 * kNanosecond);
}

}  // namespace
}  // namespace assay::chip
