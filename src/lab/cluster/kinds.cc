// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/kinds.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace assay::lab {
namespace {

// Jobs that are cancelled when nobody waits for them any more.
class Questions {
 public:
  ~Questions() {
    if (!names_.empty()) slurm_cancel(names_);
  }
  void ask(const SlurmOptions& options, const std::string& name, const std::string& script) {
    names_.push_back(name);
    slurm_submit(options, {"--job-name=" + name, "--nodes=1", "--ntasks=1", "--exclusive"}, script);
  }
  // False when they were answered, or will not be.
  bool are_open() const {
    const auto jobs = slurm_jobs(names_);
    return !jobs || std::ranges::any_of(*jobs, is_active);
  }

 private:
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

std::map<std::string, std::vector<std::string>> node_kinds(const std::vector<SlurmNode>& nodes) {
  std::map<std::string, std::vector<std::string>> kinds;
  for (const auto& node : nodes) kinds[node.kind].push_back(node.name);
  return kinds;
}

std::vector<std::string> nodes_of_other_kinds(const SlurmOptions& options,
                                              const std::string& fingerprint,
                                              const std::string& program,
                                              const std::atomic<bool>& stop) {
  const auto kinds = node_kinds(slurm_nodes(options));
  const FolderHere folder;
  std::map<std::string, std::string> answers;  // by kind
  Questions questions;
  for (const auto& [kind, nodes] : kinds) {
    const auto name = "assay-kind-" + short_hash(folder.path() + kind);
    auto only = options;
    for (const auto& [other, names] : kinds) {
      if (other != kind) only.excluded.insert(only.excluded.end(), names.begin(), names.end());
    }
    auto& answer = answers[kind];
    answer = folder.path() + "/" + name;
    write_file_atomically(
        answer + ".sh",
        fmt::format("#!/bin/sh\n{} doctor --json >{}.new && mv {}.new {}\n", shell_quoted(program),
                    shell_quoted(answer), shell_quoted(answer), shell_quoted(answer)));
    questions.ask(only, name, answer + ".sh");
  }
  while (questions.are_open()) {
    if (stop.load()) throw EnvironmentError("interrupted while the nodes were asked what they are");
    ::usleep(500'000);
  }
  std::vector<std::string> others;
  std::string found;
  bool any = false;
  for (const auto& [kind, nodes] : kinds) {
    const auto is = fingerprint_in(answers[kind]);
    if (is.empty()) {
      throw EnvironmentError(fmt::format(
          "a node did not say what it is (does it see this folder?), of kind '{}'", kind));
    }
    any = any || is == fingerprint;
    found += fmt::format("{}{} is {}", found.empty() ? "" : "; ", is, kind);
    if (is != fingerprint) others.insert(others.end(), nodes.begin(), nodes.end());
  }
  if (!any) {
    throw EnvironmentError(
        fmt::format("no node is of the kind asked for ({}): '{}'", found, fingerprint));
  }
  return others;
}

}  // namespace assay::lab
