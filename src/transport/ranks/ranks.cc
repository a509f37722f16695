// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/ranks/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/resident_memory.h"
#include "transport/scan/scan_journal.h"

namespace assay::transport {
namespace {

// What a kill may cost where cases are quick.
constexpr std::int64_t kMoment_ns = 100'000'000;

// Sends a batch, or its end (no cases), from rank 0 to everyone.
void broadcast(std::vector<double>& batch) {
  long long count = static_cast<long long>(batch.size());
  MPI_Bcast(&count, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  batch.resize(static_cast<std::size_t>(count));
  MPI_Bcast(batch.data(), static_cast<int>(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

// The texts of all ranks, on rank 0.
std::vector<std::string> gather(const std::string& text, int rank, int size) {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), offsets(static_cast<std::size_t>(size));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t r = 0; r < lengths.size() && rank == 0; ++r) {
    offsets[r] = total;
    total += lengths[r];
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
              0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size() && rank == 0; ++r) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  }
  return texts;
}

}  // namespace

Ranks::Ranks() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  memory_.resize(static_cast<std::size_t>(size_));
}

Ranks::~Ranks() { MPI_Finalize(); }

double Ranks::peak_memory() const { return std::accumulate(memory_.begin(), memory_.end(), 0.0); }

int Ranks::agree(int status) {
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return status;
}

std::vector<Solution> Ranks::solve_share(const Prepared& prepared, const ScanOptions& options,
                                         const std::vector<double>& batch) {
  std::vector<Case> mine;
  for (std::size_t i = static_cast<std::size_t>(rank_); 2 * i < batch.size();
       i += static_cast<std::size_t>(size_)) {
    mine.push_back({batch[2 * i], batch[2 * i + 1]});
  }
  Json reply = {{"error", ""}, {"solutions", Json::array()}};
  try {
    std::vector<Json> solutions(mine.size());
    std::vector<Case> open;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (const auto* known = journal_ ? journal_->find(mine[i]) : nullptr) {
        solutions[i] = solution_to_json(*known);
      } else {
        open.push_back(mine[i]);
        place.push_back(i);
      }
    }
    solve_on_threads(prepared, open, options, [&](std::size_t i, const Solution& s) {
      if (journal_) journal_->append(open[i], s);
      solutions[place[i]] = solution_to_json(s);
    });
    reply["solutions"] = solutions;
  } catch (const std::exception& e) {
    reply["error"] = e.what();
  }
  reply["memory"] = number_to_json(peak_resident_bytes());
  const auto texts = gather(canonical_json(reply), rank_, size_);
  std::vector<Solution> solutions(rank_ == 0 ? batch.size() / 2 : 0);
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const auto json = parse_json(texts[r], "a rank's reply");
    const auto error = json_field<std::string>(json, "error", "a rank's reply");
    if (!error.empty()) fail("rank {}: {}", r, error);
    memory_.at(r) = number_from_json(json["memory"], "a rank's reply");
    std::size_t at = r;
    for (const auto& s : json["solutions"]) {
      solutions.at(at) = solution_from_json(s, "a rank's reply");
      at += texts.size();
    }
  }
  return solutions;
}

void Ranks::run(const Prepared& prepared, const ScanOptions& options,
                const std::function<void(const CaseSolver&)>& root) {
  journal_.reset();
  if (!options.journal.empty()) {
    journal_.emplace(options.journal, scan_settings(prepared, {}, options.method));
    MPI_Barrier(MPI_COMM_WORLD);
    journal_->begin(rank_);
  }
  if (rank_ != 0) {
    while (true) {
      std::vector<double> batch;
      broadcast(batch);
      if (batch.empty()) return;
      solve_share(prepared, options, batch);
    }
  }
  struct End {
    ~End() {
      std::vector<double> none;
      broadcast(none);
    }
  } end;
  root([&](std::span<const Case> cases, const OnSolved& on_solved) {
    const std::size_t lanes = static_cast<std::size_t>(size_) * options.threads;
    const std::size_t most = std::max(lanes, static_cast<std::size_t>(options.batch));
    std::size_t round = lanes;
    for (std::size_t begin = 0; begin < cases.size();) {
      if (options.interrupt != nullptr && options.interrupt->load()) return;
      std::vector<double> batch;
      for (const auto& c : cases.subspan(begin, std::min(round, cases.size() - begin))) {
        batch.insert(batch.end(), {c.nu_hat, c.epsi_hat});
      }
      const auto start = monotonic_ns();
      broadcast(batch);
      for (auto& s : solve_share(prepared, options, batch)) on_solved(begin++, std::move(s));
      round = monotonic_ns() - start < kMoment_ns ? std::min(2 * round, most) : lanes;
    }
  });
}

}  // namespace assay::transport
