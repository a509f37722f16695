// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "lab/show/site/page_files.h"
#include "lab/show/site/site_data.h"
#include "lab/testing/many_rows.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

// As the page does it.
Json unpacked(const std::string& text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = std::string_view(
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                           "0123456789+/")
                           .find(c);
    if (digit == std::string_view::npos) break;  // padding
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255u);
  }
  std::string json(1 << 20, '\0');
  uLongf size = json.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(json.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  return parse_json(json.substr(0, size), "text");
}

TEST(Packed, IsBase64ThatReadsBack) {
  const Json data = {{"a", "</script><!--<script>&\u2028\u2029 é \"q\" \\"}, {"b", {1.5, nullptr}}};
  for (const Json& json : {data, Json(), Json(std::string(1000, 'x'))}) {
    const auto text = packed(json);
    EXPECT_THAT(text, testing::MatchesRegex("[A-Za-z0-9+/]+=?=?"));
    EXPECT_EQ(unpacked(text), json);
  }
}

TEST(PolicyHash, IsWhatBrowsersCompute) {
  // The hash of the empty text that content policies are often seen with, and FIPS 180's "abc".
  EXPECT_EQ(policy_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  EXPECT_EQ(policy_hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

TEST(PageFiles, AreInside) {
  EXPECT_GT(chart_script().size(), 1'000'000u);
  EXPECT_THAT(std::string(chart_script().substr(0, 200)), HasSubstr("plotly.js v"));
  EXPECT_GT(page_script().size(), 10'000u);
  EXPECT_GT(page_style().size(), 1'000u);
  // Inside a <script> or <style> element, what ends it would cut the page off.
  EXPECT_EQ(chart_script().find("</script"), std::string_view::npos);
  EXPECT_EQ(page_script().find("</script"), std::string_view::npos);
  EXPECT_EQ(page_style().find("</style"), std::string_view::npos);
}

TEST(Site, IsOneFileThatMayLoadNothing) {
  SiteInput input;
  input.rows = testing_rows::many_rows({.rows = 200, .runs = 2});
  const auto html = site_html(site_data(std::move(input)));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr(policy_hash(page_script())));
  EXPECT_THAT(html, HasSubstr("connect-src 'none'"));
  for (const char* place : {"@POLICY@", "@STYLE@", "@DATA@", "@CHART@", "@PAGE@"}) {
    EXPECT_THAT(html, Not(HasSubstr(place)));
  }
  std::size_t scripts = 0;
  for (auto at = html.find("</script>"); at != std::string::npos;
       at = html.find("</script>", at + 1)) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 3u);  // data, charts, page: none from the rows
}

TEST(Site, TheLivePageAsksItsServerOnly) {
  const auto page = live_page();
  EXPECT_THAT(page.policy, HasSubstr("connect-src 'self'"));
  EXPECT_THAT(page.policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(page.html, HasSubstr("id=\"data\"></script>"));
}

}  // namespace
}  // namespace assay::lab
