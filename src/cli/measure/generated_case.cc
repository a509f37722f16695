// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/generated_case.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/toml.h"
#include "cases/own/case_file.h"
#include "cases/own/command_words.h"
#include "lab/store/shown_source.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kListLimitS = 60;
constexpr std::size_t kLongestBenchmark = 200;  // a point's word
constexpr std::size_t kNamesShown = 5;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_./=+,:@%-").find(c) != std::string_view::npos;
}

// Whether any shell would make the same words of it as splitting at blanks does.
bool needs_no_shell(const std::string& line) {
  return std::ranges::all_of(line, [](char c) { return is_plain(c) || c == ' '; }) &&
         line.substr(0, line.find(' ')).find('=') == std::string::npos;
}

// Asking a program what it is by starting it with an option that it may not know could do anything:
// its bytes tell.
bool holds_google_benchmark(const std::string& program) {
  const MappedFile file(program);
  return file.text().find("benchmark_list_tests") != std::string_view::npos ||
         file.text().find("libbenchmark.so") != std::string_view::npos;
}

// What a program prints, a line each.
std::vector<std::string> lines_of(const ProgramLine& program, const std::string& filter) {
  const TemporaryDirectory folder("assay-list");
  const auto out = folder.path() + "/names";
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\" </dev/null", "sh", out};
  spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
  spec.argv.insert(spec.argv.end(),
                   {"--benchmark_list_tests=true", "--benchmark_filter=" + filter});
  spec.time_limit_s = kListLimitS;
  const auto result = run_process(spec);
  if (result.exit_code != 0) {
    fail("it does not list its benchmarks ({}): '{}'",
         result.timed_out ? fmt::format("ended after {} s", kListLimitS)
         : result.signal  ? fmt::format("signal {}", *result.signal)
                          : fmt::format("exit status {}", result.exit_code.value_or(-1)),
         fit(printable(program.text), 80));
  }
  const MappedFile file(out);
  std::vector<std::string> lines;
  for (std::string_view text = file.text(); !text.empty();) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Its benchmarks. What a program prints also where none can match is no benchmark.
std::vector<std::string> benchmarks_of(const ProgramLine& program, const std::string& filter) {
  const auto others = lines_of(program, "^$");
  auto names = lines_of(program, filter.empty() ? "." : filter);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(others, name) != others.end();
  });
  return names;
}

std::string some_of(const std::vector<std::string>& names) {
  const auto count = std::min(names.size(), kNamesShown);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < count; ++i) shown.push_back(fit(printable(names[i]), 60));
  const auto more = names.size() - count;
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

