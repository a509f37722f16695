// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/store.h"

#include "base/error.h"
#include "lab/store/sqlite_store.h"

namespace assay::lab {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_postgresql(std::string_view url) {
  return url.starts_with("postgresql:") || url.starts_with("postgres:");
}

// A password has no place in a message, which may end in a log.
std::string without_password(std::string_view url) {
  const auto scheme = url.find("://");
  const auto at = url.find('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos) return std::string(url);
  const auto colon = url.find(':', scheme + 3);
  if (colon == std::string_view::npos || colon > at) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, colon + 1), url.substr(at));
}

}  // namespace

bool looks_like_store(std::string_view url) {
  return url.starts_with(kSqlite) || is_postgresql(url) || url.ends_with(".db");
}

std::unique_ptr<Store> open_store(const std::string& url, Access access) {
  if (is_postgresql(url)) {
    fail("this build has no PostgreSQL backend: '{}'", without_password(url));
  }
  std::string path = url;
  if (url.starts_with(kSqlite)) {
    path.erase(0, kSqlite.size());
    if (path.starts_with("//")) fail("write a store's path as sqlite:PATH, got '{}'", url);
  } else if (!url.ends_with(".db")) {
    fail("a store is given as sqlite:PATH or as a path that ends in .db, got '{}'",
         without_password(url));
  }
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail("the store's path is missing: '{}'", url);
  }
  return open_sqlite_store(path, access);
}

}  // namespace assay::lab
