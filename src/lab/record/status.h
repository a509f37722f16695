// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace assay::lab {

// How an attempt ended. Failure and omission are rows, never gaps.
enum class Status {
  kOk,           // measured, and the output passed
  kWrongResult,  // measured, outside tolerance: keeps its times, can win nothing
  kSkipped,      // not applicable here, or excluded by the user; failure.code says which
  kEnvMissing,   // the provider's environment is not there
  kOutOfMemory,
  kTimeout,
  kCrashed,   // ended by a signal
  kFailed,    // reported an error, or left nothing that can be judged
  kExcluded,  // contaminated by a cause recorded before its time was looked at; tried again
  kInterrupted,
};

// The spelling in rows: "ok", "wrong_result", …
std::string_view name_of(Status status);
// Inverse of name_of.
std::optional<Status> find_status(std::string_view name);
// The same. Throws UserError naming `what` and the text.
Status status_from_name(std::string_view name, std::string_view what);

// Whether the attempt's times exist and may be looked at.
constexpr bool is_measured(Status s) { return s == Status::kOk || s == Status::kWrongResult; }
// Whether the attempt has to be made again: it says nothing about the provider.
constexpr bool is_void(Status s) { return s == Status::kExcluded || s == Status::kInterrupted; }

}  // namespace assay::lab
