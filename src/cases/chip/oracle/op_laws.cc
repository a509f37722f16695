// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/op_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "cases/chip/oracle/first_wrong.h"
#include "cases/chip/oracle/op_books.h"

namespace assay::cases::chip {
namespace {

// One element's operations by stage, each in the order of grants; loads apart.
struct Element {
  std::vector<Op> loads, stages[4];
  std::vector<Op>& of(OpStage stage) { return stages[static_cast<std::size_t>(stage)]; }
};

class OpLaws : FirstWrong {
 public:
  OpLaws(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops)
      : c_(c), p_(p), ops_(ops), elements_(static_cast<std::size_t>(c.elements())) {}

  std::string first_broken() {
    if (!sort_into_elements()) return wrong_;
    for (std::int64_t pe = 0; pe < c_.elements() && wrong_.empty(); ++pe) plan(pe);
    if (wrong_.empty()) find_start();
    for (std::int64_t pe = 0; pe < c_.elements() && wrong_.empty(); ++pe) engines(pe);
    if (wrong_.empty()) reads();
    if (wrong_.empty()) c_.elements() == 1 ? writes_without_mesh() : writes_over_mesh();
    return wrong_;
  }

 private:
  // A time that is what it must be.
  bool equal(const char* what, const Op& op, Ps is, Ps must) {
    return demand(is == must, "{} of tile {} in element {} {} at {} ps instead of {}",
                  kStageNames[static_cast<std::size_t>(op.stage)], op.tile, op.pe, what, is, must);
  }

  bool sort_into_elements() {
    for (const Op& op : ops_) {
      const auto stage = static_cast<std::int64_t>(op.stage);
      if (!demand(op.pe >= 0 && op.pe < c_.elements() && stage >= 0 && stage <= 3,
                  "an operation of element {}, stage {}", op.pe, stage) ||
          !demand(op.request <= op.grant && op.grant <= op.end,
                  "an operation of element {} ends at {} before it starts at {}", op.pe, op.end,
                  op.grant)) {
        return false;
      }
      auto& element = elements_[static_cast<std::size_t>(op.pe)];
      (op.tile < 0 ? element.loads : element.of(op.stage)).push_back(op);
    }
    // Operations end in the order in which they were granted; writes may overtake one another on
    // a mesh, and have the order of their outputs.
    for (Element& element : elements_) {
      std::ranges::stable_sort(element.loads, {}, &Op::grant);
      for (auto& stage : element.stages) {
        std::ranges::stable_sort(stage, [](const Op& a, const Op& b) {
          return std::pair(a.grant, a.tile) < std::pair(b.grant, b.tile);
        });
      }
      std::ranges::stable_sort(element.of(OpStage::kOut), {}, &Op::tile);
    }
    return true;
  }

  void plan(std::int64_t pe) {
    Element& element = elements_[static_cast<std::size_t>(pe)];
    const std::int64_t k_tiles = p_.k_tiles(c_), n_tiles = p_.n_tiles(c_);
    std::vector<std::int64_t> steps, outputs;
    std::int64_t height = 0, width = 0;
    for (std::int64_t i = pe / c_.columns; i < p_.m_tiles(c_); i += c_.rows, ++height) {
      width = 0;
      for (std::int64_t j = pe % c_.columns; j < n_tiles; j += c_.columns, ++width) {
        for (std::int64_t k = 0; k < k_tiles; ++k) steps.push_back((i * n_tiles + j) * k_tiles + k);
        outputs.push_back(steps.back());
      }
    }
    const std::int64_t streamed =
        (p_.streams_a ? c_.a_bytes() : 0) + (p_.streams_b ? c_.b_bytes() : 0);
    same_tiles(element.of(OpStage::kIn), streamed > 0 ? steps : std::vector<std::int64_t>(),
               streamed);
    same_tiles(element.of(OpStage::kFetch), steps, c_.a_bytes() + c_.b_bytes());
    same_tiles(element.of(OpStage::kGemm), steps, 0);
    same_tiles(element.of(OpStage::kOut), outputs, c_.c_bytes());
    for (const Op& op : element.of(OpStage::kGemm)) {
      const std::int64_t k = op.tile % k_tiles, j = op.tile / k_tiles % n_tiles,
                         i = op.tile / k_tiles / n_tiles;
      const std::int64_t useful = std::min(c_.m, p_.m - i * c_.m) *
                                  std::min(c_.k, p_.k - k * c_.k) * std::min(c_.n, p_.n - j * c_.n);
      demand(op.macs == c_.m * c_.k * c_.n && op.useful_macs == useful,
             "tile {} has {} multiply-accumulates, {} of them useful, instead of {} and {}",
             op.tile, op.macs, op.useful_macs, c_.m * c_.k * c_.n, useful);
    }
    std::int64_t loaded = 0, wanted = 0;
    for (const Op& op : element.loads) loaded += op.bytes;
    if (!p_.streams_a && width > 0) wanted += height * k_tiles * c_.a_bytes();
    if (!p_.streams_b && height > 0) wanted += width * k_tiles * c_.b_bytes();
    demand(loaded == wanted, "element {} loads {} bytes up front instead of {}", pe, loaded,
           wanted);
  }