bool fits_a_point(const std::string& name) {
  try {
    toml_quoted(name);
  } catch (const UserError&) {
    return false;
  }
  return name.size() <= kLongestBenchmark && name.front() != ' ' && name.back() != ' ' &&
         std::ranges::all_of(
             name, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

std::string toml_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(toml_quoted(word));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

// A name for the case: of the program that is new, with what a case's name may have.
std::string base_name(const ProgramLine& program) {
  const auto begin = std::min(program.text.find_first_not_of(' '), program.text.size());
  const auto end = std::min(program.text.find(' ', begin), program.text.size());
  auto name = fs::path(program.text.substr(begin, end - begin)).filename().string();
  for (char& c : name) {
    if (!is_plain(c) || std::string_view("./=+,:@%").find(c) != std::string_view::npos) c = '_';
  }
  return name.substr(0, 24);
}

GeneratedCase write_case(const ProgramLine& now, const std::string& folder, std::string text) {
  const auto name = base_name(now);
  text = fmt::format("# Written by assay.\ncase = {}\noracle = \"none\"\n",
                     toml_quoted("compare-" + name)) +
         text;
  return {write_generated_case(folder, "compare", text), name, {}};
}

std::string providers(const ProgramLine& old, const ProgramLine& now, const char* key,
                      const std::string& more) {
  std::string text;
  for (const auto& [id, program] : {std::pair("old", &old), {"new", &now}}) {
    text +=
        fmt::format("[providers.{}]\n{} = {}\ndirectory = {}\n{}", id, key,
                    program->needs_shell ? toml_quoted(program->text) : toml_list(program->argv),
                    toml_quoted(fs::current_path().string()), more);
  }
  return text;
}

}  // namespace

std::string write_generated_case(const std::string& folder, std::string_view prefix,
                                 const std::string& toml) {
  const auto cases = (fs::absolute(folder.empty() ? "." : folder) / "cases").lexically_normal();
  make_directories(cases.string());
  const auto path = cases / fmt::format("{}-{}.toml", prefix, sha256_hex(toml).substr(0, 12));
  if (!fs::exists(path)) write_file_atomically(path.string(), toml);
  return path.string();
}

bool is_program_line(const std::string& text) {
  if (text.find_first_not_of(' ') == std::string::npos) return false;
  if (text.find(' ') != std::string::npos && !fs::exists(text)) return true;
  return find_program(text).has_value() && !fs::is_directory(text);
}

void refuse_password(const std::string& command) {
  if (!lab::command_has_password(command)) return;
  fail(
      "a command has a password in a URL, which its rows and the list of processes would show (a "
      "file such as ~/.pgpass or ~/.netrc keeps it, or a variable of the shell's): '{} …'",
      lab::shown_source(command.substr(0, command.find(' '))));
}

ProgramLine read_program_line(const std::string& text) {
  refuse_password(text);
  ProgramLine program;
  program.text = text;
  if (fs::is_regular_file(text)) {
    program.argv = {fs::absolute(text).lexically_normal().string()};
  } else if (needs_no_shell(text)) {
    program.argv = cases::own::words_of(text);
  } else {
    program.needs_shell = true;
    program.argv = {"/bin/sh"};
  }
  const auto found = find_program(program.argv[0]);
  if (!found) fail("no such program: '{}'", fit(printable(program.argv[0]), 80));
  program.argv[0] = fs::absolute(*found).lexically_normal().string();
  program.is_benchmark = !program.needs_shell && fs::is_regular_file(program.argv[0]) &&
                         holds_google_benchmark(program.argv[0]);
  return program;
}

GeneratedCase benchmarks_as_case(const ProgramLine& old, const ProgramLine& now,
                                 const std::string& filter, const std::string& folder,
                                 const std::function<void(const std::string&)>& note) {
  const auto before = benchmarks_of(old, filter), after = benchmarks_of(now, filter);
  std::vector<std::string> shared, only_old, only_new, unfit;
  std::set<std::string> seen;
  for (const auto& name : before) {
    const bool is_new = seen.insert(name).second;
    const bool is_once =
        std::ranges::count(before, name) == 1 && std::ranges::count(after, name) < 2;
    if (!fits_a_point(name) || !is_once) {
      if (is_new) unfit.push_back(name);
    } else {
      (std::ranges::find(after, name) != after.end() ? shared : only_old).push_back(name);
    }
  }
  for (const auto& name : after) {
    if (std::ranges::find(before, name) == before.end()) only_new.push_back(name);
  }
  std::vector<std::string> told;
  if (!only_old.empty()) told.push_back("only in OLD: " + some_of(only_old));
  if (!only_new.empty()) told.push_back("only in NEW: " + some_of(only_new));
  if (!unfit.empty()) told.push_back("two of one name, or no name for a point: " + some_of(unfit));
  if (shared.empty()) {
    fail("the programs have no benchmark in common{}{}{}{}",
         filter.empty() ? "" : fmt::format(" that matches '{}'", fit(printable(filter), 80)),
         told.empty() ? "" : " (", fmt::join(told, "; "), told.empty() ? "" : ")");
  }
  if (shared.size() > cases::own::kMostPoints) {
    fail("{} benchmarks, at most {} (see --filter)", shared.size(), cases::own::kMostPoints);
  }
  if (!told.empty()) note(fmt::format("{}", fmt::join(told, "; ")));
  std::string points;
  for (const auto& name : shared) {
    points += fmt::format("[[points]]\nbenchmark = {}\n", toml_quoted(name));
  }
  auto made =
      write_case(now, folder,
                 points + providers(old, now, "google_benchmark", "benchmark = \"{benchmark}\"\n"));
  made.only_old = std::move(only_old);
  return made;
}

GeneratedCase commands_as_case(const ProgramLine& old, const ProgramLine& now,
                               const std::string& folder) {
  return write_case(now, folder, providers(old, now, "command", ""));
}

}  // namespace assay::cli
