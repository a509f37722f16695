// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/rows_into_store.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/text.h"
#include "cli/measure/progress.h"
#include "lab/show/markdown/markdown.h"
#include "lab/store/shown_source.h"
#include "lab/store/store.h"
#include "lab/store/transfer.h"

namespace assay::cli {

using namespace std::chrono_literals;

namespace {

// For how long a store may say nothing, at least, whoever wants what.
constexpr std::chrono::seconds kAtLeast{5};

// Nobody waits for the store any longer, which may have said something a moment later.
class Silent : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace

RowsIntoStore::RowsIntoStore(std::string url, TerminalProgress& progress,
                             const std::atomic<bool>& stop)
    : url_(std::move(url)),
      store_(std::make_shared<lab::Store>(url_, lab::Access::kCreate)),
      progress_(progress),
      stop_(stop) {}

void RowsIntoStore::take(std::span<const lab::Row> rows) {
  if (store_ == nullptr) return;
  for (const auto& row : rows) lines_.push_back(lab::row_to_line(row));
  try {
    in_time(kAtLeast, [lines = lines_](lab::Store& store) {
      lab::ingest_lines(store, lines, "the run", lab::Patience::kNone);
    });
    lines_.clear();
  } catch (const lab::StoreBusy&) {
    // They go with those that come next.
  } catch (const UserError& e) {
    follow_at_the_end(e);
  }
}

void RowsIntoStore::follow_at_the_end(const UserError& why) {
  store_.reset();
  progress_.note(fmt::format("warning: {}; the rows follow at the end", printable(why.what())));
}

void RowsIntoStore::take_begun(const std::string& path) {
  try {
    in_time(kAtLeast, [path](lab::Store& store) {
      lab::ingest_journals(store, {path}, lab::Patience::kNone);
    });
  } catch (const lab::StoreBusy&) {  // the rest of the run is not kept from it, and all follow at
                                     // the end
  } catch (const Silent& e) {
    follow_at_the_end(e);
  }
}

int RowsIntoStore::finish(const std::string& path) {
  try {
    // Another writer may have the store for a minute, and a large journal takes its time.
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(path, unknown);
    const auto patience = 70s + std::chrono::seconds(unknown ? 0 : bytes >> 20);
    in_time(stop_ ? kAtLeast : patience,
            [path](lab::Store& store) { lab::ingest_journals(store, {path}); });
    return kFine;
  } catch (const UserError& e) {
    store_.reset();
    progress_.clear_line();
    std::fputs(fmt::format("assay: {}\nthe journal has all rows; later: assay store ingest {} {}\n",
                           printable(e.what()), lab::shell_word(lab::shown_source(url_)),
                           lab::shell_word(path))
                   .c_str(),
               stderr);
    return kEnvironmentRefused;
  }
}

// In a thread that is left alone where the server says nothing, or nobody wants to wait any more:
// it has what it needs.
void RowsIntoStore::in_time(std::chrono::seconds patience, Work work) {
  std::packaged_task<void()> task([url = url_, store = store_, work = std::move(work)] {
    work(store ? *store : *std::make_unique<lab::Store>(url, lab::Access::kCreate));
  });
  auto done = task.get_future();
  std::thread(std::move(task)).detach();
  const auto begin = std::chrono::steady_clock::now();
  while (done.wait_for(50ms) == std::future_status::timeout) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kAtLeast && stop_) {
      throw Silent(
          fmt::format("interrupted while the store took the rows: '{}'", lab::shown_source(url_)));
    }
    if (waited > patience) {
      throw Silent(fmt::format("the store has said nothing for {} seconds: '{}'", patience.count(),
                               lab::shown_source(url_)));
    }
  }
  done.get();
}

}  // namespace assay::cli
