// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a worker is told of a case file (WorkerSpec::definition): enough to serve a provider without
// reading the file, which may change meanwhile.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "cases/own/case_file.h"

namespace assay::cases::own {

struct Definition {
  std::string path;    // of the case file, absolute
  std::string sha256;  // of its content
  Problem problem;
  std::vector<ProviderSpec> providers;
  // Which input set stands for each of the three that an attempt loads: another order for a
  // provider that is asked for the answer to a set that is never judged.
  std::array<int, 3> sets = {0, 1, 2};

  std::string folder() const;
  // Throws UserError that names the file.
  const ProviderSpec& provider(std::string_view id) const;
};

// What a command's process begins as: its program, or its shell.
const std::string& program_of(const ProviderSpec& command);

Json definition_json(const CaseFile& file, const std::string& sha256);
// Throws UserError naming `what`.
Definition definition_from_json(const Json& json, std::string_view what);

// A file that a case depends on, and the hash of its content; empty where there is no such file.
struct NamedFile {
  std::string path, sha256;
  bool operator==(const NamedFile&) const = default;
};
// The case file and every file that it names, in the order of their paths.
std::vector<NamedFile> named_files(const CaseFile& file);

// What is computed: inputs and outputs with the files behind them, the oracle's name and the
// tolerance, as one hash. What providers do is not in it, nor is the oracle's code, which often
// stands in the same file as theirs: a change of either would begin a new history.
std::string problem_hash(const CaseFile& file);
// What that is the hash of.
Json problem_json(const CaseFile& file);

}  // namespace assay::cases::own
