// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"

namespace assay::lab {

// The page with its data inside: one HTML file that needs nothing else and, by its own content
// policy, may load nothing else. Whatever text the data holds, it can end no element and start no
// script.
std::string site_html(const Json& data);

// The page that asks its server for the data (GET data.json), again and again.
struct LivePage {
  std::string html;
  std::string policy;  // the content policy to send with it
};
LivePage live_page();

// The data as it stands inside the page: JSON, compressed (zlib, RFC 1950), in base64.
std::string packed(const Json& data);

// "'sha256-…'", as content policies name a script or style by its text.
std::string policy_hash(std::string_view text);

}  // namespace assay::lab
