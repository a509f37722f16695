// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "cli/arguments/arguments.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "cli/rows/page_input.h"
#include "lab/show/site/live_source.h"
#include "lab/show/site/serve.h"
#include "lab/show/site/site.h"
#include "lab/show/site/site_data.h"
#include "lab/store/shown_source.h"
#include "lab/store/store.h"

namespace assay::cli {

int serve(const ServeArguments& a) {
  for (const auto& source : a.sources) {
    std::error_code ignored;
    if (!std::filesystem::exists(source, ignored) && !lab::looks_like_store(source)) {
      fail("no such journal, folder or store: '{}'", lab::shown_source(source));
    }
  }
  if (!a.commit_url.empty()) lab::check_commit_url(a.commit_url);
  lab::LiveSource source(sources_or_default(a.sources));
  lab::PageServer server({a.host, a.port, a.expose}, [&]() -> std::optional<std::string> {
    if (!source.refresh()) return std::nullopt;
    return canonical_json(
        lab::site_data(page_input(a.title, a.commit_url, source.rows(), source.warnings())));
  });

  // Ctrl-C is how a server ends: waited for by a thread of its own, since a handler may do little.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::thread waiter([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    server.stop();
  });
  const bool v6 = a.host.find(':') != std::string::npos;
  std::fputs(fmt::format("http://{}:{}/  (Ctrl-C ends it)\n", v6 ? "[" + a.host + "]" : a.host,
                         server.port())
                 .c_str(),
             stderr);
  try {
    server.run();
  } catch (...) {
    ::kill(::getpid(), SIGTERM);  // for the waiter
    waiter.join();
    throw;
  }
  waiter.join();
  return kFine;
}

}  // namespace assay::cli
