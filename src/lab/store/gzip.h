// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace assay::lab {

// Whether the bytes begin as those of gzip do.
bool is_gzip(std::string_view bytes);

// What was compressed by gzip, several members one after the other included. Throws UserError that
// names `what` where the bytes are damaged or end too soon, and where they hide
// more than any journal would: over 64 MiB at more than 250 times their own size.
class Gunzip {
 public:
  explicit Gunzip(std::string what);
  ~Gunzip();
  // Appends what these bytes, which follow those before, hold.
  void add(std::string_view bytes, std::string& text);
  // There are no more.
  void end() const;

 private:
  class Inflater;
  std::string what_;
  std::unique_ptr<Inflater> inflater_;
  std::size_t read_ = 0, written_ = 0;
  bool inside_ = false;  // a member has begun and not ended
};

}  // namespace assay::lab
