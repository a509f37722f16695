// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/process.h"
#include "lab/record/protocol.h"

namespace assay::lab {
namespace {

// Says which of its arguments can be imported, and their versions, without importing any: importing
// torch takes seconds.
constexpr const char* kProbeScript = R"(
import importlib.metadata, importlib.util, json, sys
found = {"python": ".".join(map(str, sys.version_info[:3]))}
for name in sys.argv[1:]:
    try:
        if importlib.util.find_spec(name) is None:
            continue
    except (ImportError, ValueError):
        continue
    version = "unknown"
    for distribution in (name, name.replace("_", "-")):
        try:
            version = importlib.metadata.version(distribution)
            break
        except importlib.metadata.PackageNotFoundError:
            pass
    found[name] = version
print(json.dumps(found))
)";

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return text;
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

EnvironmentProbe::EnvironmentProbe(Programs programs, const CaseRegistry& cases)
    : programs_(std::move(programs)) {
  std::set<std::string> names;
  for (const auto& c : cases.all()) {
    for (const auto& provider : c->providers()) {
      names.insert(provider.modules.begin(), provider.modules.end());
    }
  }
  expected_modules_.assign(names.begin(), names.end());
}

const Environment& EnvironmentProbe::operator()(const Provider& provider,
                                                const std::string& platform) {
  const auto key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", provider.id, platform,
                               static_cast<int>(provider.runtime), provider.library,
                               provider.program, fmt::join(provider.modules, ","));
  const auto it = environments_.find(key);
  if (it != environments_.end()) return it->second;
  return environments_.emplace(key, resolve(provider, platform)).first->second;
}

Environment EnvironmentProbe::resolve(const Provider& provider, const std::string& platform) {
  if (provider.runtime == Runtime::kPython) return resolve_python(provider, platform);
  const bool on_gpu = platform == "cuda";
  const auto& worker = on_gpu ? programs_.worker_cuda : programs_.worker;
  Environment environment;
  environment.command = {worker};
  if (!find_program(worker)) {
    environment.missing =
        on_gpu ? Skip{"worker_missing",
                      "this build has no assay-worker-cuda: 'make build' builds it where nvcc 12.4 "
                      "or newer and a GPU are found"}
               : Skip{"worker_missing", fmt::format("no worker program at '{}'", worker)};
  } else if (!provider.library.empty()) {
    // Asked of the worker, which would load it: a BLAS brings threads that must not live here.
    ProcessSpec spec;
    spec.argv = {worker, kCanLoadOption, provider.library};
    spec.time_limit_s = 20;
    if (const auto result = run_process(spec); result.exit_code != 0) {
      auto why = result.stderr_text.substr(0, result.stderr_text.find('\n'));
      if (result.timed_out || result.signal) {
        why = fmt::format("loading library '{}' {}", provider.library,
                          result.timed_out
                              ? fmt::format("took longer than {} s", spec.time_limit_s)
                              : fmt::format("ended by signal {}", result.signal.value_or(0)));
      }
      // A name alone needs no reason; the loader's repeats the path.
      if (why.empty() || provider.library.find('/') == std::string::npos) {
        why = fmt::format("cannot load library '{}'", provider.library);
      }
      environment.missing = Skip{"library_missing", why};
    }
  } else if (!provider.program.empty() && !find_program(provider.program)) {
    environment.missing =
        Skip{"command_missing", fmt::format("no such program: '{}'", provider.program)};
  }
  return environment;
}

Environment EnvironmentProbe::resolve_python(const Provider& provider,
                                             const std::string& platform) {
  struct Candidate {
    std::string interpreter, found_by;
  };
  std::vector<Candidate> candidates;
  const auto base = "ASSAY_PYTHON_" + upper(provider.id);
  for (const auto& name : {base + "_" + upper(platform), base, std::string("ASSAY_PYTHON")}) {
    if (const auto path = variable(name)) {
      candidates = {{*path, name}};
      break;
    }
  }
  if (candidates.empty()) {
    if (find_program(programs_.peers_python))
      candidates.push_back({programs_.peers_python, "peers"});
    if (const auto python = find_program("python3")) candidates.push_back({*python, "PATH"});
    candidates.push_back({"/usr/bin/python3", "system"});
  }

  std::optional<Environment> first;
  for (const auto& [interpreter, found_by] : candidates) {
    Environment environment;
    environment.interpreter = interpreter;
    environment.found_by = found_by;
    environment.command = {interpreter, "-m", "assay_worker"};
    const auto& modules = modules_of(interpreter, provider.modules);
    for (const auto& [name, version] : modules.versions) {
      if (name == "python" || std::ranges::count(provider.modules, name) != 0)
        environment.versions.emplace(name, version);
    }
    environment.missing = modules.problem;
    if (!environment.missing) {
      std::vector<std::string> absent;
      for (const auto& name : provider.modules) {
        if (!modules.versions.contains(name)) absent.push_back(name);
      }
      if (absent.empty()) return environment;
      environment.missing =
          Skip{"module_missing", fmt::format("no Python module {} for {} (found by {})",
                                             fmt::join(absent, ", "), interpreter, found_by)};
    }
    if (!first) first = environment;
  }
  return *first;
}

const EnvironmentProbe::Modules& EnvironmentProbe::modules_of(
    const std::string& interpreter, const std::vector<std::string>& asked) {
  const bool expected = std::ranges::all_of(
      asked, [&](const auto& name) { return std::ranges::binary_search(expected_modules_, name); });
  const auto& names = expected ? expected_modules_ : asked;
  const auto key = interpreter + "\n" + fmt::format("{}", fmt::join(names, ","));
  if (const auto it = modules_.find(key); it != modules_.end()) return it->second;
  ProcessSpec spec;
  spec.argv = {interpreter, "-c", kProbeScript};
  spec.argv.insert(spec.argv.end(), names.begin(), names.end());
  spec.time_limit_s = 60;
  const auto result = run_process(spec);
  Modules modules;
  if (result.exec_errno != 0 || result.exit_code != 0) {
    modules.problem =
        Skip{"interpreter_missing", fmt::format("cannot run Python interpreter '{}'", interpreter)};
  } else {
    // Whatever can be run need not be a Python: /bin/true ends well, and says nothing.
    try {
      const auto found = parse_json(result.stdout_text, interpreter);
      for (const auto& [name, version] : found.items()) {
        modules.versions[name] = version.get<std::string>();
      }
    } catch (const std::exception&) {
      modules.versions.clear();
    }
    if (!modules.versions.contains("python")) {
      modules.problem =
          Skip{"interpreter_missing", fmt::format("not a Python interpreter: '{}'", interpreter)};
    }
  }
  return modules_.emplace(key, std::move(modules)).first->second;
}

}  // namespace assay::lab
