// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/message_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/philox.h"

#include "cases/chip/oracle/first_wrong.h"

namespace assay::cases::chip {
namespace {

class MessageLaws : FirstWrong {
 public:
  MessageLaws(const ChipNumbers& c, const ChipNetwork& network, const AllReduceProblem& problem,
              const AllReduceLog& log)
      : c_(c), network_(network), problem_(problem), log_(log) {}

  std::string first_broken() {
    if (wrong_.empty()) messages();
    if (wrong_.empty()) links();
    if (wrong_.empty()) ranks();
    if (wrong_.empty()) data();
    if (wrong_.empty()) values();
    if (wrong_.empty()) volume();
    return wrong_;
  }

 private:
  Ps occupancy(const LoggedMessage& m) const { return duration(m.bytes, c_.link_gbps); }
  std::size_t rank(std::int64_t r) const { return static_cast<std::size_t>(r); }

  void messages() {
    const std::int64_t p = network_.ranks();
    for (const auto& m : log_.messages) {
      if (!demand(m.from >= 0 && m.from < p && m.to >= 0 && m.to < p && m.from != m.to,
                  "a message from {} to {} of {} ranks", m.from, m.to, p)) {
        return;
      }
      std::int64_t elements = 0;
      for (const auto& [begin, end] : m.elements) {
        demand(begin >= 0 && begin <= end && end <= problem_.length(),
               "elements {} to {} of {} travel", begin, end, problem_.length());
        elements += end - begin;
      }
      demand(elements * problem_.element_bytes == m.bytes, "{} elements travel as {} bytes",
             elements, m.bytes);
    }
  }

  void links() {
    struct Crossing {
      Ps head, start, occupied;
    };
    std::map<ChipNetwork::Link, std::vector<Crossing>> by_link;
    for (const auto& m : log_.messages) {
      const auto route = network_.route(m.from, m.to);
      if (!demand(route.size() == m.starts.size(), "{} → {} crosses {} links instead of {}", m.from,
                  m.to, m.starts.size(), route.size())) {
        return;
      }
      Ps head = m.sent;
      for (std::size_t hop = 0; hop < route.size(); ++hop) {
        by_link[route[hop]].push_back({head, m.starts[hop], occupancy(m)});
        head = m.starts[hop] + c_.latency;
      }
      demand(m.arrived == head + occupancy(m), "{} → {} arrives at {} ps instead of {}", m.from,
             m.to, m.arrived, head + occupancy(m));
    }
    for (auto& [link, crossings] : by_link) {
      std::ranges::stable_sort(crossings, [](const Crossing& a, const Crossing& b) {
        return std::pair(a.start, a.occupied) < std::pair(b.start, b.occupied);
      });
      Ps free = 0, head = 0;
      for (const auto& crossing : crossings) {
        const Ps must = std::max(free, crossing.head);
        if (!demand(crossing.start == must, "link {} → {} takes a message at {} ps instead of {}",
                    link.first, link.second, crossing.start, must) ||
            !demand(crossing.head >= head || crossing.occupied == 0,
                    "on link {} → {} a message overtakes another", link.first, link.second)) {
          return;
        }
        free = crossing.start + crossing.occupied;
        if (crossing.occupied > 0) head = crossing.head;
      }
    }
  }

  void ranks() {
    // What may make a rank go on: its start, messages taken in, messages that have left.
    std::vector<std::set<Ps>> reasons(rank(network_.ranks()), std::set<Ps>{c_.endpoint, 0});
    std::vector<std::set<Ps>> arrivals(rank(network_.ranks()));
    for (const auto& m : log_.messages) {
      reasons[rank(m.to)].insert(m.taken);
      reasons[rank(m.from)].insert(m.starts.front() + occupancy(m));
      arrivals[rank(m.to)].insert(m.arrived);
    }
    for (const auto& m : log_.messages) {
      const auto& mine = reasons[rank(m.to)];
      demand(m.sent >= c_.endpoint && reasons[rank(m.from)].contains(m.sent),
             "rank {} sends to {} at {} ps for no reason", m.from, m.to, m.sent);
      demand(m.taken >= m.arrived + c_.endpoint, "rank {} takes in at {} ps what arrives at {}",
             m.to, m.taken, m.arrived);
      const Ps since = m.taken - c_.endpoint;
      demand(arrivals[rank(m.to)].contains(since) || mine.contains(since),
             "rank {} takes a message in at {} ps, for no reason so late", m.to, m.taken);
    }
  }

