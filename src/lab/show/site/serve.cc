// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/serve.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/error.h"
#include "base/hash.h"
#include "lab/show/site/access.h"
#include "lab/show/site/site.h"

namespace assay::lab {
namespace {

using Clock = std::chrono::steady_clock;

// A text that is sent as it is. The library would otherwise compress megabytes for a reader on the
// same machine.
void send(httplib::Response& response, std::shared_ptr<const std::string> text, const char* type) {
  const auto size = text->size();
  response.set_content_provider(
      size, type,
      [text = std::move(text)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        return sink.write(text->data() + offset, std::min(length, text->size() - offset));
      });
}

void refuse(httplib::Response& response, int status, const char* why) {
  response.status = status;
  response.set_content(why, "text/plain; charset=utf-8");
}

}  // namespace

struct PageServer::State {
  ServeOptions options;
  std::function<std::optional<std::string>()> data;
  LivePage page = live_page();
  httplib::Server server;

  std::mutex mutex;  // over what follows
  std::shared_ptr<const std::string> text;
  std::string tag;
  Clock::time_point next_look{};

  // The newest document. Making it may take a while for a large store: it is made anew at most a
  // third of the time.
  std::pair<std::shared_ptr<const std::string>, std::string> newest() {
    const std::lock_guard lock(mutex);
    const auto before = Clock::now();
    if (!text || before >= next_look) {
      if (auto fresh = data()) {
        tag = "\"" + short_hash(*fresh) + "\"";
        text = std::make_shared<const std::string>(std::move(*fresh));
      }
      const auto after = Clock::now();
      next_look = after + 2 * (after - before);
    }
    return {text, tag};
  }

  void answer() {
    server.set_default_headers({{"Content-Security-Policy", page.policy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Opener-Policy", "same-origin"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler([this](const auto& request, auto& response) {
      if (!host_allowed(request.get_header_value("Host"), options.host, options.port)) {
        refuse(response, 403, "this server answers only to its own address\n");
        return httplib::Server::HandlerResponse::Handled;
      }
      if (request.method != "GET" && request.method != "HEAD") {
        response.set_header("Allow", "GET, HEAD");
        refuse(response, 405, "read-only: GET and HEAD\n");
        return httplib::Server::HandlerResponse::Handled;
      }
      return httplib::Server::HandlerResponse::Unhandled;
    });
    const auto html = std::make_shared<const std::string>(std::move(page.html));
    server.Get("/", [html](const auto&, auto& response) {
      send(response, html, "text/html; charset=utf-8");
    });
    server.Get("/data.json", [this](const auto& request, auto& response) {
      const auto [document, etag] = newest();
      response.set_header("ETag", etag);
      if (request.get_header_value("If-None-Match") == etag) {
        response.status = 304;
      } else {
        send(response, document, "application/json; charset=utf-8");
      }
    });
    server.set_exception_handler([](const auto&, auto& response, std::exception_ptr error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& e) {
        refuse(response, 500, e.what());
      }
    });
    server.set_payload_max_length(0);
    server.set_keep_alive_max_count(1000);
  }
};

PageServer::PageServer(const ServeOptions& options,
                       std::function<std::optional<std::string>()> data)
    : state_(std::make_unique<State>()) {
  if (options.port < 0 || options.port > 65535) fail("no such port: {}", options.port);
  if (!is_loopback(options.host) && !options.expose) {
    fail("other machines could read every row there; add --expose to allow it: '{}'", options.host);
  }
  state_->options = options;
  state_->data = std::move(data);
  state_->answer();
  if (options.port == 0) {
    state_->options.port = state_->server.bind_to_any_port(options.host);
    if (state_->options.port < 0) fail("cannot listen on '{}'", options.host);
  } else if (!state_->server.bind_to_port(options.host, options.port)) {
    fail("cannot listen on '{}', port {}", options.host, options.port);
  }
}

PageServer::~PageServer() = default;

int PageServer::port() const { return state_->options.port; }

void PageServer::run() { state_->server.listen_after_bind(); }

void PageServer::stop() { state_->server.stop(); }

}  // namespace assay::lab
