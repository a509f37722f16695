// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/provenance.h"

#include <array>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/process.h"

extern char** environ;

namespace assay::lab {
namespace {

// The output of a git command without its newline; empty when it failed.
std::string git(std::vector<std::string> arguments) {
  ProcessSpec spec;
  // Without locks: reading must not disturb a user's own git, nor leave a lock behind when killed.
  spec.argv = {"git", "--no-optional-locks"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.time_limit_s = 10;
  auto result = run_process(spec);
  if (result.exec_errno != 0 || result.exit_code != 0) return {};
  while (!result.stdout_text.empty() && result.stdout_text.back() == '\n') {
    result.stdout_text.pop_back();
  }
  return result.stdout_text;
}

// Variables that change how numerical code runs. Nothing else of the environment is recorded: it
// may hold secrets.
bool matters(std::string_view name) {
  static constexpr std::array<std::string_view, 13> kPrefixes = {
      "OMP_",   "GOMP_", "KMP_", "OPENBLAS_", "BLIS_",   "MKL_",      "CUDA_VISIBLE_DEVICES",
      "ASSAY_", "XLA_",  "JAX_", "TORCH_",    "MALLOC_", "LD_PRELOAD"};
  for (const auto prefix : kPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

std::map<std::string, std::string> environment_that_matters() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !matters(text.substr(0, equals))) continue;
    environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return environment;
}

}  // namespace

SourceTree read_source_tree() {
  SourceTree tree;
  tree.commit = git({"rev-parse", "HEAD"});
  if (tree.commit.empty()) return {"unknown", "nogit", "unknown", false};
  tree.short_commit = tree.commit.substr(0, 7);
  tree.branch = git({"rev-parse", "--abbrev-ref", "HEAD"});
  tree.dirty = !git({"status", "--porcelain", "--untracked-files=no"}).empty();
  return tree;
}

std::string make_run_id(std::int64_t unix_ns, const SourceTree& tree) {
  return utc_compact(unix_ns) + "-" + tree.short_commit;
}

std::string version() { return ASSAY_VERSION; }

Provenance run_provenance(const SourceTree& tree, const std::string& program) {
  Provenance p;
  p.assay_version = version();
  p.commit = tree.commit;
  p.branch = tree.branch;
  p.dirty = tree.dirty;
  p.binary_sha256 = sha256_file(program);
  p.compiler = ASSAY_COMPILER;
  p.flags = ASSAY_FLAGS;
  p.environment = environment_that_matters();
  return p;
}

}  // namespace assay::lab
