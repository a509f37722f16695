// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace assay {
namespace {

// One note after the other: sizes of name and contents, a type, both padded to four bytes.
std::string build_id_in(std::span<const std::byte> notes) {
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    const auto name = padded(note.n_namesz), contents = padded(note.n_descsz);
    notes = notes.subspan(sizeof(note));
    if (notes.size() < name + contents) break;
    const std::string_view owner(reinterpret_cast<const char*>(notes.data()), note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU\0", 4)) {
      std::string id;
      for (const auto byte : notes.subspan(name, note.n_descsz)) {
        id += fmt::format("{:02x}", static_cast<unsigned>(byte));
      }
      return id;
    }
    notes = notes.subspan(name + contents);
  }
  return {};
}

}  // namespace

std::string build_id() {
  std::string id;
  // The first object is the program itself.
  const auto look = [](dl_phdr_info* object, std::size_t, void* to) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& part = object->dlpi_phdr[i];
      if (part.p_type != PT_NOTE) continue;
      const auto* at = reinterpret_cast<const std::byte*>(object->dlpi_addr + part.p_vaddr);
      auto found = build_id_in({at, part.p_memsz});
      if (found.empty()) continue;
      *static_cast<std::string*>(to) = std::move(found);
      break;
    }
    return 1;
  };
  ::dl_iterate_phdr(look, &id);
  return id;
}

}  // namespace assay
