// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::cli {

// Which source this program was built from. Defined by a file that the build writes
// (cmake/BuildCommit.cmake), so that a commit costs one small file and a link.
struct BuildCommit {
  const char* commit;  // "unknown" where there was no git
  const char* branch;
  bool dirty;  // with changes that were not committed
};
extern const BuildCommit kBuildCommit;

// `assay-worker --built-from` prints the commit, and after a space "dirty" where it was.
inline constexpr const char* kBuiltFromOption = "--built-from";

}  // namespace assay::cli
