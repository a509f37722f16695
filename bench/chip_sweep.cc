// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How long the chip suite's default sweep takes: matrix products over shapes, variants and numbers
// of processing elements; all-reduce over sizes, algorithms, networks and ranks; buffer depths.
// Built with the rest, run by hand:
//
//   build/bench/chip_sweep [THREADS]

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "chip/collective.h"
#include "chip/simulate.h"

namespace {

using namespace assay::chip;

using Point = std::function<std::uint64_t()>;  // simulates, returns its events

void add_gemm(std::vector<Point>& points) {
  for (const GemmShape shape : {GemmShape{16, 16, 16},
                                {32, 64, 32},
                                {32, 3072, 32},
                                {100, 130, 70},
                                {128, 128, 128},
                                {256, 256, 256},
                                {512, 512, 512},
                                {1024, 1024, 256}}) {
    for (const auto variant : {Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad}) {
      for (const std::int64_t side : {1, 2, 4}) {
        points.push_back([=] {
          Topology topology = default_topology();
          topology.pe.rows = topology.pe.columns = side;
          return simulate_gemm({.shape = shape, .variant = variant}, topology).events;
        });
      }
    }
  }
}

void add_all_reduce(std::vector<Point>& points) {
  for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2) {
    for (const auto algorithm : {Algorithm::kRing, Algorithm::kHalvingDoubling,
                                 Algorithm::kDoubleBinaryTree, Algorithm::kDirect}) {
      for (const std::int64_t ranks : {4, 8, 16}) {
        const char* torus = ranks == 4 ? "torus:2x2" : ranks == 8 ? "torus:2x4" : "torus:4x4";
        for (const char* network : {"ring", torus, "switch", "fully_connected"}) {
          points.push_back([=] {
            Topology topology = default_topology();
            topology.network = parse_network(network, ranks, topology.network);
            return simulate_collective({.algorithm = algorithm, .bytes = bytes}, topology).events;
          });
        }
      }
    }
  }
}

void add_buffers(std::vector<Point>& points) {
  for (std::int64_t depth = 1; depth <= 8; ++depth) {
    points.push_back([=] {
      Topology topology = default_topology();
      topology.pe.buffer_depth = depth;
      return simulate_gemm({.shape = {512, 512, 512}}, topology).events;
    });
  }
}

void run(const char* name, const std::vector<Point>& points, unsigned threads) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> events = 0;
  const auto begin = assay::monotonic_ns();
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < threads; ++w) {
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < points.size(); i = next++) events += points[i]();
    });
  }
  for (auto& worker : workers) worker.join();
  const double seconds = static_cast<double>(assay::monotonic_ns() - begin) / 1e9;
  fmt::print("{:14} {:5} points {:12} events {:8.3f} s\n", name, points.size(), events.load(),
             seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = static_cast<unsigned>(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  std::vector<Point> gemm, all_reduce, buffers;
  add_gemm(gemm);
  add_all_reduce(all_reduce);
  add_buffers(buffers);
  run("chip_gemm", gemm, threads);
  run("chip_allreduce", all_reduce, threads);
  run("chip_buffers", buffers, threads);
}
