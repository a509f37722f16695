// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/collective_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "chip/collective/message_table.h"
#include "chip/collective/payload.h"
#include "chip/network/transport.h"

namespace assay::chip {
namespace {

class Runner final : public Receiver {
 public:
  Runner(const std::vector<Schedule>& schedules, const NetworkTopology& network,
         const CollectiveRunOptions& options)
      : network_(network),
        options_(options),
        as_astra_(options.contention == Contention::kAstra ||
                  options.contention == Contention::kAstraUnaware),
        fabric_(Fabric::between_ranks(network)),
        transport_(make_transport(options.contention, simulator_, fabric_, network, *this)),
        ranks_(static_cast<std::size_t>(network.ranks)) {
    for (const Schedule& schedule : schedules) add_split(schedule);
  }

  CollectiveRunResult run() {
    for (std::int32_t rank = 0; rank < network_.ranks; ++rank) start_split(rank, 0);
    const RunOutcome outcome = simulator_.run();
    if (finished_ < programs_.size()) report_deadlock();
    CollectiveRunResult result;
    result.time = end_;
    result.events = outcome.events;
    result.messages = std::move(log_);
    if (options_.payload) collect(result);
    return result;
  }

 private:
  struct ProgramRun {
    const Schedule* schedule;
    const Program* program;
    ProgramMessages messages;  // ids over all splits
    std::size_t split;
    bool started = false, finished = false;
    // While it awaits the receives of a stage:
    std::span<const MessageId> awaited;
    std::span<const Transfer> awaited_transfers;
    std::int64_t missing = 0;
    Time stage_start = 0;
    std::size_t sends_next = 0;  // of the stage after
    std::coroutine_handle<> handle;
    // Messages of the stage of which the network will tell when they have left, and who waits.
    std::int64_t leaving = 0;
    std::coroutine_handle<> pacer;
    // In astra mode: when each send of the next stage may go, if there is one per receive.
    std::vector<Time> releases;
  };

  struct Message {
    MessageTable::Entry entry;
    ProgramRun* waiting = nullptr;
    ProgramRun* paces = nullptr;  // the sender, until it has left
    Time arrived_at = -1;
    MessageId log = kNoMessage;  // position in the log
    std::vector<double> values;
  };

  struct Split {
    std::unique_ptr<Payload> payload;
    std::vector<std::vector<ProgramRun*>> by_rank;
  };

  struct RankState {
    std::size_t running = 0;  // programs of the current split
    Time adding_until = 0;    // its memory is busy adding
  };

  void add_split(const Schedule& schedule) {
    check(schedule.ranks == network_.ranks, "a schedule is for the ranks of its network");
    MessageTable table = match_messages(schedule);
    const auto first = static_cast<MessageId>(messages_.size());
    Split split;
    split.by_rank.resize(ranks_.size());
    for (auto& entry : table.messages)
      messages_.push_back({entry, nullptr, nullptr, -1, kNoMessage, {}});
    for (std::size_t p = 0; p < schedule.programs.size(); ++p) {
      auto run = std::make_unique<ProgramRun>();
      run->schedule = &schedule;
      run->program = &schedule.programs[p];
      run->messages = std::move(table.programs[p]);
      run->split = splits_.size();
      for (auto* ids : {&run->messages.sends, &run->messages.receives}) {
        for (auto& id : *ids) id = id == kNoMessage ? id : id + first;
      }
      split.by_rank[static_cast<std::size_t>(run->program->rank)].push_back(run.get());
      programs_.push_back(std::move(run));
    }
    if (options_.payload) {
      split.payload = std::make_unique<Payload>(schedule, options_.seed, options_.every_element);
    }
    splits_.push_back(std::move(split));
  }

  void start_split(std::int32_t rank, std::size_t split) {
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    for (; split < splits_.size() && state.running == 0; ++split) {
      for (ProgramRun* run : splits_[split].by_rank[static_cast<std::size_t>(rank)]) {
        ++state.running;
        simulator_.spawn(execute(*run));
      }
    }
  }

