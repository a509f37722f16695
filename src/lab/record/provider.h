// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/record/status.h"

namespace assay::lab {

// What runs a provider: our own worker, or the Python worker.
enum class Runtime { kNative, kPython };

// Where a provider's primary metric comes from. What is not measured involves no clock and is the
// same at every call: one round, and all points in one process. Rows keep it as
// provenance.origin, and every figure says it.
enum class Origin { kMeasured, kSimulated, kClosedForm };
std::string_view origin_name(Origin origin);  // "measured", "simulated", "closed form"

// A way to compute a case, and the environment it needs.
struct Provider {
  std::string id;
  std::string description;  // one line; states the arithmetic where it is a choice
  Runtime runtime = Runtime::kNative;
  std::vector<std::string> platforms = {"cpu"};
  std::vector<std::string> modules;  // Python modules it imports; the first gives its version
  // Threads that the libraries behind it are told to use (OMP_NUM_THREADS and its like); 0: as many
  // as the attempt has cores.
  int threads = 0;
  std::string library;  // shared library it loads ("libopenblas.so.0"), if any
  std::string program;  // program it starts, if any: a path, or looked up in PATH
  // A provider that does less or other work than the case's definition says so, with the reason;
  // empty: equal work.
  std::string unequal_work;
  // False: it leaves no output, so nobody can say whether it is right (Fidelity::kNoOracle),
  // whatever oracle the case has for others.
  bool judged = true;
  Origin origin = Origin::kMeasured;
  // How its attempts are meant to end: a provider kept to show what the judge refuses has
  // kWrongResult here, and then such rows are no failure of the run.
  Status expected_status = Status::kOk;

  bool deterministic() const { return origin != Origin::kMeasured; }
};

// The provider behind a row's name. `naive@b` is the provider `naive` under another name: the same
// code for an A/A comparison, or the code of another build (RunSide in lab/record/request.h).
inline std::string_view provider_of(std::string_view name) {
  return name.substr(0, name.find('@'));
}
// What follows the `@`; empty for a plain provider.
inline std::string_view side_of(std::string_view name) {
  const auto at = name.find('@');
  return at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
}

}  // namespace assay::lab
