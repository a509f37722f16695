// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay {

// Bad input from outside: a flag, a file, an environment. The message is one line for a person and
// names the offending value last. Caught once, in main: exit status 2.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The environment refuses what was asked (no such device, no permission to pin): exit status 5.
class EnvironmentError : public UserError {
 public:
  using UserError::UserError;
};

// The disk refuses what is written to it: full, over its quota, read-only, broken. A run that it
// ends can be continued; everything else takes it as a UserError.
class DiskError : public UserError {
 public:
  using UserError::UserError;
};

// A bug of ours. The message says what was assumed and where.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(std::string_view what,
                         std::source_location at = std::source_location::current());
};

// Throws a UserError with a formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::format(format, std::forward<Args>(args)...));
}

// States an assumption that holds unless we made a mistake. Always on.
inline void check(bool holds, std::string_view assumption,
                  std::source_location at = std::source_location::current()) {
  if (!holds) [[unlikely]]
    throw InternalError(assumption, at);
}

// check() for inner loops: on in debug and sanitised builds only.
inline void dcheck([[maybe_unused]] bool holds, [[maybe_unused]] std::string_view assumption,
                   [[maybe_unused]] std::source_location at = std::source_location::current()) {
#if !defined(NDEBUG) || defined(ASSAY_SANITIZED)
  check(holds, assumption, at);
#endif
}

// The text of an errno value, safe from any thread.
std::string errno_text(int code);

}  // namespace assay
