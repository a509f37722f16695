// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/file.h"
#include "lab/record/row.h"

namespace assay::cli {

// A share of a run on a node that does not see the run's folder (`--resume -`): it is read from
// standard input, and its rows go to standard output as they are made, and nothing else does. One
// at a time.
class CarriedShare {
 public:
  // Throws UserError for what is no share.
  CarriedShare();

  // In a folder that goes with this object.
  std::string journal() const { return journal_; }
  // False when nobody takes them any more.
  bool send(std::span<const lab::Row> rows) const;

 private:
  TemporaryDirectory folder_{"assay-share"};
  std::string journal_;
  UniqueFd rows_;
};

}  // namespace assay::cli
