// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// In place of ranks.cc in a program without MPI: mpirun would start it several times, for the same
// work each.
#include "base/error.h"
#include "transport/ranks/ranks.h"

namespace assay::transport {

Ranks::Ranks() {
  throw EnvironmentError(
      "this program was built without MPI, and was started by mpirun ('make build' has it)");
}
Ranks::~Ranks() = default;

void Ranks::run(const Prepared&, const ScanOptions&,
                const std::function<void(const CaseSolver&)>&) {}
double Ranks::peak_memory() const { return 0; }
int Ranks::agree(int status) { return status; }

}  // namespace assay::transport
