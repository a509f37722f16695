// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Scaling of scans, reuse of preparations and the whole workflow, as figures and numbers. By hand:
//
//   build/bench/transport_scaling FOLDER [--full]
//
// writes scaling.json, and scaling.png and .pdf (ladders of cases against lanes, strong scaling,
// prepared reuse, crossover). --full adds the 128-case ladder on 17×25×16 and the database scan of
// 192 cases on 25×25×60, some minutes of work. Times are wall time, the best of several, with the
// efficiency by processor time beside it, which other programs do not disturb; every lane is held
// against the serial coefficients.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "cases/transport/lanes.h"
#include "cases/transport/point.h"
#include "transport/blas.h"
#include "transport/energy.h"
#include "transport/scan.h"

namespace {

using namespace assay;
namespace tr = assay::transport;
using cases::transport::TransportPoint;

double seconds(const std::function<void()>& call) {
  const auto begin = monotonic_ns();
  call();
  return 1e-9 * static_cast<double>(monotonic_ns() - begin);
}

// Processor time of all threads and ended children of this process.
double cpu_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    for (const auto& t : {usage.ru_utime, usage.ru_stime}) {
      total += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
  }
  return total;
}

double best_of(int repeats, const std::function<void()>& call) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) best = std::min(best, seconds(call));
  return best;
}

// The kernel's peak of resident memory since the last reset, in bytes.
double peak_memory(bool reset) {
  if (reset) {
    const UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
    if (fd) write_fully(fd.get(), "5", "/proc/self/clear_refs");
  }
  const auto status = read_small_file("/proc/self/status").value_or("");
  const auto at = status.find("VmHWM:");
  return at == std::string::npos ? NAN : 1024 * std::atof(status.c_str() + at + 6);
}

double largest_difference(const std::vector<tr::Solution>& a, const std::vector<tr::Solution>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].warnings.empty()) continue;  // rounding noise on a rational surface at zero field
    for (const auto& [x, y] : {std::pair{a[i].d.d11, b[i].d.d11},
                               {a[i].d.d31, b[i].d.d31},
                               {a[i].d.d13, b[i].d.d13},
                               {a[i].d.d33, b[i].d.d33}}) {
      largest = std::max(largest, std::abs(x - y) / std::max(std::abs(x), 1e-300));
    }
  }
  return largest;
}

struct Lane {
  std::string name;
  int width;
  std::function<std::vector<tr::Solution>(const tr::Prepared&, std::span<const tr::Case>)> solve;
};

Lane thread_lane(int threads, int batch) {
  return {threads == 1 ? "serial" : "threads", threads,
          [=](const tr::Prepared& p, std::span<const tr::Case> cases) {
            tr::ScanOptions options;
            options.threads = threads;
            options.batch = batch;
            return tr::solve_scan(p, cases, options).solutions;
          }};
}

Lane process_lane(int processes) {
  return {"processes", processes, [=](const tr::Prepared& p, std::span<const tr::Case> cases) {
            return cases::transport::solve_in_processes(p, cases, processes);
          }};
}

// Every lane on one point, against the first, which is serial.
Json measure(const tr::Grid& grid, int n, const char* layout, const std::vector<Lane>& lanes,
             int repeats) {
  const TransportPoint point(Json{{"surface", "sample_dkes"},
                                  {"n_theta", grid.n_theta},
                                  {"n_zeta", grid.n_zeta},
                                  {"n_xi", grid.n_xi},
                                  {"cases", n},
                                  {"layout", layout},
                                  {"seed", 0}});
  const auto prepared = tr::prepare(point.surface, grid);
  const auto list = point.inputs(0);
  std::vector<tr::Solution> serial;
  double serial_s = 0, serial_cpu = 0;
  Json rows = Json::array();
  for (const auto& lane : lanes) {
    std::vector<tr::Solution> solutions;
    peak_memory(true);
    const double cpu_begin = cpu_seconds();
    const double time = best_of(repeats, [&] { solutions = lane.solve(prepared, list); });
    const double cpu = (cpu_seconds() - cpu_begin) / repeats;
    if (serial.empty()) {
      serial = solutions;
      serial_s = time;
      serial_cpu = cpu;
    }
    rows.push_back({{"lane", lane.name},
                    {"width", lane.width},
                    {"cases", n},
                    {"grid", {grid.n_theta, grid.n_zeta, grid.n_xi}},
                    {"seconds", time},
                    {"cases_per_s", n / time},
                    {"speedup", serial_s / time},
                    {"efficiency", serial_s / time / lane.width},
                    {"cpu_s", cpu},
                    {"cpu_efficiency", serial_cpu / cpu},
                    {"peak_rss", peak_memory(false)},
                    {"largest_difference", largest_difference(serial, solutions)}});
    const auto& r = rows.back();
    fmt::print(
        "{:>2}x{}x{:<3} {:>3} cases {:>9} {}: {:8.4f} s, {:8.1f} cases/s, speed-up {:.2f}, "
        "efficiency {:3.0f} % (by processor time {:3.0f} %), {:.0f} MB, difference {:.1e}\n",
        grid.n_theta, grid.n_zeta, grid.n_xi, n, lane.name, lane.width, time, n / time,
        r["speedup"].get<double>(), 100 * r["efficiency"].get<double>(),
        100 * r["cpu_efficiency"].get<double>(), r["peak_rss"].get<double>() * 1e-6,
        r["largest_difference"].get<double>());
  }
  return rows;
}

