// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/provider.h"

namespace assay::lab {

// Where our own programs are. Found relative to the running program by the command line.
struct Programs {
  std::string worker;          // assay-worker
  std::string python_package;  // the folder that holds assay_worker/
  std::string peers_python;    // interpreter of the optional peers' environment; may not exist
  std::string worker_cuda;     // assay-worker-cuda; may not exist
};

// What a provider gets on this machine, or why it gets nothing.
struct Environment {
  std::vector<std::string> command;             // the worker's argv, without the spec file
  std::string interpreter;                      // for Python providers: which, and found how
  std::string found_by;                         // "ASSAY_PYTHON_TORCH", "peers", "PATH", …
  std::map<std::string, std::string> versions;  // of its modules, where known without importing
  std::optional<Skip> missing;                  // code module_missing, interpreter_missing, …
};

// Resolves environments, asking each interpreter and each library once.
class EnvironmentProbe {
 public:
  // `cases`: whose providers may be asked about, so that one look at an interpreter answers for all
  // of them. Providers of other cases are answered too, at the price of another look.
  explicit EnvironmentProbe(Programs programs, const CaseRegistry& cases = {});

  // The environment of a provider on a platform. For Python: the first interpreter of
  // ASSAY_PYTHON_<PROVIDER>_<PLATFORM>, ASSAY_PYTHON_<PROVIDER>, ASSAY_PYTHON (each final when
  // set), the peers' environment, python3 in PATH, /usr/bin/python3 that has the provider's
  // modules.
  const Environment& operator()(const Provider& provider, const std::string& platform);

  const Programs& programs() const { return programs_; }

 private:
  struct Modules {
    std::optional<Skip> problem;                  // the interpreter itself does not work
    std::map<std::string, std::string> versions;  // of those that are there
  };
  Environment resolve(const Provider& provider, const std::string& platform);
  Environment resolve_python(const Provider& provider, const std::string& platform);
  const Modules& modules_of(const std::string& interpreter, const std::vector<std::string>& asked);

  Programs programs_;
  std::vector<std::string> expected_modules_;  // of all Python providers of the cases, sorted
  std::map<std::string, Environment> environments_;
  std::map<std::string, Modules> modules_;
};

}  // namespace assay::lab
