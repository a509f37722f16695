// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/page_input.h"
#include "lab/site/live_source.h"
#include "lab/site/serve.h"
#include "lab/site/site.h"
#include "lab/site/site_data.h"
#include "lab/store/store.h"

namespace assay::cli {
namespace {

int serve_page(const ServeArguments& a) {
  for (const auto& source : a.sources) {
    std::error_code ignored;
    if (!std::filesystem::exists(source, ignored) && !lab::looks_like_store(source)) {
      fail("no such journal, folder or store: '{}'", source);
    }
  }
  lab::LiveSource source(sources_or_default(a.sources));
  lab::PageServer server({a.host, a.port, a.expose}, [&]() -> std::optional<std::string> {
    if (!source.refresh()) return std::nullopt;
    return canonical_json(lab::site_data(page_input(a.title, source.rows(), source.warnings())));
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
  server.run();
  waiter.join();
  return kFine;
}

int complain(const std::exception& e, int status) {
  std::fprintf(stderr, "assay: %s\n", e.what());
  return status;
}

}  // namespace

int serve_main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  try {
    const auto parsed = parse_arguments(argc, argv);
    if (const int* status = std::get_if<int>(&parsed)) return *status;
    const auto* arguments = std::get_if<ServeArguments>(&std::get<Command>(parsed));
    if (arguments == nullptr) fail("this program serves 'assay serve' only");
    return serve_page(*arguments);
  } catch (const UserError& e) {
    return complain(e, kBadInput);
  } catch (const std::exception& e) {
    return complain(e, 70);  // a bug of ours; the message says where
  }
}

}  // namespace assay::cli

int main(int argc, char** argv) { return assay::cli::serve_main(argc, argv); }
