// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/side_programs.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/build_commit.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kBuildLimitS = 3600;
constexpr const char* kWorker = "build/assay-worker";

std::string shown(const std::string& text) { return fit(printable(text), 80); }

ProcessResult git(std::vector<std::string> arguments) {
  ProcessSpec spec;
  spec.argv = {"git"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.time_limit_s = 300;
  return run_process(spec);
}

bool succeeded(const ProcessResult& result) {
  return result.exec_errno == 0 && result.exit_code == 0;
}

// The last line that says something.
std::string last_line(const ProcessResult& result) {
  for (const auto* text : {&result.stderr_text, &result.stdout_text}) {
    const auto end = text->find_last_not_of(" \n\t");
    if (end == std::string::npos) continue;
    const auto start = text->rfind('\n', end);
    return text->substr(start == std::string::npos ? 0 : start + 1,
                        end - (start == std::string::npos ? 0 : start + 1) + 1);
  }
  return "it said nothing";
}

std::string commit_of(const std::string& revision) {
  // A revision that begins with a dash would be an option of git's.
  if (revision.empty() || revision.front() == '-') fail("no git revision: '{}'", shown(revision));
  const auto result = git({"rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  if (!succeeded(result)) {
    fail("neither a worker program nor a git revision here: '{}'", shown(revision));
  }
  return result.stdout_text.substr(0, result.stdout_text.find('\n'));
}

// A worktree, which is removed, for git too, when this object ends.
class Worktree {
 public:
  explicit Worktree(const std::string& commit) : path_(folder_.path() + "/tree") {
    const auto result = git({"worktree", "add", "--detach", "--force", path_, commit});
    if (!succeeded(result))
      fail("git cannot check out commit {}: {}", commit, shown(last_line(result)));
  }
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;
  ~Worktree() { git({"worktree", "remove", "--force", path_}); }
  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory folder_{"assay-build"};
  std::string path_;
};

std::string built_worker(const std::string& commit, const std::string& build) {
  const auto command = build.empty() ? std::string(kDefaultBuild) : build;
  const auto folder =
      fs::path(cache_folder()) / "builds" / fmt::format("{}-{}", commit, short_hash(command));
  const auto worker = folder / "assay-worker";
  if (fs::exists(worker)) return worker.string();
  std::fputs(fmt::format("building commit {}: {}\n", commit.substr(0, 12), command).c_str(),
             stderr);
  const Worktree tree(commit);
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", command};
  spec.working_directory = tree.path();
  spec.time_limit_s = kBuildLimitS;
  const auto result = run_process(spec);
  const auto product = fs::path(tree.path()) / kWorker;
  if (!succeeded(result)) {
    fail("the build of commit {} failed: {}", commit.substr(0, 12), shown(last_line(result)));
  }
  if (!fs::exists(product)) {
    fail("the build of commit {} left no {}: '{}'", commit.substr(0, 12), kWorker, shown(command));
  }
  make_directories(folder.string());
  // What it starts commands with; earlier versions had none.
  if (const auto launch = product.parent_path() / "assay-launch"; fs::exists(launch)) {
    fs::copy_file(launch, folder / "assay-launch", fs::copy_options::overwrite_existing);
  }
  // Copied under another name first: a worker that is there is complete.
  const auto partial = folder / "assay-worker.partial";
  fs::copy_file(product, partial, fs::copy_options::overwrite_existing);
  fs::rename(partial, worker);
  return worker.string();
}

// What a worker says of itself; those of earlier versions say nothing.
void ask_source(SideProgram& program) {
  ProcessSpec spec;
  spec.argv = {program.worker, kBuiltFromOption};
  spec.time_limit_s = 60;
  const auto result = run_process(spec);
  if (!succeeded(result)) return;
  const auto line = result.stdout_text.substr(0, result.stdout_text.find('\n'));
  const auto commit = line.substr(0, line.find(' '));
  const bool is_commit = !commit.empty() && commit.size() <= 64 &&
                         commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_commit) return;
  program.commit = commit;
  program.dirty = line.ends_with(" dirty");
}

}  // namespace

SideProgram side_program(const std::string& text, const std::string& build) {
  if (text.empty()) return {"", "this build", "", false};
  if (fs::is_regular_file(text)) {
    const auto path = fs::absolute(text).string();
    if (!find_program(path)) fail("not a program that can be run: '{}'", shown(text));
    SideProgram program{path, shown(text), {}, false};
    ask_source(program);
    return program;
  }
  const auto commit = commit_of(text);
  return {built_worker(commit, build), "commit " + commit.substr(0, 12), commit, false};
}

}  // namespace assay::cli
