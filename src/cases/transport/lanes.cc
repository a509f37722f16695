// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/lanes.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/resident_memory.h"
#include "lab/measure/workload.h"

namespace assay::cases::transport {

namespace tr = assay::transport;

namespace {

// Numbers that forked processes write and their parent reads.
template <typename T>
class SharedArray {
 public:
  explicit SharedArray(std::size_t size) : bytes_(std::max<std::size_t>(1, size) * sizeof(T)) {
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) fail("cannot share {} bytes with processes", bytes_);
  }
  ~SharedArray() { ::munmap(data_, bytes_); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  T& operator[](std::size_t i) { return static_cast<T*>(data_)[i]; }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace

LaneResult solve_in_processes(const tr::Prepared& prepared, std::span<const tr::Case> cases,
                              int processes) {
  const auto count = static_cast<std::size_t>(processes);
  SharedArray<tr::Coefficients> results(cases.size());
  SharedArray<double> memory(count);
  std::vector<pid_t> children;
  for (std::size_t p = 0; p < count; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 1;
      try {
        const double before = resident_bytes();
        reset_peak_resident();
        tr::Workspace workspace;
        for (std::size_t i = p; i < cases.size(); i += count) {
          results[i] = tr::solve(prepared, cases[i], {}, workspace).d;
        }
        memory[p] = std::max(0.0, peak_resident_bytes() - before);
        status = 0;
      } catch (...) {
      }
      ::_exit(status);
    }
    if (child > 0) children.push_back(child);
  }
  bool failed = children.size() != count;
  for (const pid_t child : children) {
    int status = 0;
    failed |= ::waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  if (failed) fail("one of {} processes failed", processes);
  LaneResult result;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    result.solutions.emplace_back();
    result.solutions.back().at = cases[i];
    result.solutions.back().d = results[i];
  }
  for (std::size_t p = 0; p < count; ++p) result.child_memory += memory[p];
  return result;
}

LaneResult solve_in_ranks(const tr::Surface& surface, const tr::Grid& grid,
                          std::span<const tr::Case> cases, int ranks, int batch) {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "assay-transport";
  const auto missing = [](const std::string& what) {
    return lab::ProviderFailure(lab::Status::kEnvMissing, "program_missing",
                                fmt::format("cannot find '{}'", what));
  };
  if (!std::filesystem::exists(program)) throw missing(program.string());
  if (!find_program("mpirun")) throw missing("mpirun");

  // The program scans grids; a ladder is the diagonal of one, so each case is an input of its own
  // only where the pairs do not form a grid.
  std::vector<double> nu, field;
  for (const auto& c : cases) {
    if (std::find(nu.begin(), nu.end(), c.nu_hat) == nu.end()) nu.push_back(c.nu_hat);
    if (std::find(field.begin(), field.end(), c.epsi_hat) == field.end())
      field.push_back(c.epsi_hat);
  }
  const bool pairs = nu.size() * field.size() != cases.size();
  const TemporaryDirectory folder;
  const auto input = folder.path() + "/scan.toml";
  write_file_atomically(
      input, fmt::format("[surface]\ntype = \"{}\"\n[grid]\nn_theta = {}\nn_zeta = {}\nn_xi = {}\n"
                         "[case]\npairs = {}\nnu_hat = [{:.17g}]\nepsi_hat = [{:.17g}]\n"
                         "[solver]\nbatch = {}\n",
                         surface.name, grid.n_theta, grid.n_zeta, grid.n_xi, pairs,
                         fmt::join(nu, ", "), fmt::join(field, ", "), batch));
  // Not through mpirun's own output, which has lost the beginning of a long answer. Rank 0 alone
  // writes.
  const auto answer = folder.path() + "/answer.json";
  ProcessSpec spec;
  spec.argv = {"mpirun",
               "-n",
               std::to_string(ranks),
               "--oversubscribe",
               "--bind-to",
               "none",
               "sh",
               "-c",
               R"(exec "$@" >>"$0")",
               answer,
               program.string(),
               "transport",
               "scan",
               input,
               "--output",
               folder.path() + "/scan.npz",
               "--json"};
  spec.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  const auto run = run_process(spec);
  if (run.exit_code != 0) fail("mpirun failed: {}", run.stderr_text.substr(0, 300));
  const auto json = parse_json(read_file(answer), "the output of assay-transport");
  LaneResult result;
  for (const auto& s : json.at("cases")) {
    result.solutions.push_back(tr::solution_from_json(s, "the output of assay-transport"));
  }
  if (result.solutions.size() != cases.size()) {
    fail("mpirun returned {} cases", result.solutions.size());
  }
  result.child_memory = number_from_json(json.at("peak_memory"), "the output of assay-transport");
  return result;
}

}  // namespace assay::cases::transport