  void same_tiles(const std::vector<Op>& ops, const std::vector<std::int64_t>& tiles,
                  std::int64_t bytes) {
    if (!demand(ops.size() == tiles.size(), "{} operations of one stage where the plan has {}",
                ops.size(), tiles.size())) {
      return;
    }
    for (std::size_t s = 0; s < tiles.size(); ++s) {
      demand(ops[s].tile == tiles[s], "{}: tile {} comes where {} is due",
             kStageNames[static_cast<std::size_t>(ops[s].stage)], ops[s].tile, tiles[s]);
      demand(ops[s].bytes == bytes, "{} of tile {} moves {} bytes instead of {}",
             kStageNames[static_cast<std::size_t>(ops[s].stage)], tiles[s], ops[s].bytes, bytes);
    }
  }

  // Steps start when the last load of the chip is done.
  void find_start() {
    for (const Element& element : elements_) {
      for (const Op& op : element.loads) start_ = std::max(start_, op.end);
    }
  }

  static Ps end_of(const std::vector<Op>& ops, std::int64_t i, Ps otherwise) {
    return i < 0 ? otherwise : ops[static_cast<std::size_t>(i)].end;
  }
  const std::vector<Op>& releases(Element& element) {
    return element.of(c_.held_through_gemm ? OpStage::kGemm : OpStage::kFetch);
  }

  void engines(std::int64_t pe) {
    Element& element = elements_[static_cast<std::size_t>(pe)];
    const auto &in = element.of(OpStage::kIn), &fetch = element.of(OpStage::kFetch),
               &gemm = element.of(OpStage::kGemm), &out = element.of(OpStage::kOut);
    const std::int64_t k_tiles = p_.k_tiles(c_);
    // An output buffer is given back when its write ends, whichever write that is.
    std::vector<Ps> written;
    for (const Op& op : out) written.push_back(op.end);
    std::ranges::sort(written);
    for (std::int64_t s = 0; s < std::ssize(fetch); ++s) {
      const auto at = static_cast<std::size_t>(s);
      const Ps operands =
          in.empty() ? end_of(releases(element), s - c_.buffers, start_) : in[at].end;
      if (!equal("starts", fetch[at], fetch[at].grant,
                 std::max(operands, end_of(fetch, s - 1, start_))) ||
          !equal("ends", fetch[at], fetch[at].end, fetch[at].grant + c_.fetch)) {
        return;
      }
      Ps ready = std::max(fetch[at].end, end_of(gemm, s - 1, start_));
      const std::int64_t held = s / k_tiles - c_.outputs;
      if (s % k_tiles == 0 && held >= 0) {
        ready = std::max(ready, written[static_cast<std::size_t>(held)]);
      }
      if (!equal("starts", gemm[at], gemm[at].grant, ready) ||
          !equal("ends", gemm[at], gemm[at].end, gemm[at].grant + c_.gemm)) {
        return;
      }
    }
  }

  struct Request {
    Op op;
    Ps asked;  // when it had all it needs but memory
  };

  void reads() {
    std::vector<Request> requests;
    for (Element& element : elements_) {
      queue_slots(element.loads, 0);
      for (const Op& op : element.loads) requests.push_back({op, op.request});
    }
    memory(requests);
    requests.clear();
    for (Element& element : elements_) {
      const auto& in = element.of(OpStage::kIn);
      queue_slots(in, start_);
      for (std::int64_t s = 0; s < std::ssize(in); ++s) {
        const Op& op = in[static_cast<std::size_t>(s)];
        requests.push_back(
            {op, std::max(op.request, end_of(releases(element), s - c_.buffers, start_))});
      }
    }
    memory(requests);
  }

  // A slot turns to its next request when the one before has ended.
  void queue_slots(const std::vector<Op>& ops, Ps start) {
    std::map<std::int64_t, Ps> free;
    for (const Op& op : ops) {
      demand(op.slot >= 0 && op.slot < c_.queues, "a request in slot {} of {}", op.slot, c_.queues);
      const auto [slot, fresh] = free.try_emplace(op.slot, start);
      equal("is asked for", op, op.request, slot->second);
      slot->second = op.end;
    }
  }

