// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm_job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupted.h"
#include "lab/cluster/slurm_waits.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr useconds_t kBetweenLooksUs = 500'000;
constexpr int kMostVainTries = 3;
// Answers in a row that do not know the job: one may come before Slurm has noticed it itself.
constexpr int kAnswersWithoutIt = 4;

// Open MPI speaks PMIx; where Slurm has no plugin for it, PMI-2 is what both may have been built
// with. The files are compared where they will be read: they may change while the job waits.
std::string script_of(const SlurmJobRequest& r, const std::string& prefix) {
  std::string command;
  for (const auto& word : r.command) command += " " + shell_quoted(word);
  const auto here = fs::current_path().string();
  std::string compared;
  for (const auto& [path, sha256] : r.files) {
    const auto file = shell_quoted(path);
    compared += fmt::format(
        "sum=$(sha256sum <{0} | cut -c 1-64)\n"
        "if [ -z \"$sum\" ] && [ -r {0} ]; then finish 143; fi  # a signal came meanwhile\n"
        "if [ \"$sum\" != {1} ]; then\n"
        "  printf 'assay: another file than when it was submitted: %s\\n' {0} >&2\n"
        "  finish 2\n"
        "fi\n",
        file, sha256);
  }
  return fmt::format(
      "#!/bin/sh\n"
      "# {} processes, for sbatch.\n"
      "{}"
      "trap : TERM INT\n"
      "job={}\n"
      "exec 2>>\"$job.log\" >\"$job.out\"\n"
      "rm -f \"$job.status\" \"$job.made\"\n"
      "finish() {{\n"
      "  echo $1 >\"$job.status.new\" && mv \"$job.status.new\" \"$job.status\"\n"
      "  exit $1\n"
      "}}\n"
      "cd {} 2>/dev/null || {{ echo {} >&2; finish {}; }}\n"
      "{}"
      "unset SLURM_LABELIO SLURM_STDINMODE SLURM_STDOUTMODE SLURM_STDERRMODE\n"
      "mpi=pmi2\n"
      "if srun --mpi=list 2>&1 | grep -q pmix; then mpi=pmix; fi\n"
      "srun --mpi=$mpi --ntasks={} --cpus-per-task={} --kill-on-bad-exit=1{}\n"
      "status=$?\n"
      "if [ -f {} ]; then sha256sum <{} | cut -c 1-64 >\"$job.made\"; fi\n"
      "finish $status\n",
      r.processes, shell_needs_folder(r.folder), shell_quoted(prefix), shell_quoted(here),
      shell_quoted(unseen_folder(here)), kEnvironmentRefused, compared, r.processes,
      r.cpus_per_process, command, shell_quoted(r.output), shell_quoted(r.output));
}

