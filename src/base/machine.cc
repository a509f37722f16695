// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/nvml.h"

namespace assay {
namespace {

constexpr const char* kNotAvailable = "not available";

// The value after "key :" (or "key=") in a line of the text; the first one.
std::string value_of(const std::string& text, const std::string& key, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    auto name = line.substr(0, at);
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name != key) continue;
    auto value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return {};
}

std::string cpu_model(const std::string& cpuinfo) {
  if (auto model = value_of(cpuinfo, "model name", ':'); !model.empty()) return model;
  // Arm kernels give numbers instead of a name; they identify the core as well.
  const auto implementer = value_of(cpuinfo, "CPU implementer", ':');
  const auto part = value_of(cpuinfo, "CPU part", ':');
  const auto variant = value_of(cpuinfo, "CPU variant", ':');
  if (implementer.empty()) return kNotAvailable;
  return "implementer " + implementer + " part " + part + " variant " + variant;
}

struct Topology {
  int sockets = 1, cores = 1;
};

Topology topology(int logical_cpus) {
  std::set<std::string> packages, cores;
  for (int cpu = 0; cpu < logical_cpus; ++cpu) {
    const auto folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const auto package = read_small_file(folder + "physical_package_id");
    const auto core = read_small_file(folder + "core_id");
    if (!package || !core) return {1, logical_cpus};
    packages.insert(*package);
    cores.insert(*package + ":" + *core);
  }
  return {static_cast<int>(packages.size()), static_cast<int>(cores.size())};
}

// The driver's own list; needs no CUDA library.
std::vector<std::string> gpu_models() {
  std::vector<std::string> models;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    const auto information = read_small_file(gpu.path().string() + "/information");
    if (information) models.push_back(value_of(*information, "Model", ':'));
  }
  std::ranges::sort(models);
  return models;
}

// Where the driver's list is not to be seen (in a container), but its device is.
void ask_the_driver(Machine& m) {
  if (!std::filesystem::exists("/dev/nvidiactl") && std::getenv("ASSAY_NVML") == nullptr) return;
  const auto nvml = Nvml::open();
  if (!nvml) return;
  for (const auto& gpu : nvml->gpus()) m.gpus.push_back(gpu.name);
  std::ranges::sort(m.gpus);
  if (!nvml->driver().empty()) m.gpu_driver = nvml->driver();
}

}  // namespace

Machine read_machine() {
  Machine m;
  utsname names{};
  uname(&names);
  const auto cpuinfo = read_small_file("/proc/cpuinfo").value_or("");
  const auto os_release = read_small_file("/etc/os-release").value_or("");
  m.architecture = names.machine;
  m.cpu_model = cpu_model(cpuinfo);
  m.logical_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  const auto [sockets, cores] = topology(m.logical_cpus);
  m.sockets = sockets;
  m.cores = cores;
  m.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  m.memory_gib = static_cast<std::int64_t>((m.memory_bytes + (1ull << 30) - 1) >> 30);
  m.gpus = gpu_models();
  m.gpu_driver = read_small_file("/sys/module/nvidia/version").value_or(kNotAvailable);
  if (m.gpus.empty()) ask_the_driver(m);
  m.os = value_of(os_release, "PRETTY_NAME", '=');
  m.kernel = names.release;
  m.governor = read_small_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                   .value_or(kNotAvailable);
  m.virtual_machine = value_of(cpuinfo, "flags", ':').find(" hypervisor") != std::string::npos ||
                      read_small_file("/sys/hypervisor/type").has_value();
  return m;
}

std::string Machine::fingerprint() const {
  return short_hash(
      canonical_json(Json::array({architecture, cpu_model, sockets, cores, memory_gib, gpus})));
}

Json Machine::to_json() const {
  return {{"fingerprint", fingerprint()},
          {"architecture", architecture},
          {"cpu_model", cpu_model},
          {"sockets", sockets},
          {"cores", cores},
          {"logical_cpus", logical_cpus},
          {"memory_bytes", memory_bytes},
          {"memory_gib", memory_gib},
          {"gpus", gpus},
          {"os", os},
          {"kernel", kernel},
          {"governor", governor},
          {"gpu_driver", gpu_driver},
          {"virtual_machine", virtual_machine}};
}

}  // namespace assay
