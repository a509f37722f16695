// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sched.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/engines/cores.h"
#include "cli/engines/graph_file.h"
#include "cli/engines/kept_search.h"
#include "cli/engines/machine_limits.h"
#include "cli/program.h"
#include "compiler/choose/search.h"
#include "compiler/choose/timing.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/show/show_program.h"
#include "lab/run/noise.h"
#include "models/pt2/operators.h"
#include "tensor/safetensors.h"

namespace assay::cli {
namespace {

using namespace assay::compiler;  // NOLINT: the engine's words are this file's

// Typed ones come first, then what inputs are, then the default.
compiler::Bindings symbols_from(const CompileArguments& a, const GraphFile& file,
                                const std::optional<SafetensorsFile>& inputs) {
  const auto& graph = file.graph;
  auto symbols = default_symbols(graph);
  if (inputs) {
    for (const auto& [name, value] : symbols_of_inputs(file, *inputs, a.inputs)) {
      symbols[name] = value;
    }
  }
  std::set<std::string> given;
  for (const auto& text : a.symbols) {
    const auto equals = text.find('=');
    std::int64_t value = 0;
    const auto name = text.substr(0, equals);
    const auto number = equals == std::string::npos ? "" : text.substr(equals + 1);
    const char* end = number.data() + number.size();
    const auto [stopped, error] = std::from_chars(number.data(), end, value);
    if (number.empty() || stopped != end) {
      fail("--symbols: expected NAME=NUMBER, got '{}'", text);
    }
    const auto found = graph.symbols().find(name);
    if (found == graph.symbols().end()) fail("--symbols: the graph has no symbol '{}'", name);
    const bool is_beyond = error == std::errc::result_out_of_range;
    if (is_beyond || value < found->second.low || value > found->second.high) {
      fail("--symbols: '{}' is from {} to {}, got {}", name, found->second.low, found->second.high,
           number);
    }
    if (!given.insert(name).second) fail("--symbols: '{}' is given twice", name);
    symbols[name] = value;
  }
  return symbols;
}

Runtime runtime_from(const CompileArguments& a) {
  if (a.runtime == "plain") return plain_runtime();
  if (a.runtime != "cpu") fail("--runtime: expected cpu or plain, got '{}'", a.runtime);
  return cpu_runtime(threads_or_all(a.threads));
}

// Says which step is next, so that one that brings everything down has a name.
ExecutorOptions executor_options(const Program& program) {
  ExecutorOptions options;
  const char* value = std::getenv("ASSAY_COMPILER_SEQUENTIAL");  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr || std::string_view(value).empty() || std::string_view(value) == "0") {
    return options;
  }
  options.canaries = true;
  options.before_step = [&program](std::size_t step) {
    const auto& kernel = program.kernels[program.steps[step].kernel];
    fmt::print(stderr, "step {}: {} (kernel {})\n", step, kind_of(kernel),
               program.steps[step].kernel);
  };
  return options;
}

void run_once(const CompileArguments& a, const GraphFile& file,
              const std::optional<SafetensorsFile>& inputs, const Program& program,
              const Runtime& runtime, const compiler::Bindings& symbols) {
  const auto& graph = file.graph;
  Executor executor(program, runtime, executor_options(program));
  std::optional<Trial> trial;
  std::map<std::string, TensorView> views;
  if (inputs) {
    views = input_views(file, *inputs);
  } else {
    trial.emplace(make_trial(graph, symbols, InputStyle::kOrdinary, a.seed));
    views = trial->views();
    for (const auto& [name, view] : file.stored) views.insert_or_assign(name, view);
  }
  const auto result = compiler::run_program(executor, views, symbols);
  if (inputs) refuse_violations(a.graph, file.checks, result.outputs, symbols);
  std::set<std::string> of_checks;
  for (const auto& check : file.checks) of_checks.insert({check.least, check.greatest});
  std::vector<std::pair<std::string, TensorView>> tensors;
  for (const auto& output : graph.outputs()) {
    if (of_checks.contains(output.name)) continue;
    const auto& tensor = output.replaces.empty() ? result.outputs.at(output.name)
                                                 : result.states.at(output.replaces);
    tensors.emplace_back(output.name, tensor.view());
  }
  if (!a.out.empty()) write_safetensors(a.out, tensors);
  if (a.json) return;
  for (const auto& [name, view] : tensors) {
    fmt::print("{} {} {}\n", name, name_of(view.dtype()), view.shape().to_string());
  }
}

// Of the cores' time: more, and speeds are told with a warning.
constexpr double kNoisyShare = 0.05;

// What other programs, and other machines on the same processors, take of this one's cores.
class OtherPrograms {
 public:
  OtherPrograms() : before_(lab::read_noise(cores())), own_s_(own_seconds()) {}
  double share() const {
    const auto after = lab::read_noise(cores());
    return lab::foreign_fraction(before_, after, own_seconds() - own_s_) +
           lab::steal_fraction(before_, after);
  }

