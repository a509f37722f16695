// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/network/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::chip {
namespace {

using ::testing::ElementsAre;

// A line 0 - 1 - 2 - 3 with links of 1 GB/s (a byte a nanosecond) and 100 ns.
NetworkTopology line() {
  NetworkTopology network = parse_network("mesh:1x4", 0, default_topology().network);
  network.link = Rate(1'000'000'000);
  network.link_latency = 100 * kNanosecond;
  return network;
}

struct Sent {
  Time at;
  Fabric::Node from, to;
  std::int64_t bytes;
};

class Arrivals final : public Receiver {
 public:
  Arrivals(Simulator& simulator, std::size_t count) : simulator_(simulator), times(count, -1) {}
  void arrived(MessageId message) override {
    times[static_cast<std::size_t>(message)] = simulator_.now();
  }

 private:
  Simulator& simulator_;

 public:
  std::vector<Time> times;
};

Process post(Simulator& sim, Transport& transport, MessageId id, Sent sent) {
  co_await sim.until(sent.at);
  transport.send(id, sent.from, sent.to, sent.bytes);
}

// When each of the messages arrives.
std::vector<Time> arrivals(Contention contention, const std::vector<Sent>& messages,
                           const NetworkTopology& network = line()) {
  Simulator simulator;
  const Fabric fabric = Fabric::between_ranks(network);
  Arrivals receiver(simulator, messages.size());
  const auto transport = make_transport(contention, simulator, fabric, network, receiver);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    simulator.spawn(post(simulator, *transport, static_cast<MessageId>(i), messages[i]));
  }
  simulator.run();
  return receiver.times;
}

TEST(Transport, OneMessageByEachModel) {
  const std::vector<Sent> one = {{0, 0, 3, 1000}};
  EXPECT_THAT(arrivals(Contention::kFifo, one), ElementsAre((3 * 100 + 1000) * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kFluid, one), ElementsAre((3 * 100 + 1000) * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kAstraUnaware, one),
              ElementsAre((3 * 100 + 1000) * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kAstra, one), ElementsAre(3 * (100 + 1000) * kNanosecond));
}

TEST(Transport, AstraTruncatesToWholeNanoseconds) {
  NetworkTopology network = line();
  network.link = Rate(1'300'000'000);  // 10 bytes take 7.69 ns
  EXPECT_THAT(arrivals(Contention::kAstra, {{0, 0, 2, 10}, {0, 0, 1, 10}}, network),
              ElementsAre(2 * 107 * kNanosecond, (7 + 107) * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kAstraUnaware, {{0, 0, 2, 10}}, network),
              ElementsAre(207 * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kFifo, {{0, 0, 1, 10}}, network), ElementsAre(107'693));
}

TEST(Transport, QueuesFirstComeFirstServed) {
  // The second message reaches link 1-2 first: 50 + 400 against 100 + … of the first.
  const std::vector<Sent> two = {{0, 0, 2, 1000}, {50 * kNanosecond, 1, 2, 400}};
  // fifo: the second takes link 1-2 from 50 to 450; the first's head is there at 100 and goes at
  // 450.
  EXPECT_THAT(arrivals(Contention::kFifo, two),
              ElementsAre((450 + 100 + 1000) * kNanosecond, (50 + 100 + 400) * kNanosecond));
  // astra: the first is at 1 only at 1100, long after.
  EXPECT_THAT(arrivals(Contention::kAstra, two),
              ElementsAre(2200 * kNanosecond, 550 * kNanosecond));
  EXPECT_THAT(arrivals(Contention::kAstraUnaware, two),
              ElementsAre(1200 * kNanosecond, 550 * kNanosecond));
}

TEST(Transport, OppositeDirectionsDoNotMeet) {
  const std::vector<Sent> two = {{0, 1, 2, 500}, {0, 2, 1, 500}};
  EXPECT_THAT(arrivals(Contention::kFifo, two), ElementsAre(600 * kNanosecond, 600 * kNanosecond));
}

TEST(Transport, FluidSharesMaxMinFairly) {
  // Link 1-2 carries three flows, link 0-1 two: a third each on the first, and the flow that uses
  // only link 0-1 takes the two thirds that the long one leaves.
  const std::vector<Sent> four = {{0, 0, 2, 100}, {0, 0, 1, 200}, {0, 1, 2, 100}, {0, 1, 2, 100}};
  // Rates 1/3, 2/3, 1/3, 1/3: all have left after 300 ns, and cross one link or two.
  EXPECT_THAT(
      arrivals(Contention::kFluid, four),
      ElementsAre(500 * kNanosecond, 400 * kNanosecond, 400 * kNanosecond, 400 * kNanosecond));
}

TEST(Transport, FluidGivesBackWhatIsFree) {
  // Two flows share a link; when the short one is done, the long one has it all.
  EXPECT_THAT(arrivals(Contention::kFluid, {{0, 0, 1, 300}, {0, 0, 1, 100}}),
              ElementsAre((100 + 400) * kNanosecond, (100 + 200) * kNanosecond));
  // One enters later: alone for 50 ns, shared, alone again.
  EXPECT_THAT(arrivals(Contention::kFluid, {{0, 0, 1, 100}, {50 * kNanosecond, 0, 1, 100}}),
              ElementsAre((100 + 150) * kNanosecond, (100 + 200) * kNanosecond));
}

TEST(Transport, EmptyMessagesTakeTheLatency) {
  for (const auto contention : {Contention::kFifo, Contention::kFluid, Contention::kAstraUnaware}) {
    EXPECT_THAT(arrivals(contention, {{0, 0, 2, 0}}), ElementsAre(200 * kNanosecond));
  }
}

TEST(Transport, SlowNetworksAreRefusedNotWrapped) {
  NetworkTopology network = line();
  network.link = Rate(1);
  for (const auto contention : {Contention::kFifo, Contention::kFluid, Contention::kAstra}) {
    EXPECT_THROW(arrivals(contention, {{0, 0, 1, std::int64_t{1} << 40}}, network), UserError);
  }
}

}  // namespace
}  // namespace assay::chip