Json prepared_reuse(int cores) {
  Json rows = Json::array();
  const tr::Grid grid = {9, 11, 6};
  for (const int n : {4, 16, 48}) {
    const TransportPoint point(Json{{"surface", "sample_dkes"},
                                    {"n_theta", 9},
                                    {"n_zeta", 11},
                                    {"n_xi", 6},
                                    {"cases", n},
                                    {"seed", 0}});
    const auto list = point.inputs(0);
    const auto direct = [&] {
      for (const auto& c : list) tr::solve(tr::prepare(point.surface, grid), c);
    };
    const double first = seconds([&] {
      const auto p = tr::prepare(point.surface, grid);
      tr::solve_scan(p, list);
    });
    const auto p = tr::prepare(point.surface, grid);
    const double d = best_of(7, direct), s = best_of(7, [&] { tr::solve_scan(p, list); }),
                 b = best_of(7, [&] { thread_lane(cores, n).solve(p, list); });
    rows.push_back({{"cases", n},
                    {"direct_s", d},
                    {"prepared_first_s", first},
                    {"prepared_s", s},
                    {"batched_s", b}});
    fmt::print(
        "reuse {:>2} cases: direct {:.2f} ms, prepared {:.2f} ms (first {:.2f}), batched "
        "{:.2f} ms\n",
        n, d * 1e3, s * 1e3, first * 1e3, b * 1e3);
  }
  return rows;
}

// surface → prepare → scan → energy integrals, each phase timed, first and repeated.
Json workflow(int cores) {
  Json rounds = Json::array();
  for (const char* round : {"first", "repeated"}) {
    peak_memory(true);
    Json phases;
    tr::Surface surface;
    phases["surface"] = seconds([&] { surface = tr::builtin_surface("w7x_eim_sample"); });
    std::optional<tr::Prepared> prepared;
    phases["prepare"] = seconds([&] { prepared = tr::prepare(surface, {11, 15, 30}); });
    std::vector<double> nu;
    for (int i = 0; i < 16; ++i) nu.push_back(std::pow(10, -3 + 0.25 * i));
    std::vector<tr::Solution> solutions;
    phases["scan"] = seconds([&] {
      solutions =
          thread_lane(cores, 32).solve(*prepared, tr::case_grid(nu, std::vector<double>{1e-3}));
    });
    std::vector<double> d11, integrals;
    phases["table"] = seconds([&] {
      for (const auto& s : solutions) d11.push_back(s.d.d11);
    });
    phases["energy_integrals"] = seconds([&] {
      for (const int n : {0, 1, 2}) integrals.push_back(tr::energy_integral(nu, d11, 1e-1, n));
    });
    rounds.push_back({{"round", round},
                      {"phases_s", phases},
                      {"integrals", integrals},
                      {"peak_rss", peak_memory(false)}});
    fmt::print("workflow {}: {}\n", round, canonical_json(phases));
  }
  return rounds;
}

std::string series(const Json& rows, const char* name, std::string_view lane,
                   const std::function<std::pair<double, double>(const Json&)>& point) {
  std::string out = fmt::format("${} << EOD\n", name);
  for (const auto& r : rows) {
    if (r["lane"] != lane) continue;
    const auto [x, y] = point(r);
    out += fmt::format("{:.8g} {:.8g}\n", x, y);
  }
  return out + "EOD\n";
}