  // The life of one program.
  Process execute(ProgramRun& run) {
    run.started = true;
    std::size_t next_send = 0, next_receive = 0;
    const auto& stages = run.program->stages;
    if (!stages.front().sends.empty() && network_.endpoint > 0) {
      co_await simulator_.delay(network_.endpoint);
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const StagePlan& stage = stages[i];
      Time left = 0;  // when the last send has left the rank
      const bool staggered = run.releases.size() == stage.sends.size();
      for (std::size_t s = 0; s < stage.sends.size(); ++s) {
        if (staggered && run.releases[s] > simulator_.now()) {
          co_await simulator_.until(run.releases[s]);
        }
        left = std::max(left, post(run, stage.sends[s], run.messages.sends[next_send++]));
      }
      if (!stage.receives.empty()) {
        run.awaited = std::span(run.messages.receives).subspan(next_receive, stage.receives.size());
        run.awaited_transfers = stage.receives;
        run.sends_next = i + 1 < stages.size() ? stages[i + 1].sends.size() : 0;
        next_receive += stage.receives.size();
        co_await AllReceived{*this, run};
        take_in(run);
      }
      if (run.program->paced && left > simulator_.now()) co_await simulator_.until(left);
      if (run.leaving > 0) co_await AllLeft{run};
    }
    run.finished = true;
    ++finished_;
    end_ = std::max(end_, simulator_.now());
    RankState& state = ranks_[static_cast<std::size_t>(run.program->rank)];
    if (--state.running == 0) start_split(run.program->rank, run.split + 1);
  }

  // Hands a message to the network; returns when it has left, 0 if that is not known.
  Time post(ProgramRun& run, const Transfer& transfer, MessageId id) {
    Message& message = messages_[static_cast<std::size_t>(id)];
    const std::int32_t rank = run.program->rank;
    const std::int64_t bytes = message.entry.elements * options_.element_bytes;
    if (options_.payload) {
      message.values = splits_[run.split].payload->pick_up(rank, run.schedule->ranges_of(transfer));
    }
    message.log = static_cast<MessageId>(log_.size());
    log_.push_back({message.log, rank, transfer.peer, static_cast<std::int32_t>(run.split),
                    static_cast<std::int32_t>(fabric_.route(rank, transfer.peer).size()), bytes,
                    simulator_.now(), 0, message.entry.receive->adds});
    if (options_.detail) {
      const auto ranges = run.schedule->ranges_of(transfer);
      log_.back().ranges.assign(ranges.begin(), ranges.end());
    }
    const auto leaves = transport_->send(id, rank, transfer.peer, bytes);
    if (!leaves && run.program->paced && !as_astra_) {
      messages_[static_cast<std::size_t>(id)].paces = &run;
      ++run.leaving;
    }
    return leaves.value_or(0);
  }

  void left(MessageId id) override {
    ProgramRun* const run = std::exchange(messages_[static_cast<std::size_t>(id)].paces, nullptr);
    if (run == nullptr || --run->leaving > 0 || !run->pacer) return;
    simulator_.schedule(simulator_.now(), std::exchange(run->pacer, nullptr));
  }

  struct AllLeft {
    ProgramRun& run;
    bool await_ready() const noexcept { return run.leaving == 0; }
    void await_suspend(std::coroutine_handle<> handle) const { run.pacer = handle; }
    void await_resume() const noexcept {}
  };

  void arrived(MessageId id) override {
    Message& message = messages_[static_cast<std::size_t>(id)];
    message.arrived_at = simulator_.now();
    log_[static_cast<std::size_t>(message.log)].t_arrived = simulator_.now();
    if (message.waiting != nullptr && --message.waiting->missing == 0) resume(*message.waiting);
  }

  void crosses(MessageId id, Time start) override {
    if (!options_.detail) return;
    log_[static_cast<std::size_t>(messages_[static_cast<std::size_t>(id)].log)].starts.push_back(
        start);
  }

  struct AllReceived {
    Runner& runner;
    ProgramRun& run;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      run.handle = handle;
      run.stage_start = runner.simulator_.now();
      run.missing = 0;
      for (const MessageId id : run.awaited) {
        if (id != kNoMessage) {
          Message& message = runner.messages_[static_cast<std::size_t>(id)];
          if (message.arrived_at >= 0) continue;
          message.waiting = &run;
        }
        ++run.missing;  // a message that nobody sends is missing forever
      }
      if (run.missing == 0) runner.resume(run);
    }
    void await_resume() const noexcept {}
  };

