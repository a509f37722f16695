// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/batch.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/units.h"
#include "transport/attempt.h"
#include "transport/cuda/eliminate.h"

namespace assay::transport::cuda {
namespace {

using kernels::cuda::Cublas;

// Of the memory that is free: cuBLAS takes some of its own.
constexpr double kUsable = 0.92;
// Fewer cases than this leave multiprocessors idle: they are not dealt out to several lanes.
constexpr std::size_t kLeastShare = 32;

// What is on its way at the same time as other lanes' work: the products of one fill the device
// while the leaves and sparse operators of another wait for memory or for themselves.
struct Lane {
  kernels::cuda::OwnStream stream;
  Cublas cublas;
  explicit Lane(bool urgent) : stream(urgent), cublas(stream.get()) {}
  // By parity: a scan that has cases with and without a field changes between the two.
  std::map<bool, std::unique_ptr<BatchedElimination>> eliminations;
};

// Cases that a lane solves by one method, and what came of them.
struct Share {
  Method method;
  std::vector<std::size_t> which;
  std::vector<Case> cases;
  BatchedElimination* elimination;
  std::vector<EliminationResult> results;
  std::exception_ptr error;

  void solve() noexcept {
    try {
      results = elimination->solve(
          cases, method == Method::kDense ? Elimination::kDense : Elimination::kStructured);
    } catch (...) {
      error = std::current_exception();
    }
  }
};

}  // namespace

struct BatchSolver::Parts {
  Prepared prepared;
  std::size_t batch;
  std::size_t most_lanes;
  std::map<bool, DeviceSystem> systems;
  std::vector<std::unique_ptr<Lane>> lanes;

  Parts(const Prepared& p, int b, int l)
      : prepared(p),
        batch(b > 0 ? static_cast<std::size_t>(b) : std::numeric_limits<std::size_t>::max()),
        most_lanes(static_cast<std::size_t>(l)) {
    lanes.push_back(std::make_unique<Lane>(true));
  }

  const DeviceSystem& system_for(Method method) {
    const bool parity = method == Method::kParity;
    const auto it = systems.find(parity);
    if (it != systems.end()) return it->second;
    return systems.try_emplace(parity, system_of(prepared, method)).first->second;
  }

  // With room for `cases`, or as many as fit beside the lanes before this one; null: for none, and
  // other lanes have work (`may_wait`).
  BatchedElimination* elimination_for(std::size_t lane, Method method, std::size_t cases,
                                      bool may_wait) {
    const bool parity = method == Method::kParity;
    const auto& size = system_of(prepared, method).size;
    if (std::max(size[0], size[1]) > kMostUnknowns) {
      fail("a device takes at most {} points of a surface, got {}: leave out --device cuda",
           kMostUnknowns, std::max(size[0], size[1]));
    }
    const auto& system = system_for(method);
    while (lanes.size() <= lane) lanes.push_back(std::make_unique<Lane>(false));
    auto& own = lanes[lane]->eliminations[parity];
    if (own && static_cast<std::size_t>(own->most_cases()) >= cases) return own.get();
    own.reset();  // its memory first
    const double each = bytes_of_case(system.host());
    const auto fit = [&] {
      return static_cast<std::size_t>(kUsable * static_cast<double>(kernels::cuda::free_bytes()) /
                                      each);
    };
    if (fit() < cases) {
      lanes[lane]->eliminations.clear();
      lanes.resize(lane + 1);
    }
    const auto room = std::min(cases, fit());
    if (room < 1 && may_wait) return nullptr;
    if (room < 1) {
      throw kernels::cuda::DeviceError(
          kernels::cuda::Trouble::kMemory,
          fmt::format("a case of this grid takes {} of the device's memory, {} are free",
                      format_bytes(each),
                      format_bytes(static_cast<double>(kernels::cuda::free_bytes()))));
    }
    auto& made = lanes[lane]->eliminations[parity];
    made = std::make_unique<BatchedElimination>(system, static_cast<int>(room),
                                                lanes[lane]->stream.get(), lanes[lane]->cublas);
    return made.get();
  }

  // What the lanes do next. Cases that exchange rows are few as a rule, and thousands of small
  // kernels: they have the first lane, whose kernels do not wait behind the others' large ones.
  std::vector<Share> next_shares(const std::vector<OpenCase>& open) {
    std::vector<Share> shares;
    std::size_t left = batch, lane = 0;
    for (const Method method : {Method::kDense, Method::kParity, Method::kStructured}) {
      std::vector<std::size_t> waiting;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (open[i].next() == method) waiting.push_back(i);
      }
      waiting.resize(std::min(waiting.size(), left));
      left -= waiting.size();
      const auto parts = std::clamp<std::size_t>(waiting.size() / kLeastShare, 1, most_lanes);
      for (std::size_t part = 0; part < parts && !waiting.empty(); ++part) {
        if (method != Method::kDense) lane = std::max<std::size_t>(lane, 1);
        const std::size_t begin = waiting.size() * part / parts;
        const std::size_t end = waiting.size() * (part + 1) / parts;
        auto* const elimination = elimination_for(lane++, method, end - begin, !shares.empty());
        if (elimination == nullptr) return shares;
        Share share{method, {}, {}, elimination, {}, nullptr};
        const auto most = static_cast<std::size_t>(elimination->most_cases());
        for (std::size_t i = begin; i < std::min(end, begin + most); ++i) {
          share.which.push_back(waiting[i]);
          share.cases.push_back(open[waiting[i]].at());
        }
        shares.push_back(std::move(share));
      }
    }
    return shares;
  }
};

BatchSolver::BatchSolver(const Prepared& prepared, int batch, int lanes)
    : parts_(std::make_unique<Parts>(prepared, batch, lanes)) {}
BatchSolver::~BatchSolver() = default;

std::size_t BatchSolver::device_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [parity, system] : parts_->systems) bytes += system.bytes();
  for (const auto& lane : parts_->lanes) {
    for (const auto& [parity, elimination] : lane->eliminations) {
      if (elimination) bytes += elimination->bytes();
    }
  }
  return bytes;
}

void BatchSolver::solve(std::span<const Case> cases, const SolveOptions& options,
                        const OnSolved& on_solved, const std::atomic<bool>* interrupt) {
  if (options.method == Method::kMixed) {
    fail("--device cuda has the methods dense, structured and parity, got 'mixed'");
  }
  std::vector<OpenCase> open;
  for (const auto& c : cases) open.emplace_back(parts_->prepared, c, options);
  // A case that a method does not solve asks for a sturdier one, and waits for the next shares.
  while (interrupt == nullptr || !interrupt->load()) {
    auto shares = parts_->next_shares(open);
    if (shares.empty()) return;
    {
      // A thread for each: what a stream is given waits, once there is much of it, and would keep
      // the others from theirs.
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < shares.size(); ++i) {
        others.emplace_back([&share = shares[i]] { share.solve(); });
      }
      shares.front().solve();
    }
    for (auto& share : shares) {
      if (share.error) std::rethrow_exception(share.error);
      for (std::size_t i = 0; i < share.which.size(); ++i) {
        auto& one = open[share.which[i]];
        one.take(attempt_of(system_of(parts_->prepared, share.method), share.method,
                            std::move(share.results[i])));
        if (!one.next()) on_solved(share.which[i], one.solution());
      }
    }
  }
}

std::string BatchSolver::cublas_version() const { return parts_->lanes.front()->cublas.version(); }

}  // namespace assay::transport::cuda
