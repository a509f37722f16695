// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

namespace assay::lab {

// A disk that takes no more of a run, which is no mistake of whoever asked for it: exit status 5,
// where a DiskError of other commands is output that cannot be written, 2.
class DiskEndsRun : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace assay::lab
