// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/provenance.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/password.h"
#include "base/process.h"

extern char** environ;

namespace assay::lab {
namespace {

// The output of a git command without its newline; empty when it failed.
std::string git(std::vector<std::string> arguments, const std::string& folder = ".") {
  ProcessSpec spec;
  // Without locks: reading must not disturb a user's own git, nor leave a lock behind when killed.
  spec.argv = {"git", "-C", folder, "--no-optional-locks"};
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

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Where things lie is one machine's affair, and may name a person: of every path the last part
// stays.
std::string without_folders(std::string_view value) {
  std::string kept;
  while (!value.empty()) {
    const auto end = std::min(value.find_first_of(": "), value.size());
    const auto part = value.substr(0, end);
    kept += part.starts_with('/') ? part.substr(part.rfind('/') + 1) : part;
    if (end < value.size()) kept += value[end];
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return kept;
}

std::map<std::string, std::string> environment_that_matters() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !matters(text.substr(0, equals))) continue;
    const auto value = text.substr(equals + 1);
    // Perhaps a password, in an address or in text as psql takes it; options of others
    // ("--passes=") have none.
    const bool is_ours = text.starts_with("ASSAY_");
    if (value.find("://") != value.npos || (is_ours && gives_value_to(value))) continue;
    environment[std::string(text.substr(0, equals))] = without_folders(value);
  }
  return environment;
}

}  // namespace

std::optional<std::string> checkout_here() {
  const auto top = git({"rev-parse", "--show-toplevel"});
  if (top.empty()) return std::nullopt;
  const auto project = read_small_file(top + "/CMakeLists.txt").value_or("");
  if (project.find("\nproject(assay ") == std::string::npos) return std::nullopt;
  const auto head = git({"rev-parse", "HEAD"});
  return head.empty() ? std::nullopt : std::optional(head);
}

SourceTree source_tree_at(const std::string& folder) {
  SourceTree tree;
  const auto head = git({"rev-parse", "HEAD"}, folder);
  if (head.empty()) return tree;
  tree.commit = head;
  tree.branch = git({"rev-parse", "--abbrev-ref", "HEAD"}, folder);
  // What is not tracked is no change: results and what was built lie beside the sources.
  tree.dirty = !git({"status", "--porcelain", "--untracked-files=no"}, folder).empty();
  return tree;
}

std::map<std::string, SourceTree> own_trees_of(const RunRequest& request) {
  std::map<std::string, SourceTree> trees;
  if (!request.commit.empty()) return trees;
  for (const auto& file : request.case_files) {
    trees[file.case_name] = source_tree_at(std::filesystem::path(file.path).parent_path());
  }
  return trees;
}

bool measures_only_files(const RunRequest& request) {
  return !request.case_files.empty() && request.case_files.size() == request.cases.size();
}

SourceTree tree_of(const RunRequest& request, const SourceTree& ours) {
  if (!request.commit.empty()) return {request.commit, {}, {}};
  if (!measures_only_files(request)) return ours;
  return source_tree_at(std::filesystem::path(request.case_files.front().path).parent_path());
}

std::string make_run_id(std::int64_t unix_ns, const SourceTree& tree) {
  std::string short_commit;
  for (const char c : tree.commit) {
    if (is_letter_or_digit(c) && short_commit.size() < 7) short_commit += c;
  }
  return utc_compact(unix_ns) + "-" + (tree.commit == "unknown" ? "nogit" : short_commit);
}

std::vector<std::string> mark_other_sources(Provenance& shared, const RunRequest& request,
                                            std::span<const Row> rows) {
  std::vector<std::string> warnings;
  const auto commit = shared.commit.value_or("unknown");
  const auto name = [](const std::string& text) { return text.substr(0, 12); };
  const auto here = request.commit.empty() ? checkout_here() : std::nullopt;
  if (here && *here != commit) {
    shared.tree_commit = *here;
    warnings.push_back(
        fmt::format("warning: this program was built from commit {}, the checkout here is at {}: "
                    "the rows are the program's",
                    name(commit), name(*here)));
  }
  const auto first = std::ranges::find_if(
      rows, [](const Row& row) { return !row.provenance.side && row.provenance.commit; });
  if (first != rows.end() && *first->provenance.commit != commit) {
    warnings.push_back(fmt::format("warning: the run was begun at commit {}, and goes on at {}",
                                   name(*first->provenance.commit), name(commit)));
  }
  return warnings;
}

void check_commit(const std::string& text, const std::string& option) {
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '/';
  };
  if (text.empty() || text.size() > 64 || !std::ranges::all_of(text, allowed) ||
      std::ranges::none_of(text, is_letter_or_digit)) {
    fail("{} must be 1 to 64 letters, digits, '.', '_', '-', '+' or '/', got '{}'", option, text);
  }
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
