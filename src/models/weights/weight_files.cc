// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights/weight_files.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::models {
namespace {

std::string shown_name(std::string_view name) { return fit(printable(name), 80); }

// A file of the same folder, not a way out of it.
bool is_shard_name(const std::string& name) {
  return name.size() > 12 && name.ends_with(".safetensors") &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
         name.front() != '.';
}

}  // namespace

WeightFiles::WeightFiles(const std::string& folder) {
  std::error_code error;
  list_path_ = folder + "/model.safetensors";
  // A link to nothing is somebody's mistake, and named as such when it is opened.
  if (std::filesystem::exists(std::filesystem::symlink_status(list_path_, error))) {
    add_file(list_path_);
    return;
  }
  add_shards(folder);
}

void WeightFiles::add_file(const std::string& path) {
  paths_.push_back(path);
  files_.emplace_back(path);
  for (const auto& name : files_.back().names()) {
    tensors_.emplace(name, Stored{files_.back().view(name), &paths_.back()});
  }
}

void WeightFiles::add_shards(const std::string& folder) {
  const auto path = folder + "/model.safetensors.index.json";
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
    fail("no weights: neither model.safetensors nor model.safetensors.index.json in '{}'", folder);
  }
  list_path_ = path;
  const auto index = parse_json(read_input_file(path), path);
  const auto map = json_field<Json>(index, "weight_map", path);
  if (!map.is_object()) fail("{}: field 'weight_map': expected an object", path);
  std::set<std::string> shards;
  for (const auto& item : map.items()) {
    if (!item.value().is_string() || !is_shard_name(item.value().get<std::string>())) {
      fail("{}: tensor '{}': expected the name of a .safetensors file in the same folder, got {}",
           path, shown_name(item.key()), shown_name(canonical_json(item.value())));
    }
    shards.insert(item.value().get<std::string>());
  }
  for (const auto& shard : shards) {
    const auto shard_path = folder + "/" + shard;
    const auto before = tensors_.size();
    add_file(shard_path);
    for (const auto& name : files_.back().names()) {
      const auto listed = map.find(name);
      if (listed == map.end() || *listed != shard) {
        fail("{}: tensor '{}' is not listed there by {}", shard_path, shown_name(name), path);
      }
    }
    check(tensors_.size() == before + files_.back().names().size(), "a tensor is in one shard");
  }
  for (const auto& item : map.items()) {
    if (find(item.key()) == nullptr) {
      fail("{}/{}: no tensor '{}', which {} lists there", folder, item.value().get<std::string>(),
           shown_name(item.key()), path);
    }
  }
}

const WeightFiles::Stored* WeightFiles::find(std::string_view name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

}  // namespace assay::models
