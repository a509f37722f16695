// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each command accepts: one function for each, which describes its arguments to CLI11 and
// says where they go. CLI11 takes seconds to compile, so commands share a file by kind:
// arguments.cc (measuring and keeping), arguments_time.cc, arguments_engines.cc,
// arguments_llm.cc, arguments_exchange.cc, arguments_decide.cc, arguments_publish.cc (pages),
// arguments_cluster.cc (where measuring is done).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::cli {

// Of the argument `source`, which many commands have.
inline constexpr const char* kSourcesHelp = "journals, folders of journals, stores (results/)";

// What --rounds, --budget, --steady, --cores, --max-steal and --max-foreign mean to a command.
struct MeasureHelp {
  std::string rounds;
  std::string budget;           // empty: the command has no --budget
  std::string steady = "0.5s";  // what is taken where none is given
  std::string cores = "all";    // likewise
};
// arguments.cc; `group` is the heading in the help.
void add_measure_options(CLI::App& app, MeasureArguments& a, const MeasureHelp& help,
                         const std::string& group);

// What --executor, --nodes and --time mean to a command, and whether it knows kinds of nodes.
struct ExecutorHelp {
  std::string executor, nodes, time;
  bool kinds = false;
};
// arguments_cluster.cc
void add_executor_options(CLI::App& app, ExecutorArguments& a, const ExecutorHelp& help);

// Options that several commands have. arguments.cc
CLI::Option* add_seed(CLI::App& app, const std::string& help,
                      std::function<void(std::uint64_t)> set);
CLI::Option* add_rounds(CLI::App& app, std::optional<int>& rounds, const std::string& help);

// Options of a command and its subcommands that name a file, a folder, a store, points or where
// jobs go take no empty name, and those for a number no empty number: that is a script's variable
// that was never set, and would pass for an option that was not given. arguments_places.cc
void refuse_empty_values(CLI::App& app);

// Options and arguments that name no source get what was typed, also where it looked like an
// address. arguments_places.cc
void keep_free_texts(CLI::App& app, const std::function<std::string(const std::string&)>& as_typed);

// Keeps, once it is parsed, a command with its options as they were typed, without what else it
// names: what can be typed again with other names. arguments_again.cc
void keep_options(CLI::App& app, std::vector<std::string>& words);

// arguments_time.cc
void add_time(CLI::App& app, TimeArguments& a);

// arguments_publish.cc
void add_site(CLI::App& app, SiteArguments& a);
void add_serve(CLI::App& app, ServeArguments& a);

// arguments_engines.cc
void add_chip(CLI::App& app, ChipArguments& a);
void add_transport(CLI::App& app, TransportArguments& a);
void add_einsum(CLI::App& app, EinsumArguments& a);
void add_compile(CLI::App& app, CompileArguments& a);

// arguments_llm.cc
void add_llm(CLI::App& app, LlmArguments& a);

// arguments_decide.cc
void add_compare(CLI::App& app, CompareArguments& a);
void add_gate(CLI::App& app, GateArguments& a);
void add_bars(CLI::App& app, BarsArguments& a);
void add_history(CLI::App& app, HistoryArguments& a);

// arguments_exchange.cc
void add_import(CLI::App& app, ImportArguments& a);
void add_export(CLI::App& app, ExportArguments& a);
void add_bundle(CLI::App& app, BundleArguments& a);
void add_feed(CLI::App& app, FeedArguments& a);

}  // namespace assay::cli
