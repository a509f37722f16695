// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/archive.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "models/pt2/tensor_meta.h"

namespace assay::models::pt2 {
namespace {

constexpr std::string_view kFormatEntry = "/archive_format";

// The folder that everything in an archive is in.
std::string root_of(const ZipFile& zip) {
  for (const auto& [name, entry] : zip.entries()) {
    if (!name.ends_with(kFormatEntry)) continue;
    if (zip.text(name) != "pt2") break;
    return name.substr(0, name.size() - kFormatEntry.size());
  }
  if (zip.contains("serialized_exported_program.json")) {
    fail("{}: an archive of torch before 2.8: save it again with a later one", zip.path());
  }
  fail("{}: not an archive of torch.export.save: no entry that says format 'pt2'", zip.path());
}

std::vector<std::int64_t> constants_of(const std::vector<compiler::Dim>& dims,
                                       const JsonField& field) {
  std::vector<std::int64_t> values;
  for (const auto& dim : dims) {
    if (!dim.constant()) field.refuse("a stored tensor's sizes are numbers");
    values.push_back(*dim.constant());
  }
  return values;
}

Shape shape_of(const std::vector<std::int64_t>& extents, const JsonField& field) {
  try {
    return Shape(extents);
  } catch (const UserError& e) {
    field.refuse(e.what());
  }
}

// Whether all that the strides reach lies within so many elements.
bool lies_within(const Shape& shape, const std::vector<std::int64_t>& strides, std::int64_t offset,
                 std::int64_t elements) {
  if (shape.element_count() == 0) return true;
  __extension__ using Wide = __int128;
  Wide last = offset;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] < 0) return false;
    last += Wide{shape[i] - 1} * strides[i];
  }
  return offset >= 0 && last < elements;
}

bool are_bools(std::span<const std::byte> bytes) {
  for (const auto byte : bytes) {
    if (std::to_integer<int>(byte) > 1) return false;
  }
  return true;
}

}  // namespace

bool Archive::is_one(const std::string& path) {
  const auto fd = open_regular_file(path);
  char first[4] = {};
  return ::read(fd.get(), first, sizeof first) == sizeof first &&
         std::memcmp(first, "PK\3\4", sizeof first) == 0;
}

Archive::Archive(const std::string& path) : zip_(path), root_(root_of(zip_)) {
  if (zip_.contains(root_ + "/byteorder") && zip_.text(root_ + "/byteorder") != "little") {
    fail("{}: elements in the byte order 'little' are read, got '{}'", path,
         fit(printable(zip_.text(root_ + "/byteorder")), 20));
  }
  // One program is what torch.export.save writes.
  std::string model;
  const auto folder = root_ + "/models/";
  for (const auto& [name, entry] : zip_.entries()) {
    if (!name.starts_with(folder) || !name.ends_with(".json")) continue;
    if (!model.empty()) fail("{}: two programs: '{}' and '{}'", path, model, printable(name));
    model = name;
  }
  if (model.empty()) fail("{}: no program: no entry '{}*.json'", path, printable(folder));
  program_place_ = path + ": " + printable(model.substr(root_.size() + 1));
  program_ = parse_json(zip_.text(model), program_place_);
  read_tensors("/data/weights/", "_weights_config.json");
  read_tensors("/data/constants/", "_constants_config.json");
}

void Archive::read_tensors(const std::string& folder, const std::string& kind) {
  std::string list;
  for (const auto& [name, entry] : zip_.entries()) {
    if (name.starts_with(root_ + folder) && name.ends_with(kind)) list = name;
  }
  if (list.empty()) return;
  const auto place = path() + ": " + printable(list.substr(root_.size() + 1));
  const auto json = parse_json(zip_.text(list), place);
  const auto config = JsonField(json, place)["config"];
  std::map<std::string, std::span<const std::byte>> read;  // tied tensors share an entry
  for (const auto& item : config.object().items()) {
    const auto field = config[item.key()];
    if (field.flag_or("use_pickle", false)) {
      field.refuse("a pickled tensor (a subclass, or no tensor at all) is not read");
    }
    const auto meta = tensor_meta_from(field["tensor_meta"]);
    const auto entry = root_ + folder + field["path_name"].text();
    auto found = read.find(entry);
    if (found == read.end()) found = read.emplace(entry, zip_.bytes(entry)).first;
    const auto bytes = found->second;
    const auto extents = constants_of(meta.shape, field),
               strides = constants_of(meta.strides, field);
    const auto offset = constants_of({meta.offset}, field)[0];
    const auto shape = shape_of(extents, field);
    const auto element = static_cast<std::int64_t>(size_of(meta.dtype));
    if (!lies_within(shape, strides, offset, static_cast<std::int64_t>(bytes.size()) / element)) {
      field.refuse(fmt::format("{} {} at {} lies outside of its {} bytes", name_of(meta.dtype),
                               shape.to_string(), offset, bytes.size()));
    }
    if (meta.dtype == DType::kBool && !are_bools(bytes)) {
      field.refuse("bool elements are 0 or 1, got another byte");
    }
    const auto* first = bytes.data() + (shape.element_count() == 0 ? 0 : offset * element);
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(first) % alignment_of(meta.dtype) == 0;  // NOLINT
    if (!is_aligned) {
      copies_.emplace_back(DType::kU8, Shape({static_cast<std::int64_t>(bytes.size())}));
      std::memcpy(copies_.back().bytes().data(), bytes.data(), bytes.size());
      first = copies_.back().bytes().data() + (first - bytes.data());
    }
    const TensorView view(meta.dtype, first, shape, Axes(strides));
    if (!view.is_contiguous()) copies_.push_back(Tensor::copy(view));
    tensors_.emplace(item.key(), view.is_contiguous() ? view : copies_.back().view());
  }
}

const TensorView* Archive::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace assay::models::pt2
