// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/template.h"

#include "base/error.h"

namespace assay::models::jinja {
namespace {

Body parsed(std::string_view source, const std::string& what) {
  constexpr std::size_t kLargest = 1 << 20;
  if (source.size() > kLargest) fail("{}: a chat template of more than {} bytes", what, kLargest);
  Work work(what);
  return parse_template(source, work);
}

}  // namespace

Template::Template(std::string_view source, std::string what)
    : what_(std::move(what)), body_(parsed(source, what_)) {}

std::string Template::render(const Variables& variables, std::time_t now) const {
  Work work(what_);
  return Interpreter(variables, now, work).run(body_);
}

}  // namespace assay::models::jinja
