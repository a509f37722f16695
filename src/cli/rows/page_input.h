// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/show/site/site_data.h"

namespace assay::cli {

// The rows, and what this machine keeps about the machines they come from.
lab::SiteInput page_input(const std::string& title, const std::string& commit_url,
                          std::vector<lab::Row> rows, std::vector<std::string> warnings);

}  // namespace assay::cli
