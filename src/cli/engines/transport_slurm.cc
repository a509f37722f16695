// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/transport_slurm.h"

#include <atomic>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupted.h"
#include "cli/end_signals.h"
#include "cli/engines/transport_commands.h"
#include "cli/engines/transport_device.h"
#include "cli/slurm_options.h"
#include "lab/cluster/slurm_job.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> wants_end = false;

// What was typed, but for what says where it is done.
std::vector<std::string> words_of_ranks(char** argv) {
  static const std::set<std::string> kOurs = {"--executor",      "--partition", "--nodes",
                                              "--account",       "--time",      "--constraint",
                                              "--gpus-per-node", "--ranks"};
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string()};
  for (++argv; *argv != nullptr; ++argv) {
    const std::string word = *argv;
    const auto equals = word.find('=');
    if (!kOurs.contains(word.substr(0, equals))) {
      words.push_back(word);
    } else if (equals == std::string::npos) {
      ++argv;  // its value
    }
  }
  return words;
}

// Bytes of what a scan has kept so far, in a journal and those of its ranks.
std::uint64_t bytes_of_journals(const fs::path& journal) {
  std::uint64_t bytes = 0;
  std::error_code gone;
  for (const auto& file : fs::directory_iterator(journal.parent_path(), gone)) {
    const auto name = file.path().filename().string();
    if (name.starts_with(journal.filename().string())) bytes += file.file_size(gone);
  }
  return bytes;
}

// The program and what it will read, by content: the answer is a function of these and the words.
std::vector<lab::SlurmJobRequest::File> files_of_work(const TransportArguments& a,
                                                      const std::string& program) {
  std::vector<std::string> paths = {program};
  if (a.action == TransportArguments::Action::kDatabase) {
    paths.push_back(a.wout);
    if (!a.booz.empty()) paths.push_back(a.booz);
  } else {
    const auto read = files_read(a, input_with_flags(a));
    paths.insert(paths.end(), read.begin(), read.end());
  }
  std::vector<lab::SlurmJobRequest::File> files;
  for (const auto& path : paths) {
    files.push_back({fs::absolute(path).string(), sha256_file(path)});
  }
  return files;
}

}  // namespace

bool is_for_slurm(const TransportArguments& a) {
  check_executor(a.cluster);
  if (a.ranks && a.cluster.executor != "slurm") {
    fail("--ranks is for --executor slurm (else mpirun -n {}), got {}", *a.ranks, *a.ranks);
  }
  return a.cluster.executor == "slurm";
}

int transport_on_slurm(const TransportArguments& a, char** argv) {
  if (a.output.empty()) fail("--executor slurm needs --output: that is where the job's files are");
  if (is_cuda(a.device)) {
    fail("--device cuda is one process with all cases: leave out --executor '{}'",
         a.cluster.executor);
  }
  catch_end_signals(wants_end);  // a second one leaves the job alone
  const int ranks = a.ranks.value_or(a.cluster.nodes.value_or(1));
  if (ranks < 1) fail("--ranks must be at least 1, got {}", ranks);
  const auto output = fs::absolute(a.output);

  lab::SlurmJobRequest job;
  job.slurm = slurm_options(a.cluster);
  job.folder = output.string() + ".slurm";
  job.output = output.string();
  job.command = words_of_ranks(argv);
  job.files = files_of_work(a, job.command.front());
  job.processes = ranks;
  job.cpus_per_process = a.threads.value_or(1);
  std::string work = output.string() + "\n" + fs::current_path().string();
  for (const auto& word : job.command) work += "\n" + word;
  for (const auto& [path, sha256] : job.files) work += "\n" + sha256 + " " + path;
  job.name = "assay-transport-" + short_hash(work);

  if (wants_end.load()) throw Interrupted("interrupted before anything was submitted");
  const auto journal = fs::absolute(a.journal.empty() ? output.string() + ".journal" : a.journal);
  return lab::run_slurm_job(job, wants_end, [&] { return bytes_of_journals(journal); });
}

}  // namespace assay::cli
