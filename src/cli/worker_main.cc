// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The native worker: a program of its own, so that an attempt starts with few libraries.
#include <dlfcn.h>

#include <stdexcept>

#include "cli/worker_program.h"
#include "cli/workloads.h"

int main(int argc, char** argv) {
  const auto load = [](const std::string& library) {
    if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      throw std::runtime_error(std::string("cannot load library: ") + ::dlerror());
    }
  };
  return assay::cli::worker_main(argc, argv, {"assay-worker", assay::cli::all_workloads, load, {}});
}
