// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A management library for tests: whatever the file $FAKE_GPU says, line by line, read at each
// call. Without the file there is no driver. Every call of the energy counter adds `energy_step`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

// The value after a key; the fallback where the file has none.
unsigned long long said(const std::string& key, unsigned long long otherwise) {
  std::ifstream file(std::getenv("FAKE_GPU"));
  for (std::string word; file >> word;) {
    unsigned long long value = 0;
    if (file >> value && word == key) return value;
  }
  return otherwise;
}

bool has_driver() {
  const char* path = std::getenv("FAKE_GPU");
  return path != nullptr && std::ifstream(path).good();
}

unsigned long long energy_mj = 1000;

}  // namespace

extern "C" {

struct MemoryInfo {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() { return has_driver() ? 0 : 9; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "999.1");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(said("count", 1));
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-fake-%zu", reinterpret_cast<std::uintptr_t>(device) - 1);
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Fake GPU");
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, MemoryInfo* info) {
  *info = {1000, 1000, said("memory_used", 0)};
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) {
  *mhz = static_cast<unsigned>(said(kind == 1 ? "clock" : "memory_clock", 1000));
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = static_cast<unsigned>(said("temperature", 40));
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  *mj = energy_mj += said("energy_step", 0);
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = said("reasons", 0);
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* list) {
  const auto running = static_cast<unsigned>(said("processes", 0));
  if (running > *count) return 7;
  *count = running;
  for (unsigned i = 0; i < running; ++i) list[i] = {100 + i, 0, 0, 0};
  return 0;
}
}
