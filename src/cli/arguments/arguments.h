// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What can be typed, as plain values. Only the files arguments*.cc know CLI11.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::cli {

struct ListArguments {
  std::vector<std::string> cases;
  bool json = false;
};

// How to measure, as every command that does can be told. What is not given is the command's own.
struct MeasureArguments {
  std::optional<int> rounds, cores;
  std::optional<std::string> budget, steady, max_steal, max_foreign;
};

// Where measuring is done: here, or by jobs of a cluster.
struct ExecutorArguments {
  std::string executor;  // local, slurm; empty: local, or where the run was before
  std::string partition, account, time, constraint, pin_kind;
  std::optional<int> nodes, gpus_per_node;
  bool on_each_kind = false;
  // Not typed, but what --on-each-kind makes of it:
  std::string kind;                   // that this run is for
  bool kind_works = true;             // a node of it does
  std::vector<std::string> excluded;  // nodes
};

struct RunArguments {
  std::vector<std::string> cases;  // with a config the names of configurations
  std::string config;
  bool quick = false;
  std::string points;
  std::vector<std::string> providers, skip, platforms;
  std::string baseline;
  MeasureArguments measure;
  std::optional<int> batches, warm_up, cpu_slots, gpus, tries;
  std::optional<std::string> limit, memory, settle, precision;
  std::optional<std::uint64_t> seed;
  std::string label, commit, out, resume, store, trace;
  std::vector<std::string> again;  // the command and its options as typed, without `cases`
  bool in_process = false, dry_run = false, all = false, json = false, strict = false;
  bool quiet = false, flush_l2 = false;
  ExecutorArguments cluster;
};

// `assay time`
struct TimeArguments {
  std::vector<std::string> commands, labels;
  std::string baseline;
  std::vector<std::string> scan;                           // VAR MIN MAX
  std::string step;                                        // of the scan
  std::vector<std::pair<std::string, std::string>> lists;  // VAR, values separated by commas
  std::string shell, input, output;
  bool no_shell = false, ignore_failure = false;
  // One for all commands, or one for each.
  std::vector<std::string> checks, prepare, conclude, setup, cleanup;
  std::optional<int> warm_up, runs, min_runs, max_runs, rounds, cores;
  std::optional<std::string> precision, budget, steady, limit, max_steal, max_foreign;
  std::string case_name = "time", out, export_json, export_markdown;
  bool json = false, quiet = false;
};

// `assay new case NAME`
struct NewArguments {
  std::string name, out;
};

struct ReportArguments {
  std::vector<std::string> sources;
  std::string out;
  bool latest = false, strict = false;
};

struct FiguresArguments {
  std::vector<std::string> sources, cases;
  std::vector<std::string> formats = {"png", "pdf", "svg"};
  std::string out = "figures";
  bool all = false;
};

struct SiteArguments {
  std::vector<std::string> sources;
  std::string out, title = "Assay", commit_url;
};

struct ServeArguments {
  std::vector<std::string> sources;
  std::string host = "127.0.0.1", title = "Assay", commit_url;
  int port = 8377;
  bool expose = false;
};

struct StoreArguments {
  enum class Action { kIngest, kLatest, kPrune, kMerge, kVerify, kExport, kRebuild, kRepair };
  Action action = Action::kIngest;
  std::string url;                   // of the store; with kRepair the journal
  std::vector<std::string> sources;  // journals, folders or stores, by action
  std::string out;
  std::string run;
  int keep = 0;
  bool json = false, in_place = false;
};

struct DoctorArguments {
  bool json = false;
  bool peaks = false;
  std::vector<std::string> sources;  // rows whose noise to show
};

struct CalibrateArguments {
  std::string case_name, point, out;
  std::vector<std::string> providers;
  std::optional<int> comparisons;
  MeasureArguments measure;
  std::optional<std::string> tolerance;
  bool quick = false, json = false;
};

struct ChipArguments {
  enum class Action { kRun, kExplain, kCollective, kSystolic, kCheckTopology };
  Action action = Action::kRun;
  std::string topology;  // file; empty: the default chip
  std::string gemm, variant = "load_ref", order = "mnk";
  std::int64_t multicast = 1;
  std::string network, bandwidth, latency, endpoint;
  std::int64_t ranks = 0, splits = 1, segments = 0, group = 0;
  std::string collective = "all_reduce", algorithm = "ring", bytes, contention = "fifo";
  std::string trace, op_log, window = "composite";
  std::string scalesim_topology, scalesim_config;
  bool json = false;
};

struct TransportArguments {
  enum class Action { kRun, kScan, kInspect, kConverge, kDatabase, kProfiles, kSolve };
  Action action = Action::kRun;
  std::string input;  // TOML file; for converge also the name of a built-in surface
  std::string output, journal, method, grid, device = "cpu", wout, booz, database;
  std::string surface, normalisation, accuracy;
  std::optional<double> nu, er, tolerance, psi_n, min_bmn;
  std::vector<std::string> rho_list, nu_list, er_list;  // numbers and ranges
  std::optional<int> threads, batch, max_points, max_xi;
  bool plot = false, verbose = false, json = false, strict = false;
  ExecutorArguments cluster;
  std::optional<int> ranks;  // of a job
};
std::string_view name_of(TransportArguments::Action action);  // as it is typed