 private:
  static std::vector<int> cores() {
    cpu_set_t set;
    std::vector<int> all;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return all;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) all.push_back(i);
    }
    return all;
  }
  static double own_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  lab::NoiseSnapshot before_;
  double own_s_;
};

// The operators of archives, with what is to be known of each.
int list_operators(bool is_json) {
  auto json = Json::array();
  for (const auto& op : models::pt2::covered_operators()) {
    json.push_back({{"name", op.name}, {"note", op.note}});
    if (is_json) continue;
    fmt::print("{:<60}{}\n", op.name, op.note);
  }
  if (is_json) fmt::print("{}\n", pretty_json(json));
  return kFine;
}

Json coverage_to_json(const Verifier::Coverage& coverage) {
  return {{"elements", coverage.elements}, {"bounded", coverage.bounded}};
}

void print_search(const SearchResult& found) {
  fmt::print(
      "search: {} tried now, {} before, {} timed, {} the same, {} given up; {:.1f} s, stopped by "
      "{}\n",
      found.tried, found.from_before, found.timed, found.duplicates, found.abandoned, found.seconds,
      found.stop);
  if (found.genome == Genome{}) {
    fmt::print("none is clearly faster than the program without search\n");
    return;
  }
  fmt::print("{:.3f} [{:.3f}, {:.3f}] times as fast as without search, when it was found\n",
             found.speedup, found.speedup_low, found.speedup_high);
}

}  // namespace

