// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "chip/collective/schedule_text.h"
#include "chip/topology/fabric.h"

namespace assay::cases::chip {

namespace ch = assay::chip;

namespace {

constexpr std::int64_t kElementBytes = 8;

std::string schedule_of(const ch::CollectiveOptions& options, const ch::NetworkTopology& network) {
  if (options.collective != ch::Collective::kAllReduce || options.splits != 1 ||
      options.bytes % kElementBytes != 0) {
    fail("only an all-reduce of whole 8-byte elements in one part can be replayed, got {} bytes",
         options.bytes);
  }
  auto with_doubles = options;
  with_doubles.element_bytes = kElementBytes;
  return ch::schedule_text(ch::build_schedule(ch::schedule_options(with_doubles, network).front()));
}

Replay run(ProcessSpec spec) {
  const std::string name = spec.argv.front();
  spec.time_limit_s = 120;
  const auto result = run_process(spec);
  Replay replay;
  long messages = 0, wrong = 0;
  const bool is_read = std::sscanf(result.stdout_text.c_str(), "%lf %ld %ld", &replay.seconds,
                                   &messages, &wrong) == 3;
  if (result.exit_code != 0 || !is_read) {
    auto reason = result.stderr_text.substr(0, 300);
    std::ranges::replace(reason, '\n', ' ');
    fail("{} did not replay the collective: {}", name, reason);
  }
  replay.messages = messages;
  replay.wrong = wrong;
  return replay;
}

}  // namespace

std::string simgrid_platform(const ch::NetworkTopology& network) {
  const auto fabric = ch::Fabric::between_ranks(network);
  std::string out =
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"world\" routing=\"Full\">\n";
  for (int r = 0; r < fabric.ranks(); ++r) {
    out += fmt::format("<host id=\"h{}\" speed=\"1Gf\"/>\n", r);
  }
  for (std::size_t l = 0; l < fabric.links().size(); ++l) {
    out += fmt::format("<link id=\"l{}\" bandwidth=\"{}Bps\" latency=\"{}ps\"/>\n", l,
                       network.link.per_second(), network.link_latency);
  }
  for (int from = 0; from < fabric.ranks(); ++from) {
    for (int to = 0; to < fabric.ranks(); ++to) {
      if (from == to) continue;
      out += fmt::format("<route src=\"h{}\" dst=\"h{}\" symmetrical=\"NO\">", from, to);
      for (const auto link : fabric.route(from, to))
        out += fmt::format("<link_ctn id=\"l{}\"/>", link);
      out += "</route>\n";
    }
  }
  return out + "</zone>\n</platform>\n";
}

Replay replay_in_simgrid(const ch::CollectiveOptions& options, const ch::NetworkTopology& network,
                         const std::string& program) {
  const TemporaryDirectory folder;
  const auto file = [&](const char* name, const std::string& text) {
    auto path = folder.path() + "/" + name;
    write_file_atomically(path, text);
    return path;
  };
  std::string hosts;
  for (std::int64_t r = 0; r < network.ranks; ++r) hosts += fmt::format("h{}\n", r);
  ProcessSpec spec;
  spec.argv = {"smpirun",
               "-np",
               std::to_string(network.ranks),
               "-platform",
               file("platform.xml", simgrid_platform(network)),
               "-hostfile",
               file("hosts", hosts)};
  for (const char* setting :
       {"network/model:CM02", "network/TCP-gamma:0", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0",
        "smpi/simulate-computation:no",
        // Large messages wait for their receive in MPI; here they are on their way at once.
        "smpi/send-is-detached-thresh:2147483647", "smpi/async-small-thresh:2147483647"}) {
    spec.argv.push_back(std::string("--cfg=") + setting);
  }
  spec.argv.push_back(program);
  spec.argv.push_back(file("schedule", schedule_of(options, network)));
  spec.working_directory = folder.path();
  return run(std::move(spec));
}

Replay replay_by_mpirun(const ch::CollectiveOptions& options, const ch::NetworkTopology& network,
                        const std::string& program) {
  const TemporaryDirectory folder;
  const auto schedule = folder.path() + "/schedule";
  write_file_atomically(schedule, schedule_of(options, network));
  ProcessSpec spec;
  spec.argv = {"mpirun",          "-n",        std::to_string(network.ranks),
               "--oversubscribe", "--bind-to", "none",
               program,           schedule};
  spec.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return run(std::move(spec));
}

}  // namespace assay::cases::chip
