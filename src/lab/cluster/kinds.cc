// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/kinds.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupted.h"
#include "base/text.h"
#include "lab/cluster/slurm_waits.h"

namespace assay::lab {
namespace {

constexpr useconds_t kBetweenAnswersUs = 500'000;
constexpr std::int64_t kPatienceAtTheEndNs = 60'000'000'000;

// Jobs that end with this object, answered or not.
class Questions {
 public:
  Questions(const std::atomic<bool>& stop, const std::function<void(const std::string&)>& tell)
      : stop_(stop), tell_(tell) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() {
    const auto until = monotonic_ns() + kPatienceAtTheEndNs;
    while (!names_.empty() && are_open(look()) && monotonic_ns() < until) {
      slurm_cancel(names_);
      ::usleep(kBetweenAnswersUs);
    }
  }
  void ask(const SlurmOptions& options, const std::string& name, const std::string& script) {
    names_.push_back(name);
    slurm_submit(options, {"--job-name=" + name, "--nodes=1", "--ntasks=1", "--exclusive"}, script);
  }
  // Until they were answered, or will not be.
  void wait() {
    SlurmWaits waits;
    for (auto jobs = look(); are_open(jobs); jobs = look()) {
      if (stop_.load()) throw Interrupted("interrupted while the nodes were asked what they are");
      const auto why = jobs ? waits.news(*jobs, monotonic_ns()) : std::nullopt;
      if (why) tell_("warning: " + *why);
      if (!jobs && !std::exchange(is_silent_, true)) tell_("warning: Slurm does not answer");
      ::usleep(kBetweenAnswersUs);
    }
    names_.clear();
  }

 private:
  using Jobs = std::optional<std::vector<SlurmJob>>;
  Jobs look() const { return slurm_jobs(names_, stop_); }
  static bool are_open(const Jobs& jobs) { return !jobs || std::ranges::any_of(*jobs, is_active); }

  const std::atomic<bool>& stop_;
  const std::function<void(const std::string&)>& tell_;
  bool is_silent_ = false;
  std::vector<std::string> names_;
};

// A folder of our own here, which the nodes see as well.
class FolderHere {
 public:
  FolderHere()
      : path_(std::filesystem::absolute(
                  fmt::format(".assay-kinds-{}",
                              short_hash(fmt::format("{} {}", ::getpid(), realtime_ns()))))
                  .string()) {
    make_directories(path_);
  }
  FolderHere(const FolderHere&) = delete;
  FolderHere& operator=(const FolderHere&) = delete;
  ~FolderHere() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string fingerprint_in(const std::string& answer) {
  const auto text = read_small_file(answer).value_or("");
  if (text.empty()) return "";
  const auto machine = json_field<Json>(parse_json(text, answer), "machine", answer);
  return json_field<std::string>(machine, "fingerprint", answer);
}

}  // namespace

std::vector<NodeKind> node_kinds(const std::vector<SlurmNode>& nodes) {
  std::map<std::string, NodeKind> by_name;
  for (const auto& node : nodes) {
    auto& kind = by_name[node.kind];
    kind.name = node.kind;
    kind.nodes.push_back(node.name);
    kind.works = kind.works || node.works;
  }
  std::vector<NodeKind> kinds;
  for (auto& [name, kind] : by_name) {
    for (const auto& node : nodes) {
      if (node.kind != name) kind.others.push_back(node.name);
    }
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

std::vector<std::string> nodes_of_other_kinds(const SlurmOptions& options,
                                              const std::string& fingerprint,
                                              const std::string& program,
                                              const std::atomic<bool>& stop,
                                              const std::function<void(const std::string&)>& tell) {
  const auto kinds = node_kinds(slurm_nodes(options, stop));
  const FolderHere folder;
  const auto answer_of = [&](const NodeKind& kind) {
    return fmt::format("{}/assay-kind-{}", folder.path(), short_hash(folder.path() + kind.name));
  };
  Questions questions(stop, tell);
  tell(fmt::format("asking a node of each kind what it is: {}",
                   plural(std::ranges::count_if(kinds, &NodeKind::works), "job")));
  for (const auto& kind : kinds) {
    if (!kind.works) continue;
    auto only = options;
    only.excluded.insert(only.excluded.end(), kind.others.begin(), kind.others.end());
    const auto answer = answer_of(kind);
    write_file_atomically(
        answer + ".sh",
        fmt::format("#!/bin/sh\n{}{} doctor --json >{}.new && mv {}.new {}\n",
                    shell_needs_folder(folder.path()), shell_quoted(program), shell_quoted(answer),
                    shell_quoted(answer), shell_quoted(answer)));
    questions.ask(only, answer.substr(folder.path().size() + 1), answer + ".sh");
  }
  questions.wait();
  std::vector<std::string> others;
  std::string found;
  bool any = false;
  for (const auto& kind : kinds) {
    const auto is = kind.works ? fingerprint_in(answer_of(kind)) : "";
    if (kind.works && is.empty()) {
      throw EnvironmentError(fmt::format(
          "a node did not say what it is (does it see this folder?), of kind '{}'", kind.name));
    }
    any = any || is == fingerprint;
    if (kind.works) found += fmt::format("{}{} is {}", found.empty() ? "" : "; ", is, kind.name);
    if (is != fingerprint) others.insert(others.end(), kind.nodes.begin(), kind.nodes.end());
  }
  if (!any) {
    throw EnvironmentError(
        fmt::format("no node is of the kind asked for ({}): '{}'", found, fingerprint));
  }
  return others;
}

}  // namespace assay::lab
