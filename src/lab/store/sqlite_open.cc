// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/sqlite_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

namespace assay::lab {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
using Header = std::array<unsigned char, 100>;

// The first bytes of a file: its size, at most 100, and what they are.
std::size_t read_header(const std::string& path, Header& header) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail("cannot read '{}': {}", path, errno_text(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("cannot read '{}': {}", path, errno_text(errno));
  if (!S_ISREG(info.st_mode)) fail("not a regular file: '{}'", path);
  const ssize_t n = ::pread(fd.get(), header.data(), header.size(), 0);
  if (n < 0) fail("cannot read '{}': {}", path, errno_text(errno));
  return static_cast<std::size_t>(n);
}

std::int64_t big_endian_at(const Header& header, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | header[offset + i];
  return static_cast<std::int32_t>(value);
}

bool has_magic(const Header& header, std::size_t size) {
  return size >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(header.data()), kMagic.size()) == kMagic;
}

void refuse_foreign(const std::string& path, std::int64_t application_id, std::int64_t version) {
  if (application_id != kApplicationId) {
    fail("an SQLite database, but not an Assay store: '{}'", path);
  }
  if (version > kStoreVersion) {
    fail("the store is of version {}, this program knows up to {}; a newer assay is needed: '{}'",
         version, kStoreVersion, path);
  }
  if (version < 1) fail("the store's version is damaged ({}): '{}'", version, path);
}

// Looks at the file's own header: SQLite is not asked, since opening a foreign database could
// already change it (it may have a journal to play back).
void refuse_foreign_file(const std::string& path) {
  Header header;
  const std::size_t size = read_header(path, header);
  if (!has_magic(header, size) || size < header.size()) {
    fail("not a store, and not even a database: '{}'", path);
  }
  refuse_foreign(path, big_endian_at(header, 68), big_endian_at(header, 60));
}

// Removes a database and its side files, as far as they are there.
void remove_database(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(path + suffix, ignored);
  }
}

// Makes an empty store. It is made elsewhere and then put in its place in one step: SQLite needs
// several transactions for it, and another process must never see a store that is half made.
void make_store(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) make_directories(folder.string());
  // Asked here because SQLite's own answer is "no such file".
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
    fail("cannot make the store '{}': {}", path, errno_text(errno));
  }
  const auto draft = fmt::format("{}.{}-{}.making", path, ::getpid(), monotonic_ns());
  try {
    {
      SqliteConnection db(draft, SqliteConnection::Mode::kCreate);
      // Two rows of 2 kB would not share a page of the usual 4096 bytes.
      db.execute("PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL");
      create_table(db);
      create_indexes(db);
      db.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                             kStoreVersion));
      // Readers never wait for a writer, and a commit is one append and one sync. The file
      // remembers it.
      db.prepare("PRAGMA journal_mode = WAL").run();
    }
    // link() leaves alone what another process has put there; some file systems lack it.
    if (::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST &&
        ::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0 &&
        errno != EEXIST) {
      fail("cannot make the store '{}': {}", path, errno_text(errno));
    }
  } catch (...) {
    remove_database(draft);
    throw;
  }
  remove_database(draft);
  const UniqueFd dir(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (dir) ::fsync(dir.get());  // its name survives a power failure
}

SqliteConnection open_for_writing(const std::string& path) {
  SqliteConnection db(path, SqliteConnection::Mode::kReadWrite);
  refuse_foreign(path, db.number("PRAGMA application_id"), db.number("PRAGMA user_version"));
  db.execute("PRAGMA synchronous = FULL");  // a row that was taken in survives a power failure
  return db;
}

// A store that we may not write can still be read, but SQLite then finds no place for its side
// files. Without a log of pending changes, the file alone is the whole store.
SqliteConnection open_for_reading(const std::string& path) {
  const bool writable = ::access(path.c_str(), W_OK) == 0;
  try {
    SqliteConnection db(
        path, writable ? SqliteConnection::Mode::kQuery : SqliteConnection::Mode::kReadOnly);
    refuse_foreign(path, db.number("PRAGMA application_id"), db.number("PRAGMA user_version"));
    return db;
  } catch (const SqliteError& error) {
    const bool no_place = error.code() == SQLITE_CANTOPEN || error.code() == SQLITE_READONLY;
    std::error_code missing;
    const auto log_size = std::filesystem::file_size(path + "-wal", missing);
    if (!no_place || (!missing && log_size > 0)) throw;
  }
  SqliteConnection db(path, SqliteConnection::Mode::kImmutable);
  refuse_foreign(path, db.number("PRAGMA application_id"), db.number("PRAGMA user_version"));
  return db;
}

}  // namespace

bool is_sqlite_file(const std::string& path) {
  Header header;
  return has_magic(header, read_header(path, header));
}

void create_table(SqliteConnection& db) {
  // The order of a run's lines is the one thing that the lines do not tell.
  db.execute(
      "CREATE TABLE attempt ("
      " id INTEGER PRIMARY KEY,"
      " sequence INTEGER NOT NULL,"
      " run_id TEXT NOT NULL, attempt_id TEXT NOT NULL,"
      " suite TEXT NOT NULL, case_name TEXT NOT NULL, point TEXT NOT NULL,"
      " provider TEXT NOT NULL, platform TEXT NOT NULL, fingerprint TEXT NOT NULL,"
      " cores INTEGER NOT NULL, round INTEGER NOT NULL, try INTEGER NOT NULL,"
      " executed INTEGER NOT NULL, status TEXT NOT NULL,"
      " line TEXT NOT NULL) STRICT");
}

void create_indexes(SqliteConnection& db) {
  db.execute(
      "CREATE UNIQUE INDEX attempt_identity ON attempt (run_id, attempt_id);"
      "CREATE INDEX attempt_sequence ON attempt (run_id, sequence);"
      "CREATE INDEX attempt_key ON attempt"
      " (case_name, point, provider, platform, fingerprint, cores, run_id, status)");
}

SqliteConnection open_store_file(const std::string& path, Access access) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    if (access != Access::kCreate) fail("no such store: '{}'", path);
    make_store(path);
  }
  refuse_foreign_file(path);
  return access == Access::kRead ? open_for_reading(path) : open_for_writing(path);
}

}  // namespace assay::lab
