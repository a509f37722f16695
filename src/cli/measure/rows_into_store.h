// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "lab/record/row.h"

namespace assay::lab {
class Store;
}

namespace assay::cli {

class TerminalProgress;

// Takes rows into a store as they are made. The journal is the truth: what the store does not take
// now it gets later, at the latest at the end, and a run neither waits nor ends for it.
class RowsIntoStore {
 public:
  // A store that cannot be opened is a UserError. `stop` becomes true on Ctrl-C.
  RowsIntoStore(std::string url, TerminalProgress& progress, const std::atomic<bool>& stop);

  void take(std::span<const lab::Row> rows);
  // Before more is measured: what the journal at `path` holds already. Throws UserError where the
  // store has other rows of that run.
  void take_begun(const std::string& path);
  // At the end, by a connection that has not failed. Returns the exit status; where the store does
  // not take the journal, standard error says how it gets it later.
  int finish(const std::string& path);

 private:
  using Work = std::function<void(lab::Store&)>;
  void follow_at_the_end(const UserError& why);
  void in_time(std::chrono::seconds patience, Work work);

  const std::string url_;
  std::shared_ptr<lab::Store> store_;  // null: it failed
  TerminalProgress& progress_;
  const std::atomic<bool>& stop_;
  std::vector<std::string> lines_;  // that the store does not have yet
};

}  // namespace assay::cli
