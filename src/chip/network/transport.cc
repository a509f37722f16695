// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/network/transport.h"

#include <array>

#include "base/error.h"
#include "base/names.h"
#include "chip/network/links.h"

namespace assay::chip {
namespace {

// Whole nanoseconds, as ASTRA-sim's network truncates them. It computes in doubles; so does this,
// in the same order, because a quotient that is a whole number may come out just below it.
class WholeNanoseconds {
 public:
  explicit WholeNanoseconds(const NetworkTopology& network)
      : bytes_per_ns_(static_cast<double>(network.link.per_second()) / 1e9),
        latency_ns_(to_ns(network.link_latency)) {}

  Time serialisation(std::int64_t bytes) const {
    return whole(static_cast<double>(bytes) / bytes_per_ns_);
  }
  Time message(std::int64_t bytes, double hops) const {
    return whole(hops * latency_ns_ + static_cast<double>(bytes) / bytes_per_ns_);
  }

 private:
  static Time whole(double ns) {
    if (ns * 1e3 >= static_cast<double>(kEndOfTime)) fail("a message takes too long: {} ns", ns);
    return static_cast<Time>(ns) * kNanosecond;
  }
  double bytes_per_ns_, latency_ns_;
};

class StoreAndForward final : public Transport {
 public:
  StoreAndForward(Simulator& simulator, const Fabric& fabric, const NetworkTopology& network,
                  Receiver& receiver)
      : simulator_(simulator),
        fabric_(fabric),
        links_(fabric.links().size()),
        time_(network),
        receiver_(receiver) {}

  std::optional<Time> send(MessageId message, Fabric::Node from, Fabric::Node to,
                           std::int64_t bytes) override {
    simulator_.start(carry(message, fabric_.route(from, to), bytes));
    return std::nullopt;
  }

 private:
  Process carry(MessageId message, std::vector<Fabric::LinkId> route, std::int64_t bytes) {
    const Time blocked = time_.serialisation(bytes), hop = time_.message(bytes, 1);
    for (const auto link : route) {
      co_await simulator_.until(links_.reserve(link, simulator_.now(), blocked) + hop);
    }
    receiver_.arrived(message);
  }

  Simulator& simulator_;
  const Fabric& fabric_;
  Links links_;
  WholeNanoseconds time_;
  Receiver& receiver_;
};

class Unaware final : public Transport {
 public:
  Unaware(Simulator& simulator, const Fabric& fabric, const NetworkTopology& network,
          Receiver& receiver)
      : simulator_(simulator), fabric_(fabric), time_(network), receiver_(receiver) {}

  std::optional<Time> send(MessageId message, Fabric::Node from, Fabric::Node to,
                           std::int64_t bytes) override {
    const auto hops = static_cast<double>(fabric_.route(from, to).size());
    simulator_.start(carry(message, time_.message(bytes, hops)));
    return std::nullopt;
  }

 private:
  Process carry(MessageId message, Time duration) {
    co_await simulator_.delay(duration);
    receiver_.arrived(message);
  }

  Simulator& simulator_;
  const Fabric& fabric_;
  WholeNanoseconds time_;
  Receiver& receiver_;
};

class CutThrough final : public Transport {
 public:
  CutThrough(Simulator& simulator, const Fabric& fabric, const NetworkTopology& network,
             Receiver& receiver)
      : simulator_(simulator),
        fabric_(fabric),
        links_(fabric.links().size()),
        rate_(network.link),
        latency_(network.link_latency),
        receiver_(receiver) {}

  std::optional<Time> send(MessageId message, Fabric::Node from, Fabric::Node to,
                           std::int64_t bytes) override {
    auto route = fabric_.route(from, to);
    const Time occupancy = rate_.duration(bytes);
    const Time start = links_.reserve(route.front(), simulator_.now(), occupancy);
    receiver_.crosses(message, start);
    simulator_.start(carry(message, std::move(route), start, occupancy));
    return start + occupancy;
  }

 private:
  // The first link is taken already, from `start` on.
  Process carry(MessageId message, std::vector<Fabric::LinkId> route, Time start, Time occupancy) {
    for (std::size_t hop = 1; hop < route.size(); ++hop) {
      co_await simulator_.until(start + latency_);
      start = links_.reserve(route[hop], simulator_.now(), occupancy);
      receiver_.crosses(message, start);
    }
    co_await simulator_.until(start + latency_ + occupancy);
    receiver_.arrived(message);
  }

  Simulator& simulator_;
  const Fabric& fabric_;
  Links links_;
  Rate rate_;
  Time latency_;
  Receiver& receiver_;
};

}  // namespace

constexpr auto kContentionNames =
    make_names<Contention>({{Contention::kAstra, "astra"},
                            {Contention::kAstraUnaware, "astra-unaware"},
                            {Contention::kFifo, "fifo"},
                            {Contention::kFluid, "fluid"}});

std::string_view name_of(Contention contention) { return kContentionNames[contention]; }

Contention parse_contention(std::string_view text) {
  if (const auto contention = kContentionNames.find(text)) return *contention;
  fail("expected a contention model astra, astra-unaware, fifo or fluid, got '{}'", text);
}

Time astra_link_time(const NetworkTopology& network, std::int64_t bytes) {
  return WholeNanoseconds(network).serialisation(bytes);
}

std::unique_ptr<Transport> make_transport(Contention contention, Simulator& simulator,
                                          const Fabric& fabric, const NetworkTopology& network,
                                          Receiver& receiver) {
  switch (contention) {
    case Contention::kAstra:
      return std::make_unique<StoreAndForward>(simulator, fabric, network, receiver);
    case Contention::kAstraUnaware:
      return std::make_unique<Unaware>(simulator, fabric, network, receiver);
    case Contention::kFifo:
      return std::make_unique<CutThrough>(simulator, fabric, network, receiver);
    case Contention::kFluid:
      return make_fluid_transport(simulator, fabric, network, receiver);
  }
  return nullptr;
}

}  // namespace assay::chip
