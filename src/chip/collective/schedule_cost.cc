// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/schedule_cost.h"

#include <algorithm>

#include "base/error.h"
#include "chip/collective/message_table.h"
#include "chip/topology/fabric.h"

namespace assay::chip {
namespace {

// What messages cost, in seconds.
struct Costs {
  double latency;   // of a link
  double endpoint;  // of a message that is taken in
  double beta;      // per element sent
  double gamma;     // per element added
};

// Lets every program run on as soon as what it waits for is there; each message is alone.
class LongestChain {
 public:
  LongestChain(const Schedule& schedule, const MessageTable& table, const Fabric& fabric,
               const Costs& costs)
      : schedule_(schedule),
        table_(table),
        fabric_(fabric),
        costs_(costs),
        arrived_(table.messages.size(), -1),
        waiting_(table.messages.size(), kNobody),
        runs_(schedule.programs.size()) {}

  double seconds() {
    for (std::size_t p = 0; p < runs_.size(); ++p) ready_.push_back(p);
    while (!ready_.empty()) {
      const std::size_t p = ready_.back();
      ready_.pop_back();
      advance(p);
    }
    double last = 0;
    for (std::size_t p = 0; p < runs_.size(); ++p) {
      if (runs_[p].stage < schedule_.programs[p].stages.size()) {
        fail("rank {} waits forever", schedule_.programs[p].rank);
      }
      last = std::max(last, runs_[p].now);
    }
    return last;
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  struct Run {
    std::size_t stage = 0, next_send = 0, next_receive = 0;
    bool has_sent = false;
    double now = 0, left = 0;
  };

  void advance(std::size_t p) {
    const Program& program = schedule_.programs[p];
    Run& run = runs_[p];
    for (; run.stage < program.stages.size(); ++run.stage) {
      const StagePlan& stage = program.stages[run.stage];
      if (!run.has_sent) send(program, stage, table_.programs[p].sends, run);
      const auto receives =
          std::span(table_.programs[p].receives).subspan(run.next_receive, stage.receives.size());
      for (const MessageId id : receives) {
        if (id != kNoMessage && arrived_[static_cast<std::size_t>(id)] >= 0) continue;
        if (id != kNoMessage) waiting_[static_cast<std::size_t>(id)] = p;
        return;
      }
      take_in(stage, receives, run);
      if (program.paced) run.now = std::max(run.now, run.left);
      run.has_sent = false;
    }
  }

  void send(const Program& program, const StagePlan& stage, const std::vector<MessageId>& ids,
            Run& run) {
    run.has_sent = true;
    run.left = run.now;
    for (const Transfer& transfer : stage.sends) {
      const auto id = static_cast<std::size_t>(ids[run.next_send++]);
      const double wire = static_cast<double>(table_.messages[id].elements) * costs_.beta;
      const auto hops = static_cast<double>(fabric_.route(program.rank, transfer.peer).size());
      arrived_[id] = run.now + hops * costs_.latency + wire;
      run.left = std::max(run.left, run.now + wire);
      if (waiting_[id] != kNobody) ready_.push_back(waiting_[id]);
    }
  }

  // Messages are added one after another, in the order of their arrival.
  void take_in(const StagePlan& stage, std::span<const MessageId> ids, Run& run) {
    std::vector<std::pair<double, double>> arrivals;  // when it may be added, and for how long
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto id = static_cast<std::size_t>(ids[i]);
      const auto elements = static_cast<double>(table_.messages[id].elements);
      arrivals.emplace_back(std::max(run.now, arrived_[id]) + costs_.endpoint,
                            stage.receives[i].adds ? elements * costs_.gamma : 0);
    }
    std::ranges::sort(arrivals);
    for (const auto& [ready, adding] : arrivals) run.now = std::max(run.now, ready) + adding;
    run.next_receive += ids.size();
  }

  const Schedule& schedule_;
  const MessageTable& table_;
  const Fabric& fabric_;
  const Costs& costs_;
  std::vector<double> arrived_;
  std::vector<std::size_t> waiting_;  // the program that awaits each message
  std::vector<Run> runs_;
  std::vector<std::size_t> ready_;
};

}  // namespace

std::vector<std::int64_t> link_loads(const Schedule& schedule, const Fabric& fabric) {
  std::vector<std::int64_t> loads(fabric.links().size(), 0);
  for (const Program& program : schedule.programs) {
    for (const StagePlan& stage : program.stages) {
      for (const Transfer& transfer : stage.sends) {
        const std::int64_t elements = schedule.elements_of(transfer);
        for (const auto link : fabric.route(program.rank, transfer.peer)) {
          loads[static_cast<std::size_t>(link)] += elements;
        }
      }
    }
  }
  return loads;
}

double schedule_cost(const Schedule& schedule, std::int64_t element_bytes,
                     const NetworkTopology& network, const Fabric& fabric) {
  const MessageTable table = match_messages(schedule);
  const auto element = static_cast<double>(element_bytes);
  Costs costs{to_seconds(network.link_latency), to_seconds(network.endpoint),
              element / static_cast<double>(network.link.per_second()),
              network.memory ? 3 * element / static_cast<double>(network.memory->per_second()) : 0};
  const double chain = LongestChain(schedule, table, fabric, costs).seconds();
  const double load =
      static_cast<double>(std::ranges::max(link_loads(schedule, fabric))) * costs.beta;
  costs.beta = 0;
  return std::max(chain, LongestChain(schedule, table, fabric, costs).seconds() + load);
}

}  // namespace assay::chip
