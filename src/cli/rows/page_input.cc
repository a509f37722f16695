// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/rows/page_input.h"

#include <set>

#include "base/error.h"

namespace assay::cli {
namespace {

// The machine that a row names becomes part of a path: only names as we write them may.
bool is_fingerprint(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

lab::SiteInput page_input(const std::string& title, const std::string& commit_url,
                          std::vector<lab::Row> rows, std::vector<std::string> warnings) {
  lab::SiteInput input;
  input.title = title;
  input.commit_url = commit_url;
  input.warnings = std::move(warnings);
  std::set<std::string> fingerprints;
  for (const auto& row : rows) {
    if (auto text = row.machine.fingerprint; is_fingerprint(text))
      fingerprints.insert(std::move(text));
  }
  for (const auto& fingerprint : fingerprints) {
    try {
      if (auto ceilings = lab::load_ceilings(fingerprint)) input.ceilings[fingerprint] = *ceilings;
    } catch (const UserError& e) {
      input.warnings.push_back(e.what());
    }
  }
  input.rows = std::move(rows);
  return input;
}

}  // namespace assay::cli
