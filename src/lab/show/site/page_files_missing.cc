// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for the page's files in a build without them (cmake/Dependencies.cmake says why).
#include "base/error.h"
#include "lab/show/site/page_files.h"

namespace assay::lab {
namespace {

[[noreturn]] void refuse() {
  throw EnvironmentError(
      "this build has no page: plotly.js and esbuild were not found when it was configured "
      "(Debian: python3-plotly, esbuild; then build again)");
}

}  // namespace

std::string_view page_frame() { refuse(); }
std::string_view page_style() { refuse(); }
std::string_view page_script() { refuse(); }
std::string_view chart_script() { refuse(); }

}  // namespace assay::lab
