// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/http_request.h"

#include <gtest/gtest.h>

namespace assay::lab {
namespace {

int status_of(const std::string& text) {
  const auto request = parse_http_request(text);
  return !request ? 0 : request->refused == 0 ? 200 : request->refused;
}

TEST(HttpRequest, AHeadIsReadWhole) {
  const std::string text =
      "GET /data.json?x=1 HTTP/1.1\r\nHost:  localhost:80 \r\nIf-None-Match: \"a\"\r\n\r\nGET /";
  const auto request = parse_http_request(text);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->refused, 0);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/data.json");
  EXPECT_EQ(request->host, "localhost:80");
  EXPECT_EQ(request->if_none_match, "\"a\"");
  EXPECT_TRUE(request->keep_alive);
  EXPECT_EQ(text.substr(request->size), "GET /");
  for (std::size_t i = 0; i + 5 < text.size(); ++i) {
    EXPECT_EQ(status_of(text.substr(0, i)), 0) << i;
  }
  EXPECT_EQ(status_of("\r\n" + text), 200);
}

TEST(HttpRequest, OneHostAndNoMore) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 200);
}

TEST(HttpRequest, WhatCouldMeanTwoThingsIsRefused) {
  const std::string host = "Host: a\r\n";
  for (const std::string head :
       {"GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "GET /\r\n", " GET / HTTP/1.1\r\n",
        "G\tET / HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n", "GET / HTTQ/1.1\r\n",
        "\nGET / HTTP/1.1\r\n", "GET / HTTP/1.1\n"}) {
    EXPECT_EQ(status_of(head + host + "\r\n"), 400) << head;
  }
  for (const std::string header : {"X y: 1\r\n", " folded\r\n", "nothing\r\n", ": empty\r\n",
                                   "X: a\rb\r\n", "X: a\nY: b\r\n", "X: \x01\r\n", "X : 1\r\n"}) {
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + host + header + "\r\n"), 400) << header;
  }
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n" + host + "\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\n"), 413);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\n"), 200);
}

TEST(HttpRequest, SizesAreBounded) {
  EXPECT_EQ(status_of("GET /" + std::string(kLargestRequestLine, 'x')), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(kLargestRequestHead, 'x')), 431);
  EXPECT_EQ(status_of("GET /" + std::string(4000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
}

}  // namespace
}  // namespace assay::lab
