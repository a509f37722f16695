// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// One thread and poll(): a connection that says nothing, or says it slowly, costs a place in a list
// and never the others' time (docs/adr/0037-a-server-of-our-own.md).

#include "lab/show/site/serve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "lab/show/site/access.h"
#include "lab/show/site/http_request.h"
#include "lab/show/site/site.h"

namespace assay::lab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;
using Text = std::shared_ptr<const std::string>;

constexpr std::size_t kMostConnections = 256;
// For the whole head of a request, not for each byte of it.
constexpr auto kHeadTime = seconds(10);
constexpr auto kIdleTime = seconds(60);     // between two requests
constexpr auto kStandstill = seconds(30);   // of a reader that takes nothing
constexpr auto kFarewellTime = seconds(2);  // for what is still on its way when we have answered

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};
  Text body = std::make_shared<const std::string>();
  bool keep_alive = true;
};

Answer refusal(int status, const char* why, bool keep_alive) {
  Answer answer;
  answer.status = status;
  answer.body = std::make_shared<const std::string>(why);
  answer.keep_alive = keep_alive;
  return answer;
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

enum class Stage { kReading, kIdle, kWriting, kFarewell };

struct Connection {
  UniqueFd fd;
  Stage stage = Stage::kReading;
  Clock::time_point since, deadline;  // since: when it was accepted
  std::string received;
  std::string head;  // of the answer
  Text body;
  std::size_t sent = 0;  // of head and body together
  bool keep_alive = true;
};

UniqueFd listening_socket(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) {
    fail("cannot listen on '{}': no such address", host);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    UniqueFd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (fd) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd && ::bind(fd.get(), at->ai_addr, at->ai_addrlen) == 0 && ::listen(fd.get(), 128) == 0) {
      return fd;
    }
    error = errno;
  }
  fail("cannot listen on '{}', port {}: {}", host, port, errno_text(error));
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  check(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0, "a socket has a name");
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

struct PageServer::State {
  ServeOptions options;
  std::function<std::optional<std::string>()> data;
  LivePage page = live_page();
  Text html;
  UniqueFd listening, stopping;
  std::list<Connection> connections;

  Text document;
  std::string tag;
  Clock::time_point next_look{};
  Clock::duration making{};  // time that nobody is to blame for: data being made

  // Stands still while data is made, so that nobody's time runs out meanwhile.
  Clock::time_point now() const { return Clock::now() - making; }

  // The newest document. Making it may take a while for a large store: it is made anew at most a
  // third of the time.
  void refresh() {
    const auto before = Clock::now();
    if (document && before < next_look) return;
    if (auto fresh = data()) {
      tag = "\"" + short_hash(*fresh) + "\"";
      document = std::make_shared<const std::string>(std::move(*fresh));
    }
    const auto after = Clock::now();
    making += after - before;
    next_look = after + 2 * (after - before);
  }

  Answer answer_to(const HttpRequest& request) {
    if (request.refused != 0) return refusal(request.refused, "not understood\n", false);
    const bool keep = request.keep_alive;
    if (!host_allowed(request.host, options.host, options.port)) {
      return refusal(403, "this server answers only to its own address\n", keep);
    }
    if (request.method != "GET" && request.method != "HEAD") {
      auto answer = refusal(405, "read-only: GET and HEAD\n", keep);
      answer.headers.emplace_back("Allow", "GET, HEAD");
      return answer;
    }
    Answer answer;
    answer.keep_alive = keep;
    if (request.path == "/") {
      answer.type = "text/html; charset=utf-8";
      answer.body = html;
    } else if (request.path == "/data.json") {
      try {
        refresh();
      } catch (const std::exception& e) {
        return refusal(500, e.what(), keep);
      }
      answer.headers.emplace_back("ETag", tag);
      if (request.if_none_match == tag) {
        answer.status = 304;
      } else {
        answer.type = "application/json; charset=utf-8";
        answer.body = document;
      }
    } else {
      return refusal(404, "not here\n", keep);
    }
    return answer;
  }

