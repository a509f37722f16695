// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page over HTTP, read-only: GET / is the page, GET /data.json its data, and nothing else is.

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace assay::lab {

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 0;         // 0: any that is free
  bool expose = false;  // listen where other machines can reach us
};

class PageServer {
 public:
  // `data` gives the page's document as JSON text when it is another than at the last call (and at
  // the first), else nothing. It is called by one thread at a time. Listens from here on; throws
  // UserError where the address may not or cannot be listened on.
  PageServer(const ServeOptions& options, std::function<std::optional<std::string>()> data);
  ~PageServer();

  int port() const;
  void run();   // answers requests until stop()
  void stop();  // from any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::lab
