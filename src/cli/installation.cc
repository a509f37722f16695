// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/installation.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>

#include "base/error.h"

namespace assay::cli {
namespace {

// The first of the paths that exists; the first one when none does, for the message.
std::string first_existing(std::initializer_list<std::filesystem::path> candidates) {
  for (const auto& path : candidates) {
    if (std::filesystem::exists(path)) return std::filesystem::weakly_canonical(path).string();
  }
  return candidates.begin()->string();
}

// One of our other programs.
std::string program_path(const std::string& name) {
  const auto folder = std::filesystem::path(own_program()).parent_path();
  return first_existing({folder / name, folder / "../libexec/assay" / name});
}

}  // namespace

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

lab::Programs find_programs() {
  const auto folder = std::filesystem::path(own_program()).parent_path();
  lab::Programs programs;
  programs.worker = program_path("assay-worker");
  programs.worker_cuda = program_path("assay-worker-cuda");
  programs.python_package = first_existing({folder / "python", folder / "../share/assay/python"});
  const char* peers = std::getenv("ASSAY_PEERS");
  // Not resolved: a virtual environment is recognised by the path its interpreter is called by.
  if (peers != nullptr && *peers != '\0') {
    programs.peers_python = std::string(peers) + "/bin/python3";
  } else {
    for (const char* place : {"../.peers", "../../.peers", "../share/assay/peers"}) {
      const auto interpreter = (folder / place).lexically_normal() / "bin/python3";
      if (std::filesystem::exists(interpreter)) {
        programs.peers_python = interpreter.string();
        break;
      }
    }
  }
  return programs;
}

std::string include_folder() {
  const auto folder = std::filesystem::path(own_program()).parent_path();
  return first_existing({folder / "include", folder / "../include"});
}

bool has_program(const std::string& name) { return std::filesystem::exists(program_path(name)); }

void become_program(const std::string& name, char** argv) {
  const auto program = program_path(name);
  ::execv(program.c_str(), argv);
  if (errno == ENOENT) {
    throw EnvironmentError(
        fmt::format("this build has no {0}: 'make build' installs what it needs and builds it "
                    "(looked for '{1}')",
                    name, program));
  }
  throw EnvironmentError(fmt::format("cannot start '{}': {}", program, errno_text(errno)));
}

}  // namespace assay::cli
