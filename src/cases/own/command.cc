// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command.h"

#include <string.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace assay::cases::own {
namespace {

constexpr std::size_t kLongestLine = 500;

}  // namespace

std::string last_line(const std::string& path) {
  std::string text;
  try {
    const MappedFile file(path);
    const auto all = file.text();
    constexpr std::size_t kTail = 16 << 10;
    text = std::string(all.substr(all.size() - std::min(all.size(), kTail)));
  } catch (const UserError&) {
    return {};
  }
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  text.resize(end + 1);
  return text.substr(text.find_last_of('\n') + 1).substr(0, kLongestLine);
}

std::string failure_of(const CommandTimes& times) {
  if (times.start_errno != 0) {
    return fmt::format("cannot be started: {}: {}", times.missing, errno_text(times.start_errno));
  }
  if (times.signal) {
    const char* const name = ::strsignal(*times.signal);
    return fmt::format("signal {} ({})", *times.signal, name != nullptr ? name : "unknown");
  }
  if (times.exit_code != 0) return fmt::format("exit status {}", *times.exit_code);
  return {};
}

}  // namespace assay::cases::own