  // Follows who has contributed to each run of elements that always travels together.
  void data() {
    const std::int64_t p = network_.ranks();
    std::set<std::int64_t> cuts = {0, problem_.length()};
    for (const auto& m : log_.messages) {
      for (const auto& [begin, end] : m.elements) cuts.insert({begin, end});
    }
    const std::vector<std::int64_t> cells(cuts.begin(), cuts.end());
    const auto cell = [&](std::int64_t element) {
      return static_cast<std::size_t>(std::ranges::lower_bound(cells, element) - cells.begin());
    };
    std::vector<std::vector<std::uint64_t>> has(rank(p));
    for (std::int64_t r = 0; r < p; ++r) {
      has[rank(r)].assign(cells.size() - 1, std::uint64_t{1} << r);
    }
    const std::uint64_t everybody = p == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << p) - 1;
    // What is taken in at an instant is there for what is sent at the same instant.
    struct Event {
      Ps at;
      bool is_send;
      std::size_t message;
    };
    std::vector<Event> events;
    for (std::size_t m = 0; m < log_.messages.size(); ++m) {
      events.push_back({log_.messages[m].sent, true, m});
      events.push_back({log_.messages[m].taken, false, m});
    }
    std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
      return std::pair(a.at, a.is_send) < std::pair(b.at, b.is_send);
    });
    std::vector<std::vector<std::uint64_t>> travelling(log_.messages.size());
    for (const Event& event : events) {
      const auto& m = log_.messages[event.message];
      auto& carried = travelling[event.message];
      std::size_t next = 0;
      for (const auto& [begin, end] : m.elements) {
        for (std::size_t i = cell(begin); i < cell(end); ++i) {
          if (event.is_send) {
            carried.push_back(has[rank(m.from)][i]);
            continue;
          }
          auto& here = has[rank(m.to)][i];
          const std::uint64_t what = carried[next++];
          if (m.adds && !demand((here & what) == 0, "rank {} adds element {} of rank {} twice",
                                m.to, cells[i], std::countr_zero(here & what))) {
            return;
          }
          here = m.adds ? here | what : what;
        }
      }
    }
    for (std::int64_t r = 0; r < p; ++r) {
      for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
        const std::uint64_t missing = everybody & ~has[rank(r)][i];
        if (!demand(missing == 0, "rank {} lacks the part of rank {} in element {}", r,
                    std::countr_zero(missing), cells[i])) {
          return;
        }
      }
    }
  }

  // Rank r's element e: an integer from -500 to 499, so that sums are exact in any order.
  double input(std::int64_t r, std::int64_t element) const {
    const Philox stream(problem_.seed, static_cast<std::uint64_t>(r));
    return static_cast<double>(uniform_below(stream[static_cast<std::uint64_t>(element)], 1000)) -
           500;
  }

  void values() {
    const std::size_t cells = log_.cells.size();
    demand(cells > 0 && log_.results.size() == cells * rank(network_.ranks()),
           "{} results for {} runs of elements on {} ranks", log_.results.size(), cells,
           network_.ranks());
    for (std::size_t i = 0; i < cells && wrong_.empty(); ++i) {
      double sum = 0;
      for (std::int64_t r = 0; r < network_.ranks(); ++r) sum += input(r, log_.cells[i]);
      for (std::int64_t r = 0; r < network_.ranks(); ++r) {
        const double got = log_.results[rank(r) * cells + i];
        demand(got == sum, "rank {} has {} at element {} instead of {}", r, got, log_.cells[i],
               sum);
      }
    }
  }

  void volume() {
    std::int64_t bytes = 0;
    Ps last = 0;
    for (const auto& m : log_.messages) {
      bytes += m.bytes;
      last = std::max(last, m.taken);
    }
    const std::int64_t p = network_.ranks();
    const bool folds = !std::has_single_bit(static_cast<std::uint64_t>(p));
    const std::int64_t rounds = std::bit_width(static_cast<std::uint64_t>(p)) - 1;
    if (!problem_.algorithm.ends_with("doubling")) {
      // Every part of every rank goes somewhere to be added, and every sum comes back.
      demand(bytes == 2 * (p - 1) * problem_.bytes, "{} bytes travel instead of {}", bytes,
             2 * (p - 1) * problem_.bytes);
    } else if (!folds) {
      const std::int64_t must = problem_.algorithm == "recursive_doubling"
                                    ? p * rounds * problem_.bytes
                                    : 2 * (p - 1) * problem_.bytes;
      demand(bytes == must, "{} bytes travel instead of {}", bytes, must);
    }
    const double seconds = 1e-12 * static_cast<double>(last);
    std::map<ChipNetwork::Link, std::int64_t> loads;
    std::int64_t most = 0;
    for (const auto& m : log_.messages) {
      for (const auto& link : network_.route(m.from, m.to)) {
        most = std::max(most, loads[link] += m.bytes);
      }
    }
    const double use =
        static_cast<double>(duration(most, c_.link_gbps)) / static_cast<double>(last);
    demand(std::abs(log_.link_use - use) <= 1e-9 * use,
           "the busiest link works {} of the time instead of {}", log_.link_use, use);
    demand(std::abs(log_.simulated_s - seconds) <= 1e-12 * seconds,
           "simulated_time is {} s, the last message is taken in at {}", log_.simulated_s, seconds);
  }

  const ChipNumbers& c_;
  const ChipNetwork& network_;
  const AllReduceProblem& problem_;
  const AllReduceLog& log_;
};

}  // namespace

AllReduceLog log_of(std::span<const std::int64_t> messages, std::span<const std::int64_t> starts,
                    std::span<const std::int64_t> ranges) {
  AllReduceLog log;
  for (std::size_t at = 0; at + kMessageColumns <= messages.size(); at += kMessageColumns) {
    const auto* m = messages.data() + at;
    log.messages.push_back({m[0], m[1], m[2], m[3] != 0, m[4], m[5], m[6], {}, {}});
  }
  const auto message = [&](std::int64_t id) -> LoggedMessage& {
    if (id < 0 || id >= std::ssize(log.messages)) fail("message {} is not in the log", id);
    return log.messages[static_cast<std::size_t>(id)];
  };
  for (std::size_t at = 0; at + 2 <= starts.size(); at += 2) {
    message(starts[at]).starts.push_back(starts[at + 1]);
  }
  for (std::size_t at = 0; at + 3 <= ranges.size(); at += 3) {
    message(ranges[at]).elements.emplace_back(ranges[at + 1], ranges[at + 2]);
  }
  return log;
}

std::string broken_law(const ChipNumbers& c, const ChipNetwork& network,
                       const AllReduceProblem& problem, const AllReduceLog& log) {
  return MessageLaws(c, network, problem, log).first_broken();
}

}  // namespace assay::cases::chip
