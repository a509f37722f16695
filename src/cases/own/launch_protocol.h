// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a worker and assay-launch say to each other, over one socket: a LaunchRequest with its words
// behind it, then a LaunchReply, again and again; the end of the socket is the end of the launcher.
// Both are of one build, so structs are sent as they are.

#include <cstdint>

namespace assay::cases::own {

inline constexpr int kLaunchSocket = 3;  // the launcher's end of it
inline constexpr std::uint32_t kMostLaunchBytes = 4 << 20;
// In place of a file: what is printed goes through a pipe, is read and thrown away.
inline constexpr const char* kThroughPipe = "|";

struct LaunchRequest {
  std::uint32_t bytes = 0;  // of the words that follow, each ended by a zero: the folder to run in
                            // (empty: ours), files for input, output and errors, then argv
  std::uint32_t words = 0;
  std::uint32_t keeps_children = 0;  // 1: what it leaves running stays, as a server of a set-up
};

// What could not be done where start_errno is not 0.
enum class LaunchStep : std::int32_t { kFolder, kInput, kOutput, kErrors, kProgram };

struct LaunchReply {
  std::int32_t start_errno = 0;
  LaunchStep step = LaunchStep::kProgram;
  std::int32_t status = 0;     // as wait4() has it
  std::int32_t leftovers = 0;  // processes that outlived it and were killed
  std::int64_t wall_ns = 0, user_us = 0, system_us = 0, peak_kib = 0;
};

}  // namespace assay::cases::own