struct EinsumArguments {
  enum class Action { kContract, kCalibrate, kCp, kTucker, kTensorTrain, kMp2 };
  Action action = Action::kContract;
  std::string expression;
  std::vector<std::string> shapes, operands;
  std::string out, dtype, objective = "time", memory, backend, calibration, device = "cpu";
  bool explain = false, analyze = false, json = false;
  std::optional<int> threads, exact_limit, tries;
  std::optional<double> budget;  // seconds
  std::uint64_t seed = 0;
  // decompositions
  std::string tensor, init = "svd", method = "hooi";
  std::vector<std::int64_t> ranks;
  std::optional<double> tolerance;
  int sweeps = 200, restarts = 0;
  bool nonnegative = false;
  // mp2
  std::string b, occupied, virtuals, chain, basis = "sto-3g";
  std::vector<std::int64_t> synthetic;
  double spacing = 1.4;
  std::int64_t frozen_occupied = 0, frozen_virtual = 0;
};

struct CompileArguments {
  std::string graph, runtime = "cpu", dot, trace, inputs, out;
  std::vector<std::string> symbols;  // "s=16"
  bool explain = false, json = false, run = false, verify = false, verbose = false;
  bool operators = false;  // list those of archives
  int search = 0;
  double seconds = 60;
  std::uint64_t seed = 0;
  std::optional<int> threads;
};

struct LlmArguments {
  enum class Action {
    kInit,
    kGenerate,
    kChat,
    kPrompt,
    kExplain,
    kTokenize,
    kTrainTokenizer,
    kBench
  };
  Action action = Action::kGenerate;
  std::string model;  // a folder
  // init
  std::string family, size = "tiny", dtype = "bf16", out;
  std::uint64_t seed = 0;  // of weights, or of sampling
  // generate
  std::optional<std::string> prompt;
  std::vector<std::int64_t> tokens;
  std::int64_t max_tokens = 128;
  std::optional<std::int64_t> top_k;  // what is not typed, the model's folder says
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  bool stream = false, json = false, ignore_end = false;
  std::optional<std::int64_t> context, chunk;
  std::optional<int> threads, search;  // candidates
  std::string device = "cpu";          // or cuda
  double search_seconds = 60;
  std::uint64_t search_seed = 0;
  // chat, and generate with its template
  std::string system;
  bool chat = false;
  // prompt
  std::string messages, tools;
  // explain
  std::int64_t new_tokens = 1, cached_tokens = 128;
  std::string dot, trace;
  // tokenize; neither text nor ids to decode: standard input is encoded
  std::optional<std::string> text, decode;
  bool lines = false, no_special = false;
  // train-tokenizer
  std::string learn_from, style = "llama3", begin;
  std::vector<std::string> special;
  std::size_t vocabulary = 2048;
  // bench
  RunArguments run;
  bool no_sweep = false;
};

struct CompareArguments {
  std::string a, b;
  std::vector<std::string> sources;
  std::string metric, effect = "5%", alpha = "5%", confidence = "95%", between_runs = "5%",
                      between_builds = "0.5%";
  std::string out;
  bool pool = false, json = false, strict = false;
  // --run: measure A and B now; `sources` are then cases
  bool run = false, quick = false;
  std::vector<std::string> providers;
  std::string delta = "5%", filter, points, build, journals;
  MeasureArguments measure;
};

struct GateArguments {
  std::string baseline, current;
  std::vector<std::string> sources;
  std::string delta = "5%", alpha = "5%", confidence = "95%", rule = "intervals", metric;
  std::string out, junit;
  bool pool = false, json = false, markdown = false, strict = false, dry_run = false;
  // --run: measure both sides
  bool run = false, quick = false;
  std::vector<std::string> cases, providers;
  std::string filter, points, build, journals;
  MeasureArguments measure;
  ExecutorArguments cluster;
};

struct HistoryArguments {
  std::string case_name;
  std::vector<std::string> sources;
  std::string provider, point, metric, out;
  bool json = false;
  // --confirm: measure the two commits of a change beside each other
  bool confirm = false;
  std::string at, before, after, build, journals;
  MeasureArguments measure;
};

struct BarsArguments {
  std::string file;
  std::vector<std::string> sources;
  std::string out;
  bool json = false, markdown = false, all = false, strict = false, latest = false;
};

struct ImportArguments {
  std::vector<std::string> files;
  std::string format = "auto", suite = "imported", case_name, provider, commit, time, machine;
  std::string out, store;
  bool here = false, json = false;
};

struct ExportArguments {
  std::vector<std::string> sources;
  std::string format = "csv";  // csv, junit, trace
  std::string run, out;
  bool latest = false;
};

struct BundleArguments {
  std::string case_name, point;
  std::vector<std::string> sources;
  std::string out;
  bool json = false;
};

struct FeedArguments {
  std::string kind;  // op-matrix
  std::vector<std::string> sources, names;
  std::string apply, out, ours, reference, point;
  bool quick_rows = false;
};

using Command =
    std::variant<ListArguments, RunArguments, TimeArguments, NewArguments, ReportArguments,
                 FiguresArguments, SiteArguments, ServeArguments, StoreArguments, DoctorArguments,
                 CalibrateArguments, ChipArguments, TransportArguments, EinsumArguments,
                 CompileArguments, LlmArguments, ImportArguments, ExportArguments, CompareArguments,
                 GateArguments, HistoryArguments, BarsArguments, BundleArguments, FeedArguments>;

// Reads the command line. Prints help, or `version`, and returns an exit status instead where that
// was asked for; throws UserError for anything that cannot be understood. Words may have been taken
// for sources that hold a password, and come as they may be shown: what names no source becomes
// what `as_typed` says.
std::variant<Command, int> parse_arguments(
    int argc, char** argv, const std::string& version,
    const std::function<std::string(const std::string&)>& as_typed);

}  // namespace assay::cli
