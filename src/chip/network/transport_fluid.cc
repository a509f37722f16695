// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Messages as fluids: each flows at one rate along its whole route from when it is sent, and is
// there when its last byte has left and crossed the links. Rates are max-min fair, so that
// no flow can have more without taking from one that has no more than it. Rates change only when a
// flow starts or ends. Amounts are doubles; an end is rounded up to a picosecond, with a tolerance
// of a millionth of one so that exact quotients stay exact.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "chip/network/transport.h"

namespace assay::chip {
namespace {

class Fluid final : public Transport {
 public:
  Fluid(Simulator& simulator, const Fabric& fabric, const NetworkTopology& network,
        Receiver& receiver)
      : simulator_(simulator),
        fabric_(fabric),
        bytes_per_ps_(static_cast<double>(network.link.per_second()) /
                      static_cast<double>(kSecond)),
        latency_(network.link_latency),
        receiver_(receiver),
        capacity_(fabric.links().size()),
        crossing_(fabric.links().size()) {}

  std::optional<Time> send(MessageId message, Fabric::Node from, Fabric::Node to,
                           std::int64_t bytes) override {
    advance();
    flows_.push_back({message, fabric_.route(from, to), static_cast<double>(bytes), 0});
    request_sharing();
    return std::nullopt;
  }

 private:
  struct Flow {
    MessageId message;
    std::vector<Fabric::LinkId> route;
    double left;  // bytes
    double rate;  // bytes per picosecond
  };

  // The last byte crosses the links.
  Process deliver(MessageId message, std::size_t hops) {
    co_await simulator_.delay(static_cast<Time>(hops) * latency_);
    receiver_.arrived(message);
  }

  // Many flows start and end at one instant: rates are found once, after all of them.
  void request_sharing() {
    if (sharing_requested_) return;
    sharing_requested_ = true;
    simulator_.start(share());
  }

  Process share() {
    co_await simulator_.delay(0, Priority::kLate);
    sharing_requested_ = false;
    find_rates();
    double first = std::numeric_limits<double>::infinity();
    for (const Flow& flow : flows_) first = std::min(first, flow.left / flow.rate);
    if (flows_.empty()) co_return;
    constexpr double kTolerance = 1e-6;
    if (first >= static_cast<double>(kEndOfTime)) fail("a message takes too long: {} ps", first);
    const Time duration = static_cast<Time>(std::ceil(std::max(0.0, first - kTolerance)));
    const std::uint64_t version = ++version_;
    co_await simulator_.delay(duration);
    if (version != version_) co_return;  // rates have changed since
    advance();
    finish();
  }

  // Lets the flows run from the last change to now.
  void advance() {
    const auto elapsed = static_cast<double>(simulator_.now() - updated_);
    for (Flow& flow : flows_) flow.left -= flow.rate * elapsed;
    updated_ = simulator_.now();
  }

  void finish() {
    // Less than what flows in a thousandth of a picosecond is rounding.
    std::vector<std::pair<MessageId, std::size_t>> done;
    std::erase_if(flows_, [&](const Flow& flow) {
      if (flow.left > flow.rate * 1e-3) return false;
      done.emplace_back(flow.message, flow.route.size());
      return true;
    });
    request_sharing();
    for (const auto& [message, hops] : done) {
      receiver_.left(message);
      simulator_.start(deliver(message, hops));
    }
  }

  // Progressive filling: the link that gives its flows least fixes their rates; repeat with the
  // rest.
  void find_rates() {
    std::fill(capacity_.begin(), capacity_.end(), bytes_per_ps_);
    std::fill(crossing_.begin(), crossing_.end(), 0);
    for (Flow& flow : flows_) {
      flow.rate = -1;
      for (const auto link : flow.route) ++crossing_[static_cast<std::size_t>(link)];
    }
    for (std::size_t open = flows_.size(); open > 0;) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t link = 0; link < capacity_.size(); ++link) {
        if (crossing_[link] > 0) {
          least = std::min(least, capacity_[link] / static_cast<double>(crossing_[link]));
        }
      }
      // All flows over a link that offers no more than this (up to rounding) are settled.
      const double settled = least * (1 + 1e-12);
      const auto tight = [&](Fabric::LinkId id) {
        const auto link = static_cast<std::size_t>(id);
        return crossing_[link] > 0 &&
               capacity_[link] / static_cast<double>(crossing_[link]) <= settled;
      };
      settle_.clear();
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (flows_[f].rate < 0 &&
            std::any_of(flows_[f].route.begin(), flows_[f].route.end(), tight)) {
          settle_.push_back(f);
        }
      }
      for (const std::size_t f : settle_) {
        flows_[f].rate = least;
        for (const auto id : flows_[f].route) {
          const auto link = static_cast<std::size_t>(id);
          capacity_[link] = std::max(0.0, capacity_[link] - least);
          --crossing_[link];
        }
      }
      check(!settle_.empty(), "some link is the tightest");
      open -= settle_.size();
    }
  }

  Simulator& simulator_;
  const Fabric& fabric_;
  double bytes_per_ps_;
  Time latency_;
  Receiver& receiver_;
  std::vector<Flow> flows_;
  Time updated_ = 0;
  std::uint64_t version_ = 0;
  bool sharing_requested_ = false;
  std::vector<double> capacity_;
  std::vector<std::int64_t> crossing_;
  std::vector<std::size_t> settle_;
};

}  // namespace

std::unique_ptr<Transport> make_fluid_transport(Simulator& simulator, const Fabric& fabric,
                                                const NetworkTopology& network,
                                                Receiver& receiver) {
  return std::make_unique<Fluid>(simulator, fabric, network, receiver);
}

}  // namespace assay::chip
