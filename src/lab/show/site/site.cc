// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site.h"

#include <zlib.h>

#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/hash.h"
#include "lab/show/site/page_files.h"

namespace assay::lab {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const auto byte = i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u;
      group = group << 8 | byte;
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63u] : '=';
    }
  }
  return text;
}

std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

// The hashes of what is inside the page never change while the program runs.
std::string policy_of_page(std::string_view connect) {
  static const std::string scripts = policy_hash(chart_script()) + " " + policy_hash(page_script());
  static const std::string style = policy_hash(page_style());
  return fmt::format(
      "default-src 'none'; script-src {}; style-src-elem {} "
      "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src-attr 'unsafe-inline'; "
      "img-src data: blob:; "
      "connect-src {}; base-uri 'none'; form-action 'none'",
      scripts, style, connect);
}

std::string fill(std::string_view policy, std::string_view data) {
  // In the order in which they occur in the frame.
  const std::array<std::pair<std::string_view, std::string_view>, 5> places = {
      {{"@POLICY@", policy},
       {"@STYLE@", page_style()},
       {"@DATA@", data},
       {"@CHART@", chart_script()},
       {"@PAGE@", page_script()}}};
  std::string_view rest = page_frame();
  std::string html;
  for (const auto& [mark, text] : places) {
    const auto at = rest.find(mark);
    check(at != std::string_view::npos, "the page's frame has a place for each part, in order");
    html.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  }
  return html.append(rest);
}

}  // namespace

std::string policy_hash(std::string_view text) {
  return "'sha256-" + base64(bytes_of_hex(sha256_hex(text))) + "'";
}

std::string packed(const Json& data) {
  const std::string text = canonical_json(data);
  std::string bytes(compressBound(text.size()), '\0');
  uLongf size = bytes.size();
  // The least effort: a sixth longer than the usual, in a quarter of the time.
  const int code =
      compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED);
  check(code == Z_OK, "memory of the size that zlib asked for is enough for it");
  bytes.resize(size);
  return base64(bytes);
}

std::string site_html(const Json& data) { return fill(policy_of_page("'none'"), packed(data)); }

LivePage live_page() {
  const auto policy = policy_of_page("'self'");
  return {fill(policy, ""), policy + "; frame-ancestors 'none'"};
}

}  // namespace assay::lab
