// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kinds of nodes: what Slurm knows of their hardware tells them apart, what a program sees on one
// of them says which machine it is.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "lab/cluster/slurm.h"

namespace assay::lab {

struct NodeKind {
  std::string name;
  std::vector<std::string> nodes, others;  // those of this kind, and all else
  bool works = false;                      // one of them does
};
std::vector<NodeKind> node_kinds(const std::vector<SlurmNode>& nodes);

// The nodes that may have another fingerprint: one node of each kind is asked, by a job that runs
// `program doctor`; what does not work cannot be asked. Throws EnvironmentError, which lists what
// there is, where no kind has it, or a node does not answer; Interrupted. No job of ours is left.
// `tell` hears what is asked, and why an answer may never come.
std::vector<std::string> nodes_of_other_kinds(const SlurmOptions& options,
                                              const std::string& fingerprint,
                                              const std::string& program,
                                              const std::atomic<bool>& stop,
                                              const std::function<void(const std::string&)>& tell);

}  // namespace assay::lab
