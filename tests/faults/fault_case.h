// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/run/runner.h"
#include "lab/testing/toy_case.h"

namespace assay::lab {

class SilentProgress : public Progress {
 public:
  void planned(const Plan&, int) override {}
  void starting(const PointPlan&, const Contender&, int) override {}
  void finished(const Row&) override {}
  void note(const std::string&) override {}
};

// The toy case with every provider of fault_worker.cc, and a Python provider without its module.
inline std::unique_ptr<Case> fault_case() {
  std::vector<Provider> providers;
  for (const char* id :
       {"plain",        "twin",           "wrong",   "nan",         "cached",    "unwritten",
        "shape",        "dtype",          "nothing", "no-output",   "sleeper",   "forker",
        "exit3",        "segv",           "hog",     "hog-shared",  "noisy",     "bad-report",
        "lying-report", "garbage-output", "thrower", "understated", "overstated"}) {
    providers.push_back({.id = id, .description = "a provider for tests"});
  }
  providers.push_back({.id = "no-module",
                       .description = "needs a module that is not there",
                       .runtime = Runtime::kPython,
                       .modules = {"a_module_that_does_not_exist"}});
  providers.push_back(
      {.id = "simulated", .description = "deterministic", .origin = lab::Origin::kSimulated});
  providers.push_back({.id = "simulated-crash",
                       .description = "dies at n = 16",
                       .origin = lab::Origin::kSimulated});
  return std::make_unique<ToyCase>(std::move(providers));
}

}  // namespace assay::lab
