// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a page is made of, carried inside the library: our own frame, style and script from page/,
// and the chart library as Debian packages it, made small when Assay was built (docs/adr/0021).

#include <string_view>

namespace assay::lab {

std::string_view page_frame();    // HTML with a place for each of the others
std::string_view page_style();    // CSS
std::string_view page_script();   // our own script
std::string_view chart_script();  // plotly.js

}  // namespace assay::lab
