// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

// What a run tells of attempts that others disturbed: the first of a kind at once, the others
// counted at the end.
class Disturbances {
 public:
  explicit Disturbances(double max_foreign) : max_foreign_(max_foreign) {}

  // What is to be told of a row now, a line each.
  std::vector<std::string> notice(const Row& row);
  // What is to be told in the end.
  std::vector<std::string> sum() const;

 private:
  double max_foreign_;
  int loaded_ = 0;  // attempts during which other programs took more than that
  int kept_ = 0;    // attempts that were kept though every try was disturbed, by whatever
};

}  // namespace assay::lab
