// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/rows_into_store.h"

#include <chrono>
#include <cstdio>
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

RowsIntoStore::RowsIntoStore(std::string url, TerminalProgress& progress)
    : url_(std::move(url)),
      store_(std::make_shared<lab::Store>(url_, lab::Access::kCreate)),
      progress_(progress) {}

void RowsIntoStore::take(std::span<const lab::Row> rows) {
  if (store_ == nullptr) return;
  for (const auto& row : rows) lines_.push_back(lab::row_to_line(row));
  try {
    ingest();
    lines_.clear();
  } catch (const lab::StoreBusy&) {
    // They go with those that come next.
  } catch (const UserError& e) {
    store_.reset();
    progress_.note(fmt::format("warning: {}; the rows follow at the end", printable(e.what())));
  }
}

void RowsIntoStore::take_begun(const std::string& path) { lab::ingest_journals(*store_, {path}); }

int RowsIntoStore::finish(const std::string& path) {
  try {
    const auto store = store_ ? store_ : std::make_shared<lab::Store>(url_, lab::Access::kCreate);
    lab::ingest_journals(*store, {path});
    return kFine;
  } catch (const UserError& e) {
    progress_.clear_line();
    std::fputs(fmt::format("assay: {}\nthe journal has all rows; later: assay store ingest {} {}\n",
                           printable(e.what()), lab::shell_word(lab::shown_source(url_)),
                           lab::shell_word(path))
                   .c_str(),
               stderr);
    return kEnvironmentRefused;
  }
}

// In a thread that is left alone where the server says nothing: it has what it needs.
void RowsIntoStore::ingest() {
  constexpr std::chrono::seconds kPatience{5};
  std::packaged_task<void()> work([store = store_, lines = lines_] {
    lab::ingest_lines(*store, lines, "the run", lab::Patience::kNone);
  });
  auto done = work.get_future();
  std::thread(std::move(work)).detach();
  if (done.wait_for(kPatience) == std::future_status::timeout)
    fail("the store has said nothing for {} seconds: '{}'", kPatience.count(),
         lab::shown_source(url_));
  done.get();
}

}  // namespace assay::cli
