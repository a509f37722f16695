// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The worker programs of the two sides of a comparison: given, or built from git.

#include <string>
#include <string_view>

namespace assay::cli {

// What builds a worker in a checkout of this repository; it must leave build/assay-worker.
inline constexpr std::string_view kDefaultBuild =
    "cmake --preset release && cmake --build build --target assay-worker";

struct SideProgram {
  std::string worker;  // path; empty: our own
  std::string name;    // for people: "this build", a path, "commit 1a2b3c4"
  std::string commit;  // what another worker was built from; empty: not known, or our own
  bool dirty = false;  // with changes that were not committed
};

// The worker behind a word: the path of an executable, or a git revision, which is checked out into
// a worktree apart from the user's files, built by `build` (a shell command; empty: the default),
// and kept under the user's cache by commit and command, so that it is built once. Progress is for
// standard error. Throws UserError that names the word, or the command that failed with the end of
// what it said.
SideProgram side_program(const std::string& text, const std::string& build);

}  // namespace assay::cli
