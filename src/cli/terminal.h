// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/show/terminal/table.h"

namespace assay::cli {

// Columns of the terminal behind a descriptor; 0 for a file or a pipe.
int terminal_columns(int fd);

// How a table on standard output should look: as wide as the terminal, in colour only there.
lab::TableStyle stdout_style();

}  // namespace assay::cli
