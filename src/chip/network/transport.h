// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What carries messages over a network, by the models of contention.h.

#include <cstdint>
#include <memory>
#include <optional>

#include "chip/kernel/simulator.h"
#include "chip/network/contention.h"
#include "chip/topology/fabric.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// How long a message of `bytes` keeps a link in `astra`: whole nanoseconds.
Time astra_link_time(const NetworkTopology& network, std::int64_t bytes);

// Is told that a message is there, tail and all. Called from within an event.
class Receiver {
 public:
  virtual void arrived(MessageId message) = 0;
  // Its last byte has left the sender. Called if send() could not say when that would be, and only
  // by models that can pace senders: not by the two of ASTRA-sim.
  virtual void left(MessageId /*message*/) {}
  // The message has been given its next link, from `start` on. Only `fifo` calls it.
  virtual void crosses(MessageId /*message*/, Time /*start*/) {}

 protected:
  ~Receiver() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Sends `bytes` >= 0 from one rank to another, now. Returns when the last byte has left the
  // sender, if that is known already.
  virtual std::optional<Time> send(MessageId message, Fabric::Node from, Fabric::Node to,
                                   std::int64_t bytes) = 0;
};

// The fabric, the simulator and the receiver must outlive it.
std::unique_ptr<Transport> make_transport(Contention contention, Simulator& simulator,
                                          const Fabric& fabric, const NetworkTopology& network,
                                          Receiver& receiver);

// The fluid model, which has a file of its own.
std::unique_ptr<Transport> make_fluid_transport(Simulator& simulator, const Fabric& fabric,
                                                const NetworkTopology& network, Receiver& receiver);

}  // namespace assay::chip
