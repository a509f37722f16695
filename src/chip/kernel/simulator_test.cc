// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/kernel/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <tuple>

#include "base/philox.h"
#include "chip/kernel/sync.h"

namespace assay::chip {
namespace {

using ::testing::ElementsAre;

using Trace = std::vector<std::pair<Time, int>>;

Process note_after(Simulator& sim, Time delay, int id, Trace& trace,
                   Priority priority = Priority::kNormal) {
  co_await sim.delay(delay, priority);
  trace.emplace_back(sim.now(), id);
}

TEST(EventQueue, OrdersByTimePriorityAndSequence) {
  EventQueue queue;
  const Philox random(7);
  std::vector<std::tuple<Time, int, std::uint64_t>> pushed, popped;
  std::uint64_t step = 0;
  const auto push = [&] {
    const Time time = static_cast<Time>(uniform_below(random[step++], 50));
    const int priority = static_cast<int>(uniform_below(random[step++], 2));
    pushed.emplace_back(time, priority, pushed.size());
    queue.push(time, static_cast<Priority>(priority),
               std::coroutine_handle<>::from_address(reinterpret_cast<void*>(pushed.size() << 4)));
  };
  const auto pop = [&] {
    const auto event = queue.pop();
    popped.emplace_back(event.time, static_cast<int>(event.order >> 56),
                        (reinterpret_cast<std::uintptr_t>(event.process.address()) >> 4) - 1);
  };
  // Phases that grow, mix and drain the heap pass through every state of the hole at the root.
  for (int i = 0; i < 500; ++i) push();
  std::sort(pushed.begin(), pushed.end());
  while (!queue.empty()) pop();
  EXPECT_EQ(popped, pushed);

  for (int round = 0; round < 200; ++round) {
    pushed.clear();
    popped.clear();
    for (std::uint64_t i = uniform_below(random[step++], 6) + 1; i > 0; --i) push();
    pop();
    push();
    push();
    std::vector<std::tuple<Time, int, std::uint64_t>> rest;
    while (!queue.empty()) {
      pop();
      rest.push_back(popped.back());
    }
    EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
    std::sort(popped.begin(), popped.end());
    std::sort(pushed.begin(), pushed.end());
    EXPECT_EQ(popped, pushed);
  }
}

TEST(Simulator, RunsInOrderOfTimeThenScheduling) {
  Simulator sim;
  Trace trace;
  sim.spawn(note_after(sim, 30, 1, trace));
  sim.spawn(note_after(sim, 10, 2, trace));
  sim.spawn(note_after(sim, 10, 3, trace, Priority::kLate));
  sim.spawn(note_after(sim, 10, 4, trace));
  sim.spawn(note_after(sim, 0, 5, trace));
  const RunOutcome outcome = sim.run();
  EXPECT_THAT(trace, ElementsAre(std::pair{0, 5}, std::pair{10, 2}, std::pair{10, 4},
                                 std::pair{10, 3}, std::pair{30, 1}));
  EXPECT_EQ(outcome.end, 30);
  EXPECT_EQ(outcome.events, 10u);  // five first runs, five delays
  EXPECT_TRUE(outcome.waiting.empty());
}

TEST(Simulator, StartRunsUpToTheFirstWait) {
  Simulator sim;
  Trace trace;
  const auto body = [](Simulator& s, Trace& t) -> Process {
    t.emplace_back(s.now(), 0);
    co_await s.delay(5);
    t.emplace_back(s.now(), 1);
  };
  sim.start(body(sim, trace));
  EXPECT_THAT(trace, ElementsAre(std::pair{0, 0}));
  sim.run();
  EXPECT_THAT(trace, ElementsAre(std::pair{0, 0}, std::pair{5, 1}));
}

Process hold(Simulator& sim, Credits& credits, Time duration, int id, Trace& trace) {
  const Lease lease = co_await credits.acquire();
  trace.emplace_back(sim.now(), id);
  co_await sim.delay(duration);
}

TEST(Credits, ServeInOrderAndReturnByScope) {
  Simulator sim;
  Credits credits(sim, 2);
  Trace trace;
  for (int id = 0; id < 5; ++id) sim.spawn(hold(sim, credits, 10 + id, id, trace));
  EXPECT_TRUE(sim.run().waiting.empty());
  EXPECT_THAT(trace, ElementsAre(std::pair{0, 0}, std::pair{0, 1}, std::pair{10, 2},
                                 std::pair{11, 3}, std::pair{22, 4}));
  EXPECT_EQ(credits.free(), 2);
}

TEST(Credits, NobodyOvertakesInTheInstantOfRelease) {
  Simulator sim;
  Credits credits(sim, 1);
  Trace trace;
  sim.spawn(hold(sim, credits, 10, 0, trace));
  sim.spawn(hold(sim, credits, 10, 1, trace));
  // Asks at exactly 10, when the credit has been handed to process 1 but 1 has not run yet.
  const auto late = [](Simulator& s, Credits& c, Trace& t) -> Process {
    co_await s.delay(10);
    const Lease lease = co_await c.acquire();
    t.emplace_back(s.now(), 2);
  };
  sim.spawn(late(sim, credits, trace));
  sim.run();
  EXPECT_THAT(trace, ElementsAre(std::pair{0, 0}, std::pair{10, 1}, std::pair{20, 2}));
}

TEST(Latch, OpensOnceForAllWaiters) {
  Simulator sim;
  Latch latch(sim, 2);
  Trace trace;
  const auto waiter = [](Simulator& s, Latch& l, int id, Trace& t) -> Process {
    co_await l.wait();
    t.emplace_back(s.now(), id);
  };
  const auto opener = [](Simulator& s, Latch& l) -> Process {
    co_await s.delay(3);
    l.count_down();
    co_await s.delay(4);
    l.count_down();
  };
  sim.spawn(waiter(sim, latch, 1, trace));
  sim.spawn(opener(sim, latch));
  sim.spawn(waiter(sim, latch, 2, trace));
  sim.run();
  sim.spawn(waiter(sim, latch, 3, trace));  // already open
  sim.run();
  EXPECT_THAT(trace, ElementsAre(std::pair{7, 1}, std::pair{7, 2}, std::pair{7, 3}));
  EXPECT_EQ(latch.opened_at(), 7);
}

TEST(Simulator, NamesProcessesThatWaitForever) {
  Simulator sim;
  Credits left(sim, 1), right(sim, 1);
  const auto cross = [](Simulator& s, Credits& first, Credits& second) -> Process {
    const Lease a = co_await first.acquire();
    co_await s.delay(1);
    const Lease b = co_await second.acquire();
  };
  sim.spawn(cross(sim, left, right), "one");
  sim.spawn(cross(sim, right, left), "two");
  Trace trace;
  sim.spawn(note_after(sim, 5, 0, trace), "fine");
  EXPECT_THAT(sim.run().waiting, ElementsAre("one", "two"));
}

TEST(Simulator, AnExceptionLeavesThroughRunAndFreesEverything) {
  Simulator sim;
  Credits credits(sim, 1);
  Trace trace;
  sim.spawn(hold(sim, credits, 100, 0, trace));
  sim.spawn(hold(sim, credits, 100, 1, trace));
  const auto thrower = [](Simulator& s) -> Process {
    co_await s.delay(50);
    fail("at {}", s.now());
  };
  sim.spawn(thrower(sim));
  EXPECT_THROW(sim.run(), UserError);  // leaks and stray releases show under the sanitisers
}

TEST(Simulator, RefusesThePastAndTheEndOfTime) {
  Simulator sim;
  const auto wait_until = [](Simulator& s, Time t) -> Process {
    co_await s.delay(10);
    co_await s.until(t);
  };
  sim.spawn(wait_until(sim, 5));
  EXPECT_THROW(sim.run(), InternalError);
  Simulator other;
  other.spawn(wait_until(other, kEndOfTime));
  EXPECT_THROW(other.run(), UserError);
}

TEST(Simulator, ManyLiveSideBySide) {
  const auto work = [](Trace& trace) {
    Simulator sim;
    Credits credits(sim, 3);
    for (int id = 0; id < 64; ++id) sim.spawn(hold(sim, credits, 7 + id % 5, id, trace));
    sim.run();
  };
  std::vector<Trace> traces(4);
  std::vector<std::thread> threads;
  for (auto& trace : traces) threads.emplace_back(work, std::ref(trace));
  for (auto& thread : threads) thread.join();
  for (const auto& trace : traces) EXPECT_EQ(trace, traces[0]);
  EXPECT_EQ(traces[0].size(), 64u);
}

TEST(Rate, RoundsUpExactly) {
  EXPECT_EQ(Rate(256'000'000'000).duration(4096), 16'000);
  EXPECT_EQ(Rate(3).duration(1), kSecond / 3 + 1);
  EXPECT_EQ(Rate(1'000'000'000'000).duration(7), 7);
  EXPECT_EQ(Rate(5).duration(0), 0);
  EXPECT_EQ(Rate(53'687'091'200).duration(262'144), 4'882'813);  // 4882.8125 ns
  EXPECT_THROW(Rate(1).duration(std::int64_t{1} << 40), UserError);
  EXPECT_THROW(Rate(1).duration(-1), UserError);
  EXPECT_THROW(Rate(0), InternalError);
}

}  // namespace
}  // namespace assay::chip
