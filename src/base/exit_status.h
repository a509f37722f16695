// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How our programs end, for whoever asks for a number only. docs/exits.md has the same table, and
// what
// `--strict` adds; lab/decide/exits.h has the rules that follow from rows.

namespace assay {

inline constexpr int kFine = 0;
inline constexpr int kRegression = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kUnresolved = 3;
inline constexpr int kWrongResults = 4;
inline constexpr int kEnvironmentRefused = 5;
inline constexpr int kBug = 70;  // of ours: the message says where
inline constexpr int kInterrupted = 130;
inline constexpr int kOutputClosed = 141;  // as the shell has it for SIGPIPE

// For `--help`.
inline constexpr const char* kExitStatuses =
    R"(Exit status (where several apply, 4 before 1 before 3):
    0  fine
    1  slower: gate, bars --strict, history --confirm; time: a command failed
    2  usage or bad input; output that cannot be written
    3  nothing shown: run measured nothing, compare and gate had nothing to compare, a gate is unresolved,
       compile could hold nothing to a bound;
       with --strict also what is missing, new, dropped, broken, uncalibrated or not known well enough
    4  wrong results: run, time; gate, where what was ok is wrong, crashed, out of memory, timed out or failed
    5  refused by the environment: a device, a permission, not enough memory
   70  a bug of ours
  130  interrupted
  141  whoever read our output stopped reading (assay list | head))";

}  // namespace assay
