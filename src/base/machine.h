// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay {

// What this machine is. The fingerprint hashes the hardware alone, so that numbers are compared
// only between equals; software is recorded beside it.
struct Machine {
  // Hardware, hashed:
  std::string architecture;  // "x86_64", "aarch64"
  std::string cpu_model;
  int sockets = 1;
  int cores = 1;                  // physical cores
  std::int64_t memory_gib = 0;    // rounded up: the kernel keeps a little of it to itself
  std::vector<std::string> gpus;  // models, sorted
  // Software and settings, recorded only:
  int logical_cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::string os, kernel;
  std::string governor;    // "not available" where the kernel does not say
  std::string gpu_driver;  // likewise
  bool virtual_machine = false;

  std::string fingerprint() const;  // 16 hex digits
  Json to_json() const;             // fingerprint and all facts
};

// Reads /proc, /sys and /etc; what cannot be read is "not available", never a guess.
Machine read_machine();

}  // namespace assay
