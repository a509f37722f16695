// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/measure_process.h"

#include <time.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "lab/run/environment.h"
#include "lab/run/execute.h"
#include "lab/run/noise.h"

namespace assay::lab {
namespace {

double clock_s(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

WorkerSpec spec_of(const ProcessToMeasure& who, std::vector<Json> points, std::size_t cores) {
  WorkerSpec spec;
  spec.case_name = who.definition.name();
  spec.provider = who.contender.provider.id;  // under any name, the worker runs this
  spec.platform = who.contender.platform;
  spec.cores = static_cast<int>(cores);
  spec.points = std::move(points);
  spec.deterministic = who.contender.provider.deterministic();
  spec.settings = who.request.settings;
  const auto& of_side = who.contender.definition;
  spec.definition = of_side.is_null() ? who.definition.definition() : of_side;
  return spec;
}

}  // namespace

Measured measure_process(const ProcessToMeasure& who, std::vector<Json> points,
                         const std::string& attempt_id, const std::vector<int>& cpus,
                         const CoreLock& lock) {
  const auto& [context, request, definition, contender, memory_limit, gpu] = who;
  if (request.settle_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(request.settle_s));
  }
  auto spec = spec_of(who, std::move(points), cpus.size());
  const AttemptLimits limits = {request.time_limit_s * static_cast<double>(spec.points.size()),
                                memory_limit};
  auto environment = provider_environment(contender.provider, context.programs);
  if (!attempt_id.empty()) environment.emplace_back(kAttemptVariable, attempt_id);

  std::optional<GpuWatch> watch;
  std::function<void(const std::string&)> on_look;
  if (gpu != nullptr) {
    for (const auto& [name, value] : gpu->environment()) environment.emplace_back(name, value);
    watch.emplace(*gpu);
    on_look = [&watch](const std::string& phase) { watch->look(phase); };
  }

  Measured measured;
  measured.before = read_noise(cpus);
  measured.start_ns = realtime_ns();
  const auto start = monotonic_ns();
  // An attempt in this process may have any of its threads at work.
  const auto own_clock = request.in_process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID;
  const double own_before = clock_s(own_clock);
  if (request.in_process) {
    measured.outcome = execute_here(spec, context.run_here);
  } else {
    spec.cpus = cpus;
    measured.outcome = execute_isolated(spec, contender.command, environment, limits, lock.fds(),
                                        context.stop, on_look);
  }
  measured.elapsed_ns = monotonic_ns() - start;
  measured.after = read_noise(cpus);
  if (watch) measured.gpu = watch->finish();
  measured.own_s = measured.outcome.process.processor_s + clock_s(own_clock) - own_before;
  return measured;
}

}  // namespace assay::lab