void draw(const std::string& folder, const Json& data) {
  const auto rate = [](const Json& r) {
    return std::pair{r["cases"].get<double>(), r["cases_per_s"].get<double>()};
  };
  const auto speedup = [](const Json& r) {
    return std::pair{r["cases"].get<double>(), r["speedup"].get<double>()};
  };
  const auto strong = [](const Json& r) {
    return std::pair{r["width"].get<double>(), r["speedup"].get<double>()};
  };
  std::string blocks = series(data["ladder"], "serial", "serial", rate) +
                       series(data["ladder"], "threads", "threads", rate) +
                       series(data["ladder"], "processes", "processes", rate) +
                       series(data["ladder"], "ct", "threads", speedup) +
                       series(data["ladder"], "cp", "processes", speedup) +
                       series(data["strong"], "s1", "serial", strong) +
                       series(data["strong"], "st", "threads", strong);
  blocks += "$reuse << EOD\n";
  for (const auto& r : data["reuse"]) {
    blocks += fmt::format("{} {} {} {}\n", r["cases"].get<int>(), 1e3 * r["direct_s"].get<double>(),
                          1e3 * r["prepared_s"].get<double>(), 1e3 * r["batched_s"].get<double>());
  }
  blocks += "EOD\n";
  const int cores = data["cores"].get<int>();
  const std::string panels = fmt::format(
      "set multiplot layout 2,2 margins 0.09,0.97,0.08,0.94 spacing 0.11,0.15\n"
      "set grid lc rgb '#dddddd'; set style data linespoints; set key top left samplen 2\n"
      "set logscale x 2; set logscale y; set title 'Scan rate, 9×11×6'\n"
      "set xlabel 'cases'; set ylabel 'cases/s'\n"
      "plot $serial t 'serial' lw 2 pt 7, $threads t '{0} threads' lw 2 pt 5, $processes t '{0} "
      "processes' lw 2 pt 9\n"
      "unset logscale y; set yrange [0:*]; set title 'Crossover: speed-up over serial'\n"
      "set ylabel 'speed-up'\n"
      "plot 1 t 'serial' lc rgb '#888888' dt 2, {0} t 'ideal' lc rgb '#bbbbbb' dt 3, $ct t "
      "'threads' "
      "lw 2 pt 5, $cp t 'processes' lw 2 pt 9\n"
      "unset logscale x; set title 'Strong scaling, fixed cases'; set xlabel 'lanes'\n"
      "set xrange [0.5:{1}]; set xtics 1\n"
      "plot x t 'ideal' lc rgb '#bbbbbb' dt 3, $s1 t 'serial' pt 7, $st t 'threads' lw 2 pt 5\n"
      "set autoscale x; set xtics auto; set title 'Prepared reuse'; set ylabel 'ms'\n"
      "set style data histograms; set style fill solid 0.8; set xlabel 'cases'; set yrange [0:*]\n"
      "plot $reuse using 2:xtic(1) t 'direct', '' using 3 t 'prepared', '' using 4 t 'prepared, "
      "batched'\nunset multiplot\n",
      cores, cores + 0.5);
  for (const char* kind : {"png", "pdf"}) {
    const auto image = folder + "/scaling." + kind, script = folder + "/scaling.gp";
    const bool png = std::string_view(kind) == "png";
    write_file_atomically(
        script,
        fmt::format("set terminal {}cairo size {} font 'DejaVu Sans,12'\nset encoding utf8\n"
                    "set output '{}'\n{}{}",
                    kind, png ? "1400,1000" : "14in,10in", image, blocks, panels));
    ProcessSpec spec;
    spec.argv = {"gnuplot", script};
    const auto result = run_process(spec);
    if (result.exit_code != 0) fail("gnuplot failed: {}", result.stderr_text);
    ::unlink(script.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) fail("usage: transport_scaling FOLDER [--full]");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string folder = argv[1];
  const bool full = argc > 2 && std::strcmp(argv[2], "--full") == 0;
  make_directories(folder);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  fmt::print("{}\n{} cores\n", tr::blas::description(), cores);
  Json data = {{"cores", cores}, {"blas", tr::blas::description()}};
  data["ladder"] = Json::array();
  for (const int n : {2, 4, 8, 16, 32, 64, 128, 256}) {
    for (auto& row : measure({9, 11, 6}, n, "ladder",
                             {thread_lane(1, n), thread_lane(cores, n), process_lane(cores)}, 7)) {
      data["ladder"].push_back(row);
    }
  }
  std::vector<Lane> lanes;
  for (int w = 1; w <= cores; ++w) lanes.push_back(thread_lane(w, 128));
  data["strong"] = full ? measure({17, 25, 16}, 128, "ladder", lanes, 1)
                        : measure({13, 17, 12}, 128, "ladder", lanes, 3);
  if (full) {
    data["database"] = Json::array();
    for (const int batch : {32}) {
      for (auto& row : measure({25, 25, 60}, 192, "grid", {thread_lane(cores, batch)}, 1)) {
        row["batch"] = batch;
        data["database"].push_back(row);
      }
    }
  }
  data["reuse"] = prepared_reuse(cores);
  data["workflow"] = workflow(cores);
  write_file_atomically(folder + "/scaling.json", pretty_json(data) + "\n");
  draw(folder, data);
  fmt::print("wrote {0}/scaling.json, {0}/scaling.png, {0}/scaling.pdf\n", folder);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "transport_scaling: %s\n", e.what());
  return 2;
}
