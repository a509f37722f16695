// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// Opens a regular file for reading. Never waits: a pipe that nobody writes to is refused at once,
// like everything else that is no regular file. Throws UserError that names the path.
UniqueFd open_regular_file(const std::string& path);

// A file, or a pipe, from its beginning to its end. All throw UserError that names the path.
class FileStream {
 public:
  explicit FileStream(std::string path);
  // Appends some of what follows, at most 64 KiB; false at the end.
  bool read(std::string& content);

 private:
  std::string path_;
  UniqueFd fd_;
};

// The whole content of a file. Throws UserError that names the path.
std::string read_file(const std::string& path);
// The content of a file that may not be there (/proc, /sys), without the trailing newline.
std::optional<std::string> read_small_file(const std::string& path);

// Replaces the file's content so that a crash at any moment leaves the old or the new, never a
// mixture: a temporary beside it, synced, renamed. Throws UserError that names the path.
void write_file_atomically(const std::string& path, std::string_view content);

// Writes all of the bytes to an open descriptor. Throws UserError naming `path`, and
// std::system_error (EPIPE) for a pipe that nobody reads any more.
void write_fully(int fd, std::string_view content, const std::string& path);

// Throws what a failed write is: "cannot <do what> '<path>': <why>", a DiskError where `code`
// (errno) blames the disk, otherwise a UserError. All that is written above fails through it.
[[noreturn]] void fail_to_write(std::string_view what, const std::string& path, int code);

// Creates the folder and its parents. Throws UserError that names the path.
void make_directories(const std::string& path);

// A file mapped read-only into memory. An empty file is an empty span.
class MappedFile {
 public:
  // As open_regular_file().
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }
  // The same bytes, to be changed: what is written takes memory of its own, page by page, and stays
  // out of the file. Throws std::bad_alloc.
  std::span<std::byte> own_bytes();

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// An exclusive lock on a file that every process on the machine respects; released when the object
// (and every process that inherited its descriptor) is gone, however it ended.
class FileLock {
 public:
  // Takes the lock if nobody has it. Creates the file. Throws UserError that names the path.
  static std::optional<FileLock> try_acquire(const std::string& path);
  int fd() const { return fd_.get(); }

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// A fresh folder under the system's temporary folder, deleted with everything in it at the end. It
// is locked for as long as somebody holds lock_fd(): one that is not was left by a process that was
// killed.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::string_view prefix = "assay");
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  int lock_fd() const { return lock_.get(); }

 private:
  std::string path_;
  UniqueFd lock_;
};

// Deletes our folders of this prefix that nobody holds any more; returns how many. Safe beside
// processes that make and use such folders.
int remove_abandoned_directories(std::string_view prefix);

}  // namespace assay
