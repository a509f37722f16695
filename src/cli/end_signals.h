// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace assay::cli {

// From now on the flag says that somebody wants the program to end: by Ctrl-C, by SIGTERM, or by
// closing its terminal (unless nohup has it go on). A second wish has its default action.
void catch_end_signals(std::atomic<bool>& wanted);

}  // namespace assay::cli