namespace {

// Where no symbol can be smaller, the interpreter takes as long as it takes.
void warn_of_long_verification(const CompileArguments& a, const Graph& graph,
                               const SearchOptions& options) {
  if (a.search == 0 && !a.verify) return;
  const double work =
      interpreted_elements(graph, affordable_symbols(graph, options.verify).front());
  constexpr double kLong = 1e9, kEachSecond = 1e8;  // all looks together, on two cores
  if (work < kLong) return;
  fmt::print(stderr,
             "assay: warning: {:.1e} operations are to be interpreted to verify one program, "
             "whatever --seconds says: some {:.0f} s\n",
             work, work / kEachSecond);
}

int compile_read(const CompileArguments& a, const GraphFile& file,
                 const std::optional<SafetensorsFile>& inputs, const compiler::Bindings& symbols) {
  const auto& graph = file.graph;
  const auto runtime = runtime_from(a);
  auto options = kept_search();
  options.candidates = a.search;
  options.seconds = a.seconds;
  options.seed = a.seed;
  options.symbols = symbols;
  if (!(a.seconds >= 0)) fail("--seconds: 0 or more, got {}", a.seconds);
  if (a.search < 0) fail("--search: candidates, 0 or more, got {}", a.search);
  options.verifies_result = a.verify;
  if (a.verbose) {
    options.progress = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  warn_of_long_verification(a, graph, options);
  SearchResult found;
  const OtherPrograms others;
  try {
    found = search(graph, runtime, options);
  } catch (const WrongProgram& e) {
    fmt::print(stderr, "assay: {}\n", e.what());
    return kWrongResults;
  }
  const double others_share = others.share();
  const auto& coverage = found.verified;
  ProgramFacts facts;
  facts.symbols = options.symbols;
  if (a.explain || !a.trace.empty()) {
    const auto trial = make_trial(graph, options.symbols, InputStyle::kOrdinary, a.seed);
    TimedProgram timed(found.program, runtime, trial);
    timed.call();
    facts.step_seconds = timed.step_seconds();
    facts.units = timed.executor().kernel_units(options.symbols);
    if (a.explain) facts.limits = measured_limits(threads_or_all(a.threads));
  }
  if (!a.dot.empty()) write_file_atomically(a.dot, as_dot(found.program));
  if (!a.trace.empty()) write_file_atomically(a.trace, as_trace(found.program, facts));
  if (a.json) {
    auto json = explained_as_json(found.program, facts);
    json["search"] = {{"tried", found.tried},
                      {"timed", found.timed},
                      {"duplicates", found.duplicates},
                      {"abandoned", found.abandoned},
                      {"too_large", found.too_large},
                      {"from_before", found.from_before},
                      {"speedup", found.speedup},
                      {"speedup_between", {found.speedup_low, found.speedup_high}},
                      {"others_share", others_share},
                      {"seconds", found.seconds},
                      {"stop", found.stop}};
    json["program"] = program_hash(found.program);
    if (coverage) {
      json["verified"] = {{"meaning", coverage_to_json(coverage->meaning)},
                          {"kernels", coverage_to_json(coverage->kernels)},
                          {"runs", coverage_to_json(coverage->runs)},
                          {"unheld", coverage->unheld},
                          {"unseen", coverage->unseen}};
    }
    fmt::print("{}\n", pretty_json(json));
  } else {
    fmt::print("{}", explained(found.program, facts));
    if (a.search > 0 || found.from_before > 0) print_search(found);
    if (coverage) {
      const auto& [meaning, kernels, runs, unheld, unseen] = *coverage;
      fmt::print(
          "verified, elements held to a bound: {} of {} of its meaning in f64, {} of {} of its "
          "kernels one by one, {} of {} of its runs\n",
          meaning.bounded, meaning.elements, kernels.bounded, kernels.elements, runs.bounded,
          runs.elements);
    } else if (a.search > 0) {
      fmt::print("not verified now: an earlier search has verified this program\n");
    }
  }
  if (found.timed > 0 && others_share > kNoisyShare) {
    fmt::print(stderr,
               "assay: warning: other programs had {:.0f} % of the cores during the search: its "
               "times are noisy\n",
               100 * others_share);
  }
  if (a.run) run_once(a, file, inputs, found.program, runtime, options.symbols);
  if (coverage && !coverage->unseen.empty()) {
    fmt::print(stderr,
               "assay: warning: too large to be verified at the size that is used, and verified "
               "at others: {}\n",
               fmt::join(coverage->unseen, ", "));
  }
  if (!coverage || coverage->unheld.empty()) return kFine;
  fmt::print(stderr,
             "assay: no element of these outputs was held to a bound, whether they are right is "
             "not known: {}\n",
             fmt::join(coverage->unheld, ", "));
  return kUnresolved;
}

}  // namespace

int compile_graph(const CompileArguments& a) {
  if (a.operators) return list_operators(a.json);
  if (a.graph.empty()) fail("a graph to compile is missing (see --help)");
  const auto file = read_graph_file(a.graph);
  if (file.graph.outputs().empty()) fail("{}: a graph without outputs", a.graph);
  std::optional<SafetensorsFile> inputs;
  if (!a.inputs.empty()) inputs.emplace(a.inputs);
  if (inputs) refuse_unknown_inputs(file, *inputs, a.inputs);
  const auto symbols = symbols_from(a, file, inputs);
  const bool computes = a.run || a.verify || a.explain || a.search > 0 || !a.trace.empty();
  if (computes) refuse_impossible_sizes(a.graph, file.graph, symbols);
  try {
    return compile_read(a, file, inputs, symbols);
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(fmt::format("{}: not enough memory for what it computes; {}", a.graph,
                                       sizes_told(file.graph, symbols)));
  }
}

}  // namespace assay::cli
