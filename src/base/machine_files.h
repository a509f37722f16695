// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known about a machine beyond what it says of itself (measured ceilings, calibrations),
// kept under its fingerprint, so that a figure of one machine is never used on another.

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace assay {

// <folder>/<fingerprint>/<name>.json, where the folder is ASSAY_MACHINE_DIR, or assay/machines in
// XDG_STATE_HOME or ~/.local/state.
std::string machine_file(std::string_view fingerprint, std::string_view name);

// What save_machine_file() wrote; nothing if there is no such file, or if the fingerprint, which
// may come from a stranger's row, is anything but letters and digits. Throws UserError naming the
// file when it cannot be read, or says that it belongs to another machine.
std::optional<Json> load_machine_file(std::string_view fingerprint, std::string_view name);

// Adds the fingerprint to `content` (an object), makes the folders, and replaces the file in one
// step. Returns its path.
std::string save_machine_file(std::string_view fingerprint, std::string_view name, Json content);

}  // namespace assay
