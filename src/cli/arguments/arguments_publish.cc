// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_site(CLI::App& app, SiteArguments& a) {
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--out", a.out, "the file to write")->required();
  app.add_option("--title", a.title, "what the page is called (Assay)");
  app.add_option("--commit-url", a.commit_url,
                 "where commits can be looked at: https://…/commit/{commit}");
  app.footer(R"(Examples:
  assay site --out site.html                 everything under results/, as one file
  assay site results/assay.db a.jsonl --out site.html --title 'Nightly'
  assay site --out site.html --commit-url 'https://github.com/OWNER/NAME/commit/{commit}')");
}

void add_serve(CLI::App& app, ServeArguments& a) {
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--port", a.port, "0: any that is free (8377)");
  app.add_option("--host", a.host, "address to listen on (127.0.0.1)");
  app.add_flag("--expose", a.expose,
               "allow a --host that other machines can reach: whoever can, can read every row");
  app.add_option("--title", a.title, "what the page is called (Assay)");
  app.add_option("--commit-url", a.commit_url,
                 "where commits can be looked at: https://…/commit/{commit}");
  app.footer(R"(Examples:
  assay serve                                everything under results/, rows appear as they are made
  assay serve results/assay.db --port 9000)");
}

}  // namespace assay::cli
