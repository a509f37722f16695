// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <tuple>

#include "base/json.h"
#include "tensor/internal/staged_file.h"
#include "tensor/internal/stored_elements.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie");

constexpr std::size_t kPrefix = 8;                          // the header's length, little endian
constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

// In the order of DType's enumerators.
constexpr std::array<std::string_view, 15> kNames = {"BOOL", "U8",  "I8",  "U16", "I16",
                                                     "U32",  "I32", "U64", "I64", "F16",
                                                     "BF16", "F32", "F64", "C64", "C128"};

// The first 80 bytes of a text, not cutting a character in two.
std::string shortened(std::string text) {
  if (text.size() <= 80) return text;
  std::size_t end = 80;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// A value of the header as a short line.
std::string shown_json(const Json& value) { return shortened(canonical_json(value)); }

// A text from a file or caller, quoted and escaped: one printable line.
std::string in_quotes(std::string_view text) {
  return shown_json(Json(std::string(text.substr(0, 100))));
}

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin, end;  // bytes from the start of the elements
};

Entry parse_entry(const std::string& name, const Json& value, const std::string& path) {
  const auto refuse = [&](std::string_view problem, const Json& offending) {
    fail("{}: tensor {}: {}: {}", path, in_quotes(name), problem, shown_json(offending));
  };
  const auto field = [&](const char* key) -> const Json& {
    const auto it = value.find(key);
    if (it == value.end()) fail("{}: tensor {}: missing key '{}'", path, in_quotes(name), key);
    return *it;
  };
  if (!value.is_object()) refuse("expected an object", value);
  for (const auto& item : value.items()) {
    if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
      refuse("unknown key", item.key());
    }
  }
  const Json& dtype_name = field("dtype");
  const auto known = dtype_name.is_string() ? std::find(kNames.begin(), kNames.end(),
                                                        dtype_name.get_ref<const std::string&>())
                                            : kNames.end();
  if (known == kNames.end()) refuse("unsupported dtype", dtype_name);
  const auto dtype = static_cast<DType>(known - kNames.begin());

  const Json& extents_json = field("shape");
  if (!extents_json.is_array() || extents_json.size() > Shape::kMaxRank) {
    refuse("not a shape", extents_json);
  }
  std::vector<std::int64_t> extents;
  for (const Json& extent : extents_json) {
    if (!extent.is_number_unsigned() ||
        extent.get<std::uint64_t>() > static_cast<std::uint64_t>(Shape::kMaxElements)) {
      refuse("not a shape", extents_json);
    }
    extents.push_back(extent.get<std::int64_t>());
  }
  Shape shape;
  try {
    shape = Shape(std::move(extents));
  } catch (const UserError& e) {
    fail("{}: tensor {}: {}", path, in_quotes(name), e.what());
  }

  const Json& offsets = field("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    refuse("data_offsets are not two offsets", offsets);
  }
  const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
  const std::uint64_t size = static_cast<std::uint64_t>(shape.element_count()) * size_of(dtype);
  if (end < begin || end - begin != size) {
    fail("{}: tensor {}: shape {} and dtype {} take {} bytes, data_offsets are {}", path,
         in_quotes(name), shape.to_string(), name_of(dtype), size, shown_json(offsets));
  }
  return {name, dtype, std::move(shape), begin, end};
}

