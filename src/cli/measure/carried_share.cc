// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/carried_share.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "lab/run/packed_share.h"

namespace assay::cli {

CarriedShare::CarriedShare() {
  const std::string packed{std::istreambuf_iterator<char>(std::cin), {}};
  journal_ = lab::unpack_share(packed, folder_.path());
  rows_ = UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (std::freopen("/dev/null", "w", stdout) == nullptr || !rows_) {
    throw EnvironmentError("cannot send rows to standard output");
  }
}

bool CarriedShare::send(std::span<const lab::Row> rows) const {
  std::string lines;
  for (const auto& row : rows) lines += lab::row_to_line(row) + "\n";
  try {
    write_fully(rows_.get(), lines, "standard output");
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace assay::cli
