// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// An all-reduce replayed by MPI ranks, message by message as a schedule says
// (chip/collective/schedule_text.h):
//
//   mpirun -n RANKS chip-replay SCHEDULE        on this machine: values and numbers of messages
//   smpirun -np RANKS … chip-replay SCHEDULE    in SimGrid's simulator: time as well
//
// Prints one line, "time_s messages wrong": the clock when the last rank was through, messages sent
// by all ranks, and entries that are not the sum. It knows nothing of Assay, so that SimGrid's
// compiler wrapper can build it from this one file.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Transfer {
  int peer = 0, channel = 0, adds = 0;
  std::vector<std::pair<long, long>> ranges;
  std::vector<double> data;
};

struct Stage {
  std::vector<Transfer> sends, receives;
};

struct Program {
  std::vector<Stage> stages;
  std::size_t at = 0;  // the stage under way
  std::vector<MPI_Request> requests;
  bool done() const { return at == stages.size(); }
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "chip-replay: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

Transfer read_transfer(std::istream& in, bool is_receive) {
  Transfer t;
  std::size_t ranges = 0;
  in >> t.peer >> t.channel;
  if (is_receive) in >> t.adds;
  in >> ranges;
  long elements = 0;
  for (std::size_t i = 0; i < ranges && in; ++i) {
    long begin = 0, end = 0;
    in >> begin >> end;
    t.ranges.emplace_back(begin, end);
    elements += end - begin;
  }
  t.data.resize(static_cast<std::size_t>(elements));
  return t;
}

// The programs of one rank, and the size of the vector.
std::vector<Program> read_programs(const char* path, int rank, int size, long& extent) {
  std::ifstream in(path);
  std::string word;
  int ranks = 0;
  if (!(in >> word >> ranks >> extent) || word != "schedule") give_up("not a schedule");
  if (ranks != size) give_up("the schedule is for another number of ranks");
  std::vector<Program> mine;
  int of = 0;
  std::size_t stages = 0;
  while (in >> word >> of >> stages) {
    Program program;
    for (std::size_t s = 0; s < stages; ++s) {
      std::size_t sends = 0, receives = 0;
      if (!(in >> word >> sends >> receives) || word != "stage") give_up("expected a stage");
      Stage stage;
      for (std::size_t i = 0; i < sends + receives; ++i) {
        in >> word;
        const bool is_receive = word == "receive";
        (is_receive ? stage.receives : stage.sends).push_back(read_transfer(in, is_receive));
      }
      if (!in) give_up("the schedule ends within a stage");
      program.stages.push_back(std::move(stage));
    }
    if (of == rank) mine.push_back(std::move(program));
  }
  return mine;
}

double input(int rank, long i) { return static_cast<double>((rank + 1) * (i % 97 + 1)); }

// Posts the transfers of a program's stage.
long start(Program& program, const std::vector<double>& x) {
  Stage& stage = program.stages[program.at];
  program.requests.clear();
  const auto post = [&](Transfer& t, bool is_send) {
    MPI_Request request;
    const int count = static_cast<int>(t.data.size());
    if (is_send) {
      MPI_Isend(t.data.data(), count, MPI_DOUBLE, t.peer, t.channel, MPI_COMM_WORLD, &request);
    } else {
      MPI_Irecv(t.data.data(), count, MPI_DOUBLE, t.peer, t.channel, MPI_COMM_WORLD, &request);
    }
    program.requests.push_back(request);
  };
  for (Transfer& t : stage.receives) post(t, false);
  for (Transfer& t : stage.sends) {
    std::size_t k = 0;
    for (const auto& [begin, end] : t.ranges) {
      for (long i = begin; i < end; ++i) t.data[k++] = x[static_cast<std::size_t>(i)];
    }
    post(t, true);
  }
  return static_cast<long>(stage.sends.size());
}

// Takes in what a stage received.
void finish(Program& program, std::vector<double>& x) {
  for (const Transfer& t : program.stages[program.at].receives) {
    std::size_t k = 0;
    for (const auto& [begin, end] : t.ranges) {
      for (long i = begin; i < end; ++i) {
        double& entry = x[static_cast<std::size_t>(i)];
        entry = t.adds != 0 ? entry + t.data[k] : t.data[k];
        ++k;
      }
    }
  }
  ++program.at;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2) give_up("usage: chip-replay SCHEDULE");
  long extent = 0;
  auto programs = read_programs(argv[1], rank, size, extent);
  std::vector<double> x(static_cast<std::size_t>(extent));
  for (long i = 0; i < extent; ++i) x[static_cast<std::size_t>(i)] = input(rank, i);

  long sent = 0;
  std::size_t left = 0;
  for (auto& program : programs) {
    if (program.done()) continue;
    ++left;
    sent += start(program, x);
  }
  while (left > 0) {
    for (auto& program : programs) {
      if (program.done()) continue;
      int is_over = 1;
      const int count = static_cast<int>(program.requests.size());
      // Asking costs simulated time: a rank with one program has nothing else to do than wait.
      if (programs.size() == 1) {
        MPI_Waitall(count, program.requests.data(), MPI_STATUSES_IGNORE);
      } else {
        MPI_Testall(count, program.requests.data(), &is_over, MPI_STATUSES_IGNORE);
      }
      if (is_over == 0) continue;
      finish(program, x);
      if (program.done()) {
        --left;
      } else {
        sent += start(program, x);
      }
    }
  }

  double now = MPI_Wtime(), last = 0;
  long wrong = 0, counts[2] = {sent, 0}, totals[2] = {0, 0};
  for (long i = 0; i < extent; ++i) {
    double sum = 0;  // of small whole numbers: exact
    for (int r = 0; r < size; ++r) sum += input(r, i);
    wrong += x[static_cast<std::size_t>(i)] != sum ? 1 : 0;
  }
  counts[1] = wrong;
  MPI_Reduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(counts, totals, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.12g %ld %ld\n", last, totals[0], totals[1]);
  MPI_Finalize();
  return 0;
}
