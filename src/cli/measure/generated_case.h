// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two programs as a case file that nobody had to write: what `compare --run` was given, in the form
// that every run, report and history takes.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

// Writes what a command line asked for as FOLDER/cases/PREFIX-<12 digits of its hash>.toml, and
// says where: the same text finds the same file.
std::string write_generated_case(const std::string& folder, std::string_view prefix,
                                 const std::string& toml);

// A program as it was typed: a file, or a command line in quotes.
struct ProgramLine {
  std::string text;               // as typed
  std::vector<std::string> argv;  // the program absolute; of a line for a shell, the shell alone
  bool needs_shell = false;       // it is more than words
  bool is_benchmark = false;      // it holds, or links, Google Benchmark
};
// Throws UserError where a command line has a password in it.
void refuse_password(const std::string& command);

// Throws UserError where there is no such program, or the line has a password in it.
ProgramLine read_program_line(const std::string& text);
// Whether a word can be one: an executable file, a program of PATH, or several words.
bool is_program_line(const std::string& text);

// A case file with the providers `old` and `new`.
struct GeneratedCase {
  std::string path;                   // FOLDER/cases/compare-<12 digits of its hash>.toml
  std::string provider;               // the name for both in what is decided: the program's
  std::vector<std::string> only_old;  // benchmarks that NEW has lost: not measured
};
// Benchmarks of two Google Benchmark programs, a point each: those that both have and whose names
// match `filter` (empty: all). What only one has is told to `note`, in one line. Throws UserError
// where nothing is left.
GeneratedCase benchmarks_as_case(const ProgramLine& old, const ProgramLine& now,
                                 const std::string& filter, const std::string& folder,
                                 const std::function<void(const std::string&)>& note);
// Two commands, timed as whole processes in this folder.
GeneratedCase commands_as_case(const ProgramLine& old, const ProgramLine& now,
                               const std::string& folder);

}  // namespace assay::cli
