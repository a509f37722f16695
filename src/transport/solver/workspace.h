// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace assay::transport {

// Memory that solves reuse from case to case: about 6 N² doubles. One for each thread. What it
// holds is known to eliminate.cc alone.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  struct Buffers;
  Buffers& buffers() { return *buffers_; }

 private:
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace assay::transport
