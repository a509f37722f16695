// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_pieces.h"
#include "lab/show/exchange/imported.h"

namespace assay::lab {

// Files that stand beside the imported one and that it names: their bytes, or nothing.
using Sidecar = std::function<std::optional<std::string>(const std::string& name)>;

// What the tools' files say, before it becomes rows. `what` names the file in errors. Each throws
// UserError in one line when the value is not what that tool writes. Where a sample is an object of
// its own, the file is read by pieces: its value would be far larger than what is kept of it.
// `sketch` is sketch_json() of the text.
ImportedFile read_google_benchmark(const Json& sketch, const TextPieces& text,
                                   std::string_view what);
ImportedFile read_pyperf(const TextPieces& text, std::string_view what);
ImportedFile read_hyperfine(const Json& json, std::string_view what);
ImportedFile read_pytest_benchmark(const Json& json, std::string_view what);
// nvbench keeps the samples in binary files beside the JSON; without them its own figures are used.
ImportedFile read_nvbench(const Json& json, std::string_view what, const Sidecar& sidecar = {});

// google-benchmark, hyperfine, pytest-benchmark, pyperf, nvbench.
std::vector<std::string_view> import_formats();

// The rows of a file of another tool. `format` is one of import_formats(), or "auto", which knows
// each by the keys that only it has. A truncated file, one of another kind or one with an unknown
// format name is a UserError of one line.
std::vector<Row> import_rows(const TextPieces& text, std::string_view format,
                             const ImportOptions& options, const Sidecar& sidecar = {});

}  // namespace assay::lab
