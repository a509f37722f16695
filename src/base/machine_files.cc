// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/machine_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace assay {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string folder() {
  if (const auto own = variable("ASSAY_MACHINE_DIR"); !own.empty()) return own;
  if (const auto state = variable("XDG_STATE_HOME"); !state.empty())
    return state + "/assay/machines";
  const auto home = variable("HOME");
  if (home.empty()) {
    fail("no place for what is measured of this machine: set HOME or ASSAY_MACHINE_DIR");
  }
  return home + "/.local/state/assay/machines";
}

// A fingerprint may come from anyone's row: it must not lead to another folder.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

std::string machine_file(std::string_view fingerprint, std::string_view name) {
  return fmt::format("{}/{}/{}.json", folder(), fingerprint, name);
}

std::optional<Json> load_machine_file(std::string_view fingerprint, std::string_view name) {
  if (!is_plain_name(fingerprint)) return std::nullopt;
  const auto path = machine_file(fingerprint, name);
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto content = parse_json(read_file(path), path);
  const auto owner = content.is_object() ? content.value("machine", Json()) : Json();
  if (owner != fingerprint) {
    fail("'{}' is not of this machine: it says {}, this is \"{}\"", path, canonical_json(owner),
         fingerprint);
  }
  return content;
}

std::string save_machine_file(std::string_view fingerprint, std::string_view name, Json content) {
  const auto path = machine_file(fingerprint, name);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) fail("cannot make the folder of '{}': {}", path, error.message());
  content["machine"] = fingerprint;
  write_file_atomically(path, pretty_json(content) + "\n");
  return path;
}

}  // namespace assay
