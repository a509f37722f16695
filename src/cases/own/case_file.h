// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A case of one's own as a TOML file says it, read and checked at every point. Everything that can
// be wrong is a UserError "FILE:LINE: KEY: …" when it is read, before anything is measured.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/toml.h"
#include "cases/own/expression.h"
#include "cases/own/problem.h"

namespace assay::cases::own {

inline constexpr std::size_t kMostPoints = 10'000;
inline constexpr std::size_t kMostTensors = 64;  // inputs; likewise outputs and providers

// A parameter of the points: integers, or words.
struct ParameterSpec {
  std::string name;
  bool is_word = false;
  std::vector<std::string> words;  // those that the file names
};

// FILE.py:NAME.
struct PythonFunction {
  std::string file;  // absolute; empty: there is no function
  std::string name;
};

// What says which answer is right.
struct OracleSpec {
  enum class Kind { kNone, kPython, kFile, kProvider };
  Kind kind = Kind::kNone;
  PythonFunction python;                     // f(inputs, point) in f64
  std::map<std::string, std::string> files;  // .npy by output
  std::string provider;
  std::optional<Expression> reduction;  // length of the longest sum: the tolerance follows
  std::optional<double> rtol, atol;     // or it is said
  std::int64_t sample_rows = 0;  // rows of an output that are compared; 0: as many as is quick
};

// How a command is run, beside its own words. Hooks and checks are texts for a shell.
struct CommandOptions {
  std::vector<std::string> shell;  // words before -c TEXT; empty: the command is no text but words
  std::string prepare, conclude;   // before and after every run, beside the clock
  std::string setup, cleanup;      // before the first and after the last run of an attempt
  std::string check;               // after the run that is judged; fails: the result is wrong
  std::string input;               // a file; empty: nothing to read
  std::string output = "null";     // what it prints: "null", "pipe" (read, not kept), or a file
  std::string directory;           // where all of that runs; absolute
  bool ignore_failure = false;     // a run counts however it ends
  std::optional<std::int64_t> warm_up;  // runs of an attempt that do not count; else as asked for
};

struct ProviderSpec {
  enum class Kind { kPython, kLibrary, kCommand, kBenchmark };
  std::string id, description;
  Kind kind = Kind::kPython;
  std::vector<std::string> platforms = {"cpu"};
  std::string unequal_work;
  PythonFunction python, setup;
  std::string synchronise;           // dotted name of a function
  std::vector<std::string> modules;  // that Python must have
  std::string library;               // absolute
  // argv, or one text where there is a shell; {name} stands for a parameter or a tensor's file
  std::vector<std::string> command;
  CommandOptions run;
  // Of a Google Benchmark program, whose argv `command` is: the exact name of the benchmark, with
  // {parameter}s; empty: argv has a filter.
  std::string benchmark;
};

struct CaseFile {
  std::string path;  // absolute
  std::string name, suite = "own", description, baseline;
  std::vector<ParameterSpec> parameters;  // `seed` among them where there are inputs
  std::vector<Json> points, quick_points;
  Problem problem;
  OracleSpec oracle;
  std::map<std::string, Expression> work;    // "flops", "bytes", …
  std::map<std::string, Expression> limits;  // by ceiling: how many of its operations or bytes
  std::vector<ProviderSpec> providers;       // in the order of the file

  std::string folder() const;
  const ProviderSpec& provider(std::string_view id) const;
  // Whether every provider is a command that is run for its time (and checked, where it says how):
  // there is nothing to compute, so a run needs no tensors.
  bool is_of_whole_runs() const { return problem.outputs.empty(); }
};

// Reads, checks, and refuses unknown keys.
CaseFile read_case_file(const std::string& path);

// Throws UserError when something of the file has no value, or one that makes no sense, at a point
// that it does not list itself.
void check_point(const CaseFile& file, const Json& point);

// Parts of it, each in a file of its own. They read one table and complain about it.
void read_points(const TomlTable& root, CaseFile& into);     // case_file_points.cc
void read_tensors(const TomlTable& root, CaseFile& into);    // case_file_tensors.cc
void read_providers(const TomlTable& root, CaseFile& into);  // case_file_providers.cc
void read_command(const TomlTable& table, const CaseFile& of,
                  ProviderSpec& provider);  // case_file_commands.cc
void read_benchmark(const TomlTable& table, const CaseFile& of,
                    ProviderSpec& provider);  // case_file_benchmarks.cc

// What those files share. case_file.cc
//
// Letters, digits and underscores, no digit first, at most 32: parameters, tensors, functions.
bool is_name(std::string_view text);
// The absolute path of what a key names, relative to the file's folder; it must be a regular file.
std::string existing_file(const TomlTable& table, std::string_view key, const std::string& text,
                          const CaseFile& of);
// The same path, whether or not there is anything yet.
std::string beside(const CaseFile& of, const std::string& text);
// An array of strings, few and short enough to be arguments.
std::vector<std::string> read_texts(const TomlTable& table, std::string_view key);
PythonFunction python_function(const TomlTable& table, std::string_view key, const CaseFile& of);
// An expression whose parameters all exist, with a value at every point.
Expression read_expression(const TomlTable& table, std::string_view key, const Json& value,
                           Expression::Kind kind, const CaseFile& of);

}  // namespace assay::cases::own