// Of one runner at a time. The folder goes with its lock in it: whoever opened that too late has a
// file of no name, and tries again.
FileLock folder_of_our_own(const std::string& folder) {
  const auto path = folder + "/lock";
  while (true) {
    make_directories(folder);
    auto lock = FileLock::try_acquire(path);
    if (!lock) fail("another command follows the job of this output already: '{}'", folder);
    struct stat ours {
    }, there{};
    if (::fstat(lock->fd(), &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) {
      return std::move(*lock);
    }
  }
}

class FollowedJob {
 public:
  FollowedJob(const SlurmJobRequest& request, const std::atomic<bool>& stop)
      : request_(request), stop_(stop), lock_(folder_of_our_own(request.folder)) {}

  // Files in the folder are called as the job that they are of. A job of other work that is not
  // over would write the same output beside ours.
  void remove_other_work() {
    std::set<std::string> others;
    for (const auto& file : fs::directory_iterator(request_.folder)) {
      const auto name = file.path().stem().string();
      if (file.path().extension() == ".sh" && name != request_.name) others.insert(name);
    }
    for (const auto& name : others) {
      for (const auto& job : answer_about(name)) {
        if (!lab::is_active(job)) continue;
        fail("job {} ('{}') is other work on the same output (scancel {}, or wait for it): '{}'",
             job.id, name, job.id, request_.output);
      }
    }
    for (const auto& file : fs::directory_iterator(request_.folder)) {
      const auto name = file.path().filename().string();
      if (name != "lock" && !name.starts_with(request_.name + ".")) fs::remove_all(file.path());
    }
  }

  void submit() {
    const auto script = path("sh");
    write_file_atomically(script, script_of(request_, request_.folder + "/" + request_.name));
    std::error_code ignored;
    for (const char* what : {"status", "log", "out", "made"}) fs::remove(path(what), ignored);
    told_ = 0;
    answers_without_ = 0;
    std::vector<std::string> arguments = {
        fmt::format("--ntasks={}", request_.processes),
        fmt::format("--cpus-per-task={}", request_.cpus_per_process)};
    if (request_.slurm.nodes > 0) {
      arguments.push_back(fmt::format("--nodes={}", request_.slurm.nodes));
    }
    const auto wait = [&](const std::string& why) {
      tell_silence(why);
      ::usleep(kBetweenLooksUs);
    };
    const auto id =
        slurm_submit_patiently(request_.slurm, request_.name, arguments, script, stop_, wait);
    if (id) std::fputs(fmt::format("submitted as job {}\n", *id).c_str(), stderr);
  }

  // False where Slurm does not answer.
  bool cancel() {
    if (slurm_cancel({request_.name})) return true;
    if (!std::exchange(was_told_of_the_end_, true)) {
      std::fputs(unanswered_end().c_str(), stderr);
      std::fputs("\n", stderr);
    }
    return false;
  }

  // Whether one is there that somebody else submitted.
  bool is_there() {
    const auto jobs = answer_about(request_.name);
    remember(jobs);
    return std::ranges::any_of(jobs, lab::is_active);
  }

  // When it is not, last_state() is how it ended. A Slurm that does not answer has lost nothing.
  bool is_active() {
    const auto jobs = slurm_jobs({request_.name}, stop_);
    if (!jobs) return true;
    if (const auto why = waits_.news(*jobs, monotonic_ns())) {
      std::fputs(("warning: " + *why + "\n").c_str(), stderr);
    }
    remember(*jobs);
    if (!jobs->empty()) answers_without_ = 0;
    if (jobs->empty() && !status()) return ++answers_without_ < kAnswersWithoutIt;
    return std::ranges::any_of(*jobs, lab::is_active);
  }

  void tell_log() {
    const auto text = read_small_file(path("log")).value_or("");
    if (text.size() <= told_) return;
    std::fputs(text.c_str() + told_, stderr);
    if (text.back() != '\n') std::fputc('\n', stderr);
    told_ = text.size() + 1;  // with the line's end, which read_small_file() takes off
  }

  // What the command ended with, where it came to an end by itself. A success is none without the
  // file that it is about.
  std::optional<int> status() const {
    const auto text = read_small_file(path("status"));
    if (!text || !fs::exists(path("out"))) return std::nullopt;
    const int status = std::atoi(text->c_str());
    const bool has_written = fs::exists(path("made"));
    if (status != kFine && !has_written) return status;
    const bool is_there = has_written && fs::is_regular_file(request_.output) &&
                          sha256_file(request_.output) == read_small_file(path("made"));
    return is_there ? std::optional(status) : std::nullopt;
  }
  const std::string& last_state() const { return last_.state; }
  // Slurm's reason, where it will not start the job, however often.
  std::optional<std::string> refusal() const {
    return was_refused(last_) ? std::optional(last_.reason) : std::nullopt;
  }
  // Its node did not see the folder.
  bool was_blind() const { return last_.exit_code == kFolderUnseen; }

  int end(int with) {
    if (with != kInterrupted) std::fputs(read_file(path("out")).c_str(), stdout);
    remove();
    return with;
  }
  void remove() const { fs::remove_all(request_.folder); }
  void forget_status() const { fs::remove(path("status")); }

 private:
  void remember(const std::vector<SlurmJob>& jobs) {
    last_ = jobs.empty() ? SlurmJob() : jobs.back();
  }

  std::string path(const char* what) const {
    return fmt::format("{}/{}.{}", request_.folder, request_.name, what);
  }

  // What Slurm knows of a name, however long it takes to say so.
  std::vector<SlurmJob> answer_about(const std::string& name) {
    while (true) {
      std::string why;
      if (auto jobs = slurm_jobs({name}, stop_, &why)) return std::move(*jobs);
      if (stop_.load()) throw Interrupted("interrupted while Slurm was asked for the job");
      tell_silence(why);
      ::usleep(kBetweenLooksUs);
    }
  }

  void tell_silence(const std::string& why) {
    if (std::exchange(is_silent_, true)) return;
    std::fputs(fmt::format("warning: Slurm does not answer: {}\n", why).c_str(), stderr);
  }

  const SlurmJobRequest& request_;
  const std::atomic<bool>& stop_;
  const FileLock lock_;
  std::size_t told_ = 0;
  int answers_without_ = 0;
  SlurmWaits waits_;
  SlurmJob last_;
  bool is_silent_ = false, was_told_of_the_end_ = false;
};

}  // namespace

int run_slurm_job(const SlurmJobRequest& request, const std::atomic<bool>& stop,
                  const std::function<std::uint64_t()>& progress) {
  need_slurm();
  FollowedJob job(request, stop);
  job.remove_other_work();
  bool cancelled = false;
  for (int vain = 0; vain < kMostVainTries;) {
    const auto before = progress();
    if (job.is_there()) {
      std::fputs("the job of an earlier runner goes on\n", stderr);
    } else if (job.status()) {
      // It ended while nobody looked.
    } else {
      job.submit();
    }
    while (job.is_active()) {
      // Again and again: what was submitted a moment ago may not be known yet.
      if (stop.load()) cancelled = job.cancel() || cancelled;
      job.tell_log();
      ::usleep(kBetweenLooksUs);
    }
    job.tell_log();
    const auto status = job.status();
    if (cancelled || job.last_state() == "CANCELLED") return job.end(kInterrupted);
    if (const auto why = job.refusal()) {
      throw EnvironmentError(fmt::format("Slurm refused the job ({}), which was asked for with: {}",
                                         *why, placement_typed(request.slurm)));
    }
    if (job.was_blind()) throw EnvironmentError(unseen_folder(request.folder));
    // srun says 1 where a node was lost, 128 and more of a signal: nobody's answer.
    if (status && *status != 1 && *status < 128) return job.end(*status);
    std::fputs(
        fmt::format("the job was lost{}\n", job.last_state().empty() ? "" : ": " + job.last_state())
            .c_str(),
        stderr);
    job.forget_status();
    vain = progress() > before ? 0 : vain + 1;
  }
  throw EnvironmentError(fmt::format("{} jobs in a row were lost and had done nothing: '{}'",
                                     kMostVainTries, request.name));
}

}  // namespace assay::lab