  std::string head_of(const Answer& answer) const {
    std::string head = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Length: {}\r\nContent-Security-Policy: {}\r\n"
        "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: "
        "no-referrer\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "Cache-Control: no-store\r\nConnection: {}\r\n",
        answer.status, reason_of(answer.status), answer.body->size(), page.policy,
        answer.keep_alive ? "keep-alive" : "close");
    if (answer.status != 304) head += fmt::format("Content-Type: {}\r\n", answer.type);
    for (const auto& [name, value] : answer.headers) head += fmt::format("{}: {}\r\n", name, value);
    return head + "\r\n";
  }

  // A request that is complete in what was received becomes an answer to be written.
  void look_at(Connection& c) {
    if (c.stage != Stage::kReading && c.stage != Stage::kIdle) return;
    if (c.received.empty()) return;
    if (c.stage == Stage::kIdle) {
      c.stage = Stage::kReading;
      c.deadline = now() + kHeadTime;
    }
    const auto request = parse_http_request(c.received);
    if (!request) return;
    c.received.erase(0, request->size);
    auto answer = answer_to(*request);
    c.head = head_of(answer);
    c.body = request->method == "HEAD" ? std::make_shared<const std::string>() : answer.body;
    c.sent = 0;
    c.keep_alive = answer.keep_alive;
    c.stage = Stage::kWriting;
    c.deadline = now() + kStandstill;
  }

  // False: the connection is over.
  bool read_from(Connection& c) {
    char buffer[4096];
    const ssize_t n = ::recv(c.fd.get(), buffer, sizeof buffer, 0);
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (c.stage == Stage::kFarewell) return true;  // too late to matter
    c.received.append(buffer, static_cast<std::size_t>(n));
    look_at(c);
    return true;
  }

  bool write_to(Connection& c) {
    while (c.sent < c.head.size() + c.body->size()) {
      const bool in_head = c.sent < c.head.size();
      const auto left = in_head ? std::string_view(c.head).substr(c.sent)
                                : std::string_view(*c.body).substr(c.sent - c.head.size());
      const ssize_t n = ::send(c.fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN;
      c.sent += static_cast<std::size_t>(n);
      c.deadline = now() + kStandstill;
    }
    c.body.reset();
    if (c.keep_alive) {
      c.stage = Stage::kIdle;
      c.deadline = now() + kIdleTime;
      look_at(c);  // the next one may be there already
    } else {
      // Closed at once, what the other side still sends would throw our answer away.
      ::shutdown(c.fd.get(), SHUT_WR);
      c.stage = Stage::kFarewell;
      c.deadline = now() + kFarewellTime;
    }
    return true;
  }

  void accept_all() {
    for (;;) {
      UniqueFd fd(::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      const bool full = !fd && (errno == EMFILE || errno == ENFILE);
      if (!fd && !full) return;
      if (full || connections.size() >= kMostConnections) drop_oldest();
      if (full && connections.empty()) return;
      if (!fd) continue;
      Connection& c = connections.emplace_back();
      c.fd = std::move(fd);
      c.since = now();
      c.deadline = c.since + kHeadTime;
    }
  }

  // Whoever has kept a place longest without being answered right now; else the oldest.
  void drop_oldest() {
    const auto rank = [](const Connection& c) {
      return std::pair(c.stage == Stage::kWriting, c.since);
    };
    const auto victim = std::ranges::min_element(connections, {}, rank);
    if (victim != connections.end()) connections.erase(victim);
  }

  void run() {
    std::vector<pollfd> polled;
    for (;;) {
      polled = {{stopping.get(), POLLIN, 0}, {listening.get(), POLLIN, 0}};
      auto next = now() + seconds(60);
      for (const auto& c : connections) {
        const bool writes = c.stage == Stage::kWriting;
        polled.push_back({c.fd.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
        next = std::min(next, c.deadline);
      }
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now()).count();
      if (::poll(polled.data(), polled.size(), static_cast<int>(std::max<long>(wait, 0))) < 0 &&
          errno != EINTR) {
        fail("serve: cannot wait for connections: {}", errno_text(errno));
      }
      if (polled[0].revents != 0) return;
      auto seen = polled.begin() + 2;
      for (auto c = connections.begin(); c != connections.end(); ++seen) {
        bool stays = now() < c->deadline;
        if (stays && seen->revents != 0)
          stays = c->stage == Stage::kWriting ? write_to(*c) : read_from(*c);
        c = stays ? std::next(c) : connections.erase(c);
      }
      if (polled[1].revents != 0) accept_all();
    }
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
  state_->html = std::make_shared<const std::string>(std::move(state_->page.html));
  state_->stopping = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  state_->listening = listening_socket(options.host, options.port);
  state_->options.port = port_of(state_->listening.get());
}

PageServer::~PageServer() = default;

int PageServer::port() const { return state_->options.port; }

void PageServer::run() { state_->run(); }

void PageServer::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->stopping.get(), &one, sizeof one);
}

}  // namespace assay::lab
