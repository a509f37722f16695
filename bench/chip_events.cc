// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How many events per second the chip kernel runs on one core. An event is one pop of the queue; no
// op log is kept. Built with the rest, run by hand:
//
//   build/bench/chip_events [PROCESSES] [EVENTS]
//
// `delay`: processes that only wait, each for a pseudo-random time of its own: queue and coroutine
// switch, nothing else. `credits`: processes that also share resources, so that a part of the
// wake-ups comes from releases.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "chip/kernel/simulator.h"
#include "chip/kernel/sync.h"

namespace {

using namespace assay::chip;

// A multiplicative generator inside the process: the benchmark must not measure its random numbers.
Process waits(Simulator& sim, std::uint64_t seed, std::int64_t events) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::int64_t i = 0; i < events; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    co_await sim.delay(static_cast<Time>(state >> 54) + 1);
  }
}

Process shares(Simulator& sim, Credits& credits, std::uint64_t seed, std::int64_t rounds) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::int64_t i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const Lease lease = co_await credits.acquire();
    co_await sim.delay(static_cast<Time>(state >> 54) + 1);
  }
}

template <typename Setup>
void measure(const char* name, int processes, Setup setup) {
  std::vector<double> rates;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Simulator sim;
    std::vector<std::unique_ptr<Credits>> credits;
    setup(sim, credits);
    const auto begin = assay::monotonic_ns();
    const RunOutcome outcome = sim.run();
    const auto end = assay::monotonic_ns();
    rates.push_back(static_cast<double>(outcome.events) * 1e3 / static_cast<double>(end - begin));
  }
  std::sort(rates.begin(), rates.end());
  fmt::print("{:8} {:5} processes: {:6.1f} M events/s (median of {}; {:.1f} to {:.1f})\n", name,
             processes, rates[rates.size() / 2], rates.size(), rates.front(), rates.back());
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 64;
  const std::int64_t events = argc > 2 ? std::atoll(argv[2]) : 10'000'000;
  measure("delay", processes, [&](Simulator& sim, auto&) {
    for (int p = 0; p < processes; ++p) {
      sim.spawn(waits(sim, static_cast<std::uint64_t>(p), events / processes));
    }
  });
  measure("credits", processes, [&](Simulator& sim, auto& credits) {
    for (int group = 0; group < (processes + 3) / 4; ++group) {
      credits.push_back(std::make_unique<Credits>(sim, 3));
    }
    for (int p = 0; p < processes; ++p) {
      sim.spawn(shares(sim, *credits[static_cast<std::size_t>(p) / 4],
                       static_cast<std::uint64_t>(p), events / processes));
    }
  });
}