// Sorted by place, the tensors must cover the elements exactly.
void check_coverage(std::vector<Entry>& entries, std::uint64_t size, const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < covered) {
      fail("{}: tensor {} overlaps another at byte {}", path, in_quotes(entry.name), entry.begin);
    }
    if (entry.begin > covered) {
      fail("{}: bytes before tensor {} belong to none: {} to {}", path, in_quotes(entry.name),
           covered, entry.begin);
    }
    covered = entry.end;
  }
  if (covered > size) {
    fail("{}: tensors end at byte {}, the file has {} bytes of elements", path, covered, size);
  }
  if (covered < size) fail("{}: bytes after the last tensor: {}", path, size - covered);
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
  const auto bytes = file_.bytes();
  if (bytes.size() < kPrefix) fail("{}: too short for a .safetensors file", path);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), kPrefix);
  if (header_size > kMaxSafetensorsHeader) {
    fail("{}: .safetensors header too long: {} bytes", path, header_size);
  }
  if (header_size > bytes.size() - kPrefix) fail("{}: cut off in its header", path);
  const auto header_end = kPrefix + static_cast<std::size_t>(header_size);
  const std::string_view text = file_.text().substr(kPrefix, header_end - kPrefix);
  if (!text.starts_with('{')) fail("{}: .safetensors header is not a JSON object", path);
  const Json header = parse_json(text, path);

  std::vector<Entry> entries;
  for (const auto& item : header.items()) {
    if (item.key() != kMetadata) {
      entries.push_back(parse_entry(item.key(), item.value(), path));
      continue;
    }
    if (!item.value().is_object()) fail("{}: {} is not an object", path, kMetadata);
    for (const auto& text_item : item.value().items()) {
      if (!text_item.value().is_string()) {
        fail("{}: {} has a value that is not a string: {}", path, kMetadata,
             shown_json(text_item.value()));
      }
      metadata_.emplace(text_item.key(), text_item.value().get<std::string>());
    }
  }
  const auto elements = bytes.subspan(header_end);
  check_coverage(entries, elements.size(), path);
  for (const Entry& entry : entries) {
    const auto part = elements.subspan(static_cast<std::size_t>(entry.begin),
                                       static_cast<std::size_t>(entry.end - entry.begin));
    tensors_.emplace(
        entry.name,
        view_stored_elements(part, entry.dtype, entry.shape, row_major_strides(entry.shape),
                             copies_, fmt::format("{}: tensor {}", path, in_quotes(entry.name))));
  }
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> result;
  for (const auto& [name, view] : tensors_) result.push_back(name);
  return result;
}

const TensorView& SafetensorsFile::view(std::string_view name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) fail("{}: no tensor named {}", path_, in_quotes(name));
  return it->second;
}

void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, TensorView>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  // Invalid UTF-8 would be replaced on writing, and two names could become one.
  const auto check_text = [&](const std::string& text) {
    if (parse_json(canonical_json(Json(text)), "name") != Json(text)) {
      fail("cannot write '{}': not valid UTF-8: {}", path, in_quotes(text));
    }
  };
  std::set<std::string_view> names;
  for (const auto& [name, view] : tensors) {
    check_text(name);
    if (name == kMetadata) fail("cannot write '{}': a tensor cannot be named {}", path, name);
    if (!names.insert(name).second) {
      fail("cannot write '{}': two tensors are named {}", path, in_quotes(name));
    }
  }
  for (const auto& [key, text] : metadata) {
    check_text(key);
    check_text(text);
  }

  std::vector<const std::pair<std::string, TensorView>*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const std::size_t size_a = size_of(a->second.dtype()), size_b = size_of(b->second.dtype());
    return size_a != size_b ? size_a > size_b : a->first < b->first;
  });
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  std::int64_t end = 0;
  for (const auto* tensor : order) {
    const auto& [name, view] = *tensor;
    const std::int64_t begin = end;
    end += view.byte_count();
    header[name] = {{"dtype", kNames[static_cast<std::size_t>(view.dtype())]},
                    {"shape", view.shape().extents()},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = canonical_json(header);
  text.append((kPrefix - text.size() % kPrefix) % kPrefix, ' ');
  if (text.size() > kMaxSafetensorsHeader) {
    fail("cannot write '{}': .safetensors header too long: {} bytes", path, text.size());
  }
  const std::uint64_t length = text.size();
  StagedFile file(path);
  file.write({reinterpret_cast<const char*>(&length), kPrefix});
  file.write(text);
  for (const auto* tensor : order) file.write(tensor->second);
  file.commit();
}

}  // namespace assay
