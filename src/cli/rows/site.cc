// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site.h"

#include "base/file.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "cli/rows/page_input.h"
#include "lab/show/site/site_data.h"
#include "lab/store/source.h"

namespace assay::cli {

int site(const SiteArguments& a) {
  auto [rows, warnings] = lab::read_sources(sources_or_default(a.sources),
                                            lab::Reading::kWhatIsWhole, lab::kMostRowsOfAPage);
  print_warnings(warnings);
  const auto html = lab::site_html(
      lab::site_data(page_input(a.title, a.commit_url, std::move(rows), std::move(warnings))));
  write_file_atomically(a.out, html);
  return kFine;
}

}  // namespace assay::cli