  // First come, first served, one after another, without a pause.
  void memory(std::vector<Request>& requests) {
    std::ranges::stable_sort(requests, {}, [](const Request& r) { return r.op.grant; });
    Ps free = 0, asked = 0;
    for (const Request& r : requests) {
      const Ps service = c_.memory(r.op.bytes);
      const Ps mesh = r.op.pe == 0 ? 0 : c_.channels * c_.link_burst;
      if (!demand(r.asked >= asked, "memory serves element {} before one that asked {} ps earlier",
                  r.op.pe, asked - r.asked) ||
          !equal("is served", r.op, r.op.grant, std::max(free, r.asked)) ||
          !equal("ends", r.op, r.op.end, r.op.grant + service + mesh)) {
        return;
      }
      free = r.op.grant + service;
      asked = r.asked;
    }
  }

  // When each write was asked for: its output is finished.
  bool writes_are_asked_for(Element& element) {
    const auto& gemm = element.of(OpStage::kGemm);
    const std::int64_t k_tiles = p_.k_tiles(c_);
    for (std::int64_t o = 0; const Op& op : element.of(OpStage::kOut)) {
      const Op& last = gemm[static_cast<std::size_t>((++o) * k_tiles - 1)];
      if (!equal("is asked for", op, op.request, last.end)) return false;
    }
    return true;
  }

  void writes_without_mesh() {
    if (!writes_are_asked_for(elements_.front())) return;
    Ps free = 0;
    for (const Op& op : elements_.front().of(OpStage::kOut)) {
      equal("is served", op, op.grant, std::max(free, op.request));
      equal("ends", op, op.end, op.grant + c_.memory(op.bytes));
      free = op.end;
    }
  }

  void writes_over_mesh() {
    std::vector<Op> all;
    for (Element& element : elements_) {
      if (!writes_are_asked_for(element)) return;
      const auto& out = element.of(OpStage::kOut);
      all.insert(all.end(), out.begin(), out.end());
    }
    std::ranges::sort(all, {}, &Op::end);
    std::vector<Ps> asked, ended;
    for (const Op& op : all) {
      asked.push_back(op.request);
      ended.push_back(op.end);
    }
    std::ranges::sort(asked);
    const Ps first = asked.empty() ? 0 : asked.front();
    const std::int64_t longest = c_.rows + c_.columns - 2;  // links
    std::int64_t bytes = 0;
    for (const Op& op : all) {
      const std::int64_t bursts = op.bytes / c_.burst_bytes;
      const Ps alone = op.pe == 0 ? c_.memory(op.bytes) : bursts * c_.link_burst + c_.burst;
      demand(op.end - op.request >= alone, "the write of tile {} takes {} ps, alone it takes {}",
             op.tile, op.end - op.request, alone);
      bytes += op.bytes;
      demand(op.end - first >= c_.memory(bytes), "{} bytes are written in {} ps, memory needs {}",
             bytes, op.end - first, c_.memory(bytes));
      // On their way at the same time, itself among them; all are of one size.
      const auto begun = std::ranges::upper_bound(asked, op.end) - asked.begin();
      const auto over = std::ranges::lower_bound(ended, op.request) - ended.begin();
      const std::int64_t beside = (begun - over) * op.bytes;
      const Ps most =
          beside / c_.burst_bytes * c_.link_burst * longest + c_.memory(beside) + c_.burst;
      demand(op.end - op.request <= most,
             "the write of tile {} takes {} ps, all that travels with it {}", op.tile,
             op.end - op.request, most);
    }
  }

  const ChipNumbers& c_;
  const TiledProduct& p_;
  const std::vector<Op>& ops_;
  std::vector<Element> elements_;
  Ps start_ = 0;
};

}  // namespace

std::vector<Op> ops_of(std::span<const std::int64_t> numbers) {
  if (numbers.size() % kOpColumns != 0) fail("{} numbers are no log of operations", numbers.size());
  std::vector<Op> ops;
  for (std::size_t at = 0; at < numbers.size(); at += kOpColumns) {
    const auto* o = numbers.data() + at;
    ops.push_back(
        {o[0], o[1], static_cast<OpStage>(o[2]), o[3], o[4], o[5], o[6], o[7], o[8], o[9]});
  }
  return ops;
}

std::string broken_law(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops,
                       const ProductBooks& books) {
  const auto wrong = OpLaws(c, p, ops).first_broken();
  return wrong.empty() ? wrong_books(c, p, ops, books) : wrong;
}

}  // namespace assay::cases::chip
