// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "base/resident_memory.h"
#include "base/toml.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "cli/engines/transport_device.h"
#include "kernels/blas/blas.h"
#include "transport/files/equilibrium.h"
#include "transport/files/result_data.h"
#include "transport/ranks/ranks.h"

namespace assay::cli {
namespace {

namespace tr = assay::transport;

constexpr std::int64_t kTellEvery_ns = 200'000'000;  // how far a scan has come

class Stopwatch {
 public:
  double lap() {
    const auto now = monotonic_ns();
    const double seconds = 1e-9 * static_cast<double>(now - last_);
    last_ = now;
    return seconds;
  }

 private:
  std::int64_t last_ = monotonic_ns();
};

// Whether a scan's input is a built-in surface rather than a file.
bool names_surface(const TransportArguments& a) {
  return a.action == TransportArguments::Action::kScan &&
         std::ranges::find(tr::builtin_names(), a.input) != tr::builtin_names().end();
}

// --nu and --er in place of what the file says.
void take_lists(const TransportArguments& a, tr::RunInput& in) {
  if (!a.nu_list.empty()) in.nu_hat = typed_list(a.nu_list, "--nu", "");
  for (const double nu : in.nu_hat) {
    if (!(nu > 0)) fail("--nu must be above 0, got {}", nu);
  }
  if (!a.er_list.empty()) {
    in.field = typed_list(a.er_list, "--er", "");
    in.field_is_er = true;
  }
  if (in.pairs && in.nu_hat.size() != in.field.size()) {
    fail("pairs need lists of one length, got {} of --nu and {} of --er", in.nu_hat.size(),
         in.field.size());
  }
  in.scan = in.nu_hat.size() > 1 || in.field.size() > 1;
}

tr::ScanOptions scan_options(const TransportArguments& a, const tr::RunInput& in) {
  tr::ScanOptions options;
  options.method = in.method;
  options.threads = in.threads.value_or(1);
  options.batch = in.batch;
  options.whole_system = in.whole_system;
  if (is_cuda(a.device)) {
    options.device = a.device;
    options.batch = in.batch_given ? in.batch : 0;
  }
  if (a.action == TransportArguments::Action::kScan) {
    options.journal = !a.journal.empty()   ? a.journal
                      : !in.output.empty() ? in.output + ".journal"
                                           : "";
    options.on_progress = [begin = monotonic_ns(), told = std::int64_t{0}](
                              std::size_t done, std::size_t total) mutable {
      const auto now = monotonic_ns();
      if (done < total && now - told < kTellEvery_ns) return;
      told = now;
      const double seconds = 1e-9 * static_cast<double>(now - begin);
      std::fputs(fmt::format("{} of {} cases, {:.1f} s\n", done, total, seconds).c_str(), stderr);
    };
  }
  return options;
}

void tell_counts(const TransportArguments& a, const tr::ScanResult& result) {
  if (!a.verbose && result.resumed == 0) return;
  std::fputs(fmt::format("{} cases solved, {} resumed, {} by symmetry\n", result.solved,
                         result.resumed, result.mirrored)
                 .c_str(),
             stderr);
}

std::vector<tr::Solution> solve_all(const TransportArguments& a, const tr::RunInput& in,
                                    const tr::Prepared& prepared, tr::Ranks* ranks) {
  const auto cases = in.cases(prepared.geometry().psi_prime);
  if (!in.scan && ranks == nullptr) {
    const tr::SolveOptions options = {
        .method = in.method, .keep_modes = in.include_modes, .whole_system = in.whole_system};
    return {is_cuda(a.device) ? solve_on_device(prepared, cases.front(), options)
                              : tr::solve(prepared, cases.front(), options)};
  }
  const auto options = scan_options(a, in);
  if (!options.journal.empty()) say_when_interrupted(kGoesOn);
  tr::ScanResult result;
  if (ranks != nullptr) {
    ranks->run(prepared, options, [&](const tr::CaseSolver& solver) {
      result = tr::solve_scan(prepared, cases, options, solver);
    });
  } else {
    result = is_cuda(a.device) ? scan_on_device(prepared, cases, options)
                               : tr::solve_scan(prepared, cases, options);
  }
  tell_counts(a, result);
  return std::move(result.solutions);
}

// The input file that the flags of `solve` stand for; it is kept with the results as any other.
std::string text_of_flags(const TransportArguments& a) {
  const auto& names = tr::builtin_names();
  const bool builtin = std::ranges::find(names, a.surface) != names.end();
  const auto path = std::filesystem::absolute(a.surface);
  const auto file = path.filename().string();
  std::string text = "[surface]\n";
  if (builtin) {
    text += fmt::format("type = {}\n", toml_quoted(a.surface));
  } else {
    if (!std::filesystem::exists(path)) {
      fail("--surface: neither a file nor one of {}: '{}'", fmt::join(names, ", "), a.surface);
    }
    const char* type = file.ends_with(".nc")
                           ? (file.find("booz") != std::string::npos ? "booz" : "vmec")
                       : file.find("dkes") != std::string::npos ? "dkes"
                                                                : "text";
    text += fmt::format("type = \"{}\"\npath = {}\n", type, toml_quoted(path.string()));
  }
  if (a.psi_n) text += fmt::format("psi_n = {}\n", *a.psi_n);
  const auto grid = parse_grid(a.grid.empty() ? "25x25x60" : a.grid);
  const auto list = [](const std::vector<std::string>& items, const char* flag) {
    const auto values = typed_list(items, flag, "");
    return values.size() == 1 ? fmt::format("{}", values[0])
                              : fmt::format("[{}]", fmt::join(values, ", "));
  };
  text += fmt::format("[grid]\nn_theta = {}\nn_zeta = {}\nn_xi = {}\n[case]\nnu_hat = {}\n",
                      grid.n_theta, grid.n_zeta, grid.n_xi, list(a.nu_list, "--nu"));
  if (!a.er_list.empty()) text += fmt::format("er_hat = {}\n", list(a.er_list, "--er"));
  return text;
}

// What a run makes of its input: the cases, and the grid that goes with them.
struct Solved {
  tr::Prepared prepared;
  std::vector<tr::Solution> solutions;
  std::optional<tr::AccuracyCost> cost;  // of choosing grids
};

// Each case on a grid of its own; the output has the finest.
Solved solve_accurately(const TransportArguments& a, tr::RunInput& in, const tr::Surface& surface,
                        tr::AccuracyOptions accuracy, RunTimes& times) {
  Stopwatch watch;
  const auto cases = in.cases(surface.psi_prime);
  accuracy.adjoint_consistent = in.adjoint_consistent;
  in.accuracy = accuracy.accuracy;
  in.threads = threads_for(in.threads, cases.size());
  const auto options = scan_options(a, in);
  if (!options.journal.empty()) say_when_interrupted(kGoesOn);
  auto result = tr::solve_scan_to(surface, cases, options, accuracy);
  tell_counts(a, result);
  const auto cost = tr::cost_of(result.solutions, surface.cosine_only());
  times.solve_s = watch.lap();
  in.grid = cost.finest;
  auto prepared = tr::prepare(surface, in.grid, {.adjoint_consistent = in.adjoint_consistent});
  times.prepare_s = watch.lap();
  return {std::move(prepared), std::move(result.solutions), cost};
}

Solved solve_as_given(const TransportArguments& a, tr::RunInput& in, const tr::Surface& surface,
                      tr::Ranks* ranks, RunTimes& times) {
  Stopwatch watch;
  const auto cases = in.scan ? in.cases(surface.psi_prime).size() : 1;
  const bool no_field = std::ranges::all_of(in.field, [](double field) { return field == 0; });
  // Ranks are lanes already.
  if (ranks != nullptr && !in.threads) in.threads = 1;
  if (is_cuda(a.device)) {
    in.threads = 1;  // the device's memory counts, and is asked for when the cases are there
  } else {
    const auto lanes =
        lanes_that_fit(in.grid, in.method, no_field && surface.cosine_only(), in.threads, cases);
    in.threads = lanes.count;
    in.whole_system = lanes.whole_system;
  }
  auto prepared = tr::prepare(surface, in.grid, {.adjoint_consistent = in.adjoint_consistent});
  if (a.verbose && (ranks == nullptr || ranks->rank() == 0)) {
    std::fputs(
        fmt::format("surface '{}', {}x{}x{}, {} at a time\n{}\n", prepared.name(), in.grid.n_theta,
                    in.grid.n_zeta, in.grid.n_xi, *in.threads, blas::description() + "; 1 thread")
            .c_str(),
        stderr);
  }
  times.prepare_s = watch.lap();
  auto solutions = solve_all(a, in, prepared, ranks);
  times.solve_s = watch.lap();
  return {std::move(prepared), std::move(solutions), std::nullopt};
}

int run_here(const TransportArguments& a, tr::Ranks* ranks) {
  Stopwatch total, watch;
  RunTimes times;
  if (a.input.empty() && a.surface.empty()) fail("name an input file (see assay transport --help)");
  const auto normalisation = a.normalisation.empty()
                                 ? std::nullopt
                                 : std::optional(tr::normalisation_from_name(a.normalisation));
  auto in = input_with_flags(a);
  const bool root = ranks == nullptr || ranks->rank() == 0;
  if (a.action == TransportArguments::Action::kRun && ranks != nullptr && in.scan) {
    fail("a scan over ranks is 'assay transport scan', got a list in '{}'", a.input);
  }
  if (root && !in.output.empty()) tr::check_data_path(in.output);
  if (a.plot && in.output.empty()) fail("--plot needs --output, whose name the image takes");
  const auto files = files_read(a, in);
  if (!in.output.empty()) {
    refuse_overwriting({in.output, in.output + ".journal", image_beside(in.output)}, files);
    if (!a.journal.empty() && is_same_file(a.journal, in.output)) {
      fail("--journal and --output are one file: '{}'", a.journal);
    }
  }
  const auto accuracy = accuracy_asked(a, ranks);
  const auto surface = tr::load_surface(in.surface);
  const auto [prepared, solutions, cost] = accuracy
                                               ? solve_accurately(a, in, surface, *accuracy, times)
                                               : solve_as_given(a, in, surface, ranks, times);
  watch.lap();
  const double memory = ranks != nullptr ? ranks->peak_memory() : peak_resident_bytes();
  if (!root) return kFine;
  std::vector<std::string> written;
  const auto provenance = provenance_texts(files);
  if (!in.output.empty()) {
    const Uninterrupted writing;
    auto data = tr::result_data(in, surface, prepared, solutions);
    data.texts.insert(provenance.begin(), provenance.end());
    tr::write_data_file(in.output, data);
    written.push_back(in.output);
    const auto journal = scan_options(a, in).journal;
    if (!journal.empty()) {  // its content is in the output now
      std::remove(journal.c_str());
      tr::remove_rank_journals(journal);
    }
    times.write_s = watch.lap();
  }
  if (a.plot) {
    written.push_back(draw_panel(in, prepared, solutions, in.output));
    times.plot_s = watch.lap();
  }
  times.total_s = total.lap();
  if (a.json) {
    auto json =
        run_json(in, solutions, times, memory, provenance, prepared.geometry(), normalisation);
    if (cost) json["accuracy_cost"] = cost_json(*cost);
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
  } else {
    std::fputs(run_text(in, prepared, solutions, times, written, normalisation).c_str(), stdout);
    if (cost) std::fputs((tr::cost_text(*cost) + "\n").c_str(), stdout);
  }
  return status_of(
      a, std::ranges::any_of(solutions, [](const tr::Solution& s) { return !s.warnings.empty(); }));
}

}  // namespace

std::vector<std::string> files_read(const TransportArguments& a, const tr::RunInput& in) {
  std::vector<std::string> files;
  if (!a.input.empty() && !names_surface(a)) files.push_back(a.input);
  const auto more = tr::files_of(in.surface);
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

transport::RunInput input_with_flags(const TransportArguments& a) {
  const bool scan = a.action == TransportArguments::Action::kScan;
  const tr::InputNeeds needs = {.grid = !scan || a.accuracy.empty(), .cases = !scan};
  const bool named = names_surface(a);
  if (named && a.accuracy.empty()) {
    fail("a scan of a built-in surface needs --accuracy, got '{}' alone", a.input);
  }
  auto in =
      !a.surface.empty() ? tr::parse_input(text_of_flags(a), "--surface " + a.surface)
      : named ? tr::parse_input(fmt::format("[surface]\ntype = \"{}\"\n", a.input), a.input, needs)
              : tr::read_input(a.input, needs);
  if (scan) take_lists(a, in);
  if (!a.output.empty()) in.output = a.output;
  if (!a.method.empty()) in.method = tr::method_from_name(a.method);
  if (a.threads) in.threads = *a.threads;
  if (a.batch) {
    in.batch = *a.batch;
    in.batch_given = true;
  }
  if (in.threads && *in.threads < 1) fail("--threads must be at least 1, got {}", *in.threads);
  if (in.batch < 1) fail("--batch must be at least 1, got {}", in.batch);
  return in;
}

int over_ranks(const std::function<int(transport::Ranks*)>& action) {
  if (!tr::started_by_mpi()) return action(nullptr);
  tr::Ranks ranks;
  int status = kBadInput;
  try {
    status = action(&ranks);
  } catch (const UserError& e) {
    // Every rank meets the same bad input before any waits for another; one of them says so.
    if (ranks.rank() == 0) std::fputs(fmt::format("assay: {}\n", e.what()).c_str(), stderr);
  }
  return ranks.agree(status);
}

int transport_run(const TransportArguments& a) {
  return over_ranks([&](tr::Ranks* ranks) { return run_here(a, ranks); });
}

}  // namespace assay::cli
