// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a template may cost, and where it is: a template is a program from somewhere else.
//
// All that is made and looked at is paid for, in bytes; what is freed is not paid back. So one
// limit bounds time and memory, without a clock.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::models::jinja {

class Work {
 public:
  // `what` names the template in errors.
  explicit Work(std::string what) : what_(std::move(what)) {}

  // Throws UserError where all is spent.
  void spend(std::size_t bytes) {
    if (bytes > left_) refuse("the template takes too much time or memory");
    left_ -= bytes;
  }
  // Throws UserError: "WHAT: line N: PROBLEM".
  [[noreturn]] void refuse(std::string_view problem) const;

  int line = 1;  // where the template is

 private:
  static constexpr std::size_t kMost = std::size_t{256} << 20;
  std::string what_;
  std::size_t left_ = kMost;
};

}  // namespace assay::models::jinja