  // All messages of the stage are there: the program goes on when they have been taken in.
  void resume(ProgramRun& run) {
    RankState& state = ranks_[static_cast<std::size_t>(run.program->rank)];
    struct Arrival {
      Time ready;
      std::int64_t bytes;
      bool adds;
    };
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < run.awaited.size(); ++i) {
      const Message& m = messages_[static_cast<std::size_t>(run.awaited[i])];
      arrivals.push_back({std::max(m.arrived_at, run.stage_start) + network_.endpoint,
                          m.entry.elements * options_.element_bytes,
                          run.awaited_transfers[i].adds});
    }
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Arrival& a, const Arrival& b) { return a.ready < b.ready; });
    run.releases.clear();
    if (as_astra_) {
      // Each message is taken in by itself. A stage with one send per receive lets a send go for
      // every message taken in, once all have arrived.
      for (Arrival& a : arrivals) {
        if (a.adds) a.ready += 3 * whole_ns_of_memory(a.bytes);
        run.releases.push_back(a.ready);
      }
      std::sort(run.releases.begin(), run.releases.end());
      const Time first =
          *std::lower_bound(run.releases.begin(), run.releases.end(), simulator_.now());
      for (Time& release : run.releases) release = std::max(release, first);
      const bool staggers = arrivals.size() > 1 && run.sends_next == arrivals.size();
      const Time wake = staggers ? first : run.releases.back();
      if (!staggers) run.releases.clear();
      simulator_.schedule(wake, run.handle);
      return;
    }
    Time done = 0;
    for (const Arrival& a : arrivals) {
      if (a.adds) {
        state.adding_until = std::max(state.adding_until, a.ready) + network_.reduce_time(a.bytes);
        done = std::max(done, state.adding_until);
      }
      done = std::max(done, a.ready);
    }
    simulator_.schedule(done, run.handle);
  }

  Time whole_ns_of_memory(std::int64_t bytes) const {
    if (!network_.memory) return 0;
    const double ns =
        static_cast<double>(bytes) / static_cast<double>(network_.memory->per_second()) * 1e9;
    return static_cast<Time>(ns) * kNanosecond;
  }

  // The stage's messages are the rank's now.
  void take_in(ProgramRun& run) {
    for (std::size_t i = 0; i < run.awaited.size(); ++i) {
      Message& message = messages_[static_cast<std::size_t>(run.awaited[i])];
      log_[static_cast<std::size_t>(message.log)].t_taken = simulator_.now();
      if (!options_.payload) continue;
      Payload& payload = *splits_[run.split].payload;
      const Transfer& transfer = run.awaited_transfers[i];
      payload.put_down(run.program->rank, run.schedule->ranges_of(transfer), message.values,
                       transfer.adds);
      message.values = {};
    }
  }

  [[noreturn]] void report_deadlock() const {
    std::map<std::int32_t, std::set<std::int32_t>> waiting;  // rank: whom it waits for
    for (const auto& run : programs_) {
      if (!run->started || run->finished) continue;
      for (std::size_t i = 0; i < run->awaited.size(); ++i) {
        const MessageId id = run->awaited[i];
        if (id == kNoMessage || messages_[static_cast<std::size_t>(id)].arrived_at < 0) {
          waiting[run->program->rank].insert(run->awaited_transfers[i].peer);
        }
      }
    }
    std::string text;
    for (const auto& [rank, peers] : waiting) {
      text += fmt::format("{}rank {} waits for rank {}", text.empty() ? "" : "; ", rank,
                          fmt::join(peers, ", "));
    }
    fail("the collective deadlocks: {}", text);
  }

  void collect(CollectiveRunResult& result) const {
    result.results.resize(ranks_.size());
    result.verified = true;
    for (const Split& split : splits_) {
      const std::string error = split.payload->error();
      if (!error.empty() && options_.refuse_wrong) {
        throw InternalError("a collective came out wrong: " + error);
      }
      result.verified &= error.empty();
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const auto values = split.payload->result(static_cast<std::int32_t>(r));
        result.results[r].insert(result.results[r].end(), values.begin(), values.end());
      }
    }
    result.cells = splits_.front().payload->cell_starts();
  }

  const NetworkTopology& network_;
  CollectiveRunOptions options_;
  bool as_astra_;
  Simulator simulator_;
  Fabric fabric_;
  std::unique_ptr<Transport> transport_;
  std::vector<Split> splits_;
  std::vector<std::unique_ptr<ProgramRun>> programs_;
  std::vector<Message> messages_;
  std::vector<RankState> ranks_;
  std::vector<MessageRecord> log_;
  std::size_t finished_ = 0;
  Time end_ = 0;
};

}  // namespace

CollectiveRunResult run_schedules(const std::vector<Schedule>& schedules,
                                  const NetworkTopology& network,
                                  const CollectiveRunOptions& options) {
  return Runner(schedules, network, options).run();
}

}  // namespace assay::chip
