// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/installation.h"

namespace assay::cli {

int serve(char** argv) { become_program("assay-serve", argv); }

}  // namespace assay::cli
