// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace assay {
namespace {

// The system takes what stands before a NUL for the whole path.
void refuse_nul(const std::string& path, const char* purpose) {
  if (path.find('\0') != std::string::npos) {
    fail("cannot {} '{}': a path has no NUL characters", purpose, printable(path));
  }
}

UniqueFd open_or_throw(const std::string& path, int flags, mode_t mode, const char* purpose) {
  refuse_nul(path, purpose);
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd) fail("cannot {} '{}': {}", purpose, path, errno_text(errno));
  return fd;
}

// Appends what read() gives; returns what it returns, but for signals.
ssize_t read_some(int fd, std::string& content) {
  char buffer[1 << 16];
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer, sizeof buffer);
  } while (n < 0 && errno == EINTR);
  if (n > 0) content.append(buffer, static_cast<std::size_t>(n));
  return n;
}

// The lock on a folder of ours that is really at this path; nothing where it cannot be had: errno
// is EWOULDBLOCK where somebody has it, ENOENT where it is gone.
UniqueFd lock_directory_at(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat held {
  }, there{};
  if (!fd || ::fstat(fd.get(), &held) != 0) return {};
  if (held.st_uid != ::geteuid()) {
    errno = EPERM;
    return {};
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || ::lstat(path.c_str(), &there) != 0) return {};
  if (held.st_dev != there.st_dev || held.st_ino != there.st_ino) {
    errno = ENOENT;
    return {};
  }
  return fd;
}

}  // namespace

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

UniqueFd open_regular_file(const std::string& path) {
  UniqueFd fd = open_or_throw(path, O_RDONLY | O_NONBLOCK, 0, "read");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("cannot read '{}': {}", path, errno_text(errno));
  if (!S_ISREG(info.st_mode)) fail("not a regular file: '{}'", path);
  return fd;
}

FileStream::FileStream(std::string path)
    : path_(std::move(path)), fd_(open_or_throw(path_, O_RDONLY, 0, "read")) {}

bool FileStream::read(std::string& content) {
  const auto n = read_some(fd_.get(), content);
  if (n < 0) fail("cannot read '{}': {}", path_, errno_text(errno));
  return n > 0;
}

// To the end; sizes from stat() are not trusted (files under /proc say 0).
std::string read_file(const std::string& path) {
  FileStream file(path);
  std::string content;
  while (file.read(content)) {
  }
  return content;
}

std::optional<std::string> read_small_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  ssize_t n = fd ? 1 : -1;
  while (n > 0) n = read_some(fd.get(), content);
  if (n < 0) return std::nullopt;
  while (!content.empty() && content.back() == '\n') content.pop_back();
  return content;
}

void fail_to_write(std::string_view what, const std::string& path, int code) {
  const auto message = fmt::format("cannot {} '{}': {}", what, path, errno_text(code));
  for (const int of_disk : {ENOSPC, EDQUOT, EFBIG, EROFS, EIO}) {
    if (code == of_disk) throw DiskError(message);
  }
  throw UserError(message);
}

void write_fully(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    // Not the user's mistake: whoever read a pipe (`--out /dev/stdout | head`) had enough.
    if (n < 0 && errno == EPIPE) throw std::system_error(EPIPE, std::generic_category(), path);
    if (n < 0) fail_to_write("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

void write_file_atomically(const std::string& path, std::string_view content) {
  refuse_nul(path, "write");
  // A device such as /dev/stdout or /dev/full cannot be renamed over: write straight to it.
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    write_fully(open_or_throw(path, O_WRONLY, 0, "write").get(), content, path);
    return;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  try {
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd) fail_to_write("write", path, errno);
    write_fully(fd.get(), content, path);
    if (::fsync(fd.get()) != 0) fail_to_write("sync", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail_to_write("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  const auto folder = std::filesystem::path(path).parent_path().string();
  const UniqueFd dir(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (dir)
    ::fsync(dir.get());  // the rename is complete either way; this makes it survive power loss
}

void make_directories(const std::string& path) {
  refuse_nul(path, "create folder");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_to_write("create folder", path, error.value());
}

MappedFile::MappedFile(const std::string& path) {
  const UniqueFd fd = open_regular_file(path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("cannot read '{}': {}", path, errno_text(errno));
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    fail("cannot map '{}': {}", path, errno_text(errno));
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::span<std::byte> MappedFile::own_bytes() {
  if (size_ > 0 && ::mprotect(data_, size_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return {static_cast<std::byte*>(data_), size_};
}

std::optional<FileLock> FileLock::try_acquire(const std::string& path) {
  // Reading is enough to lock, so that a file which another user made will do; and where it exists
  // it is not opened for creation, which the kernel refuses for other users' files in shared
  // folders.
  refuse_nul(path, "lock");
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) {
    fd = open_or_throw(path, O_RDONLY | O_CREAT | O_NOFOLLOW, 0666, "lock");
  }
  if (!fd) fail("cannot lock '{}': {}", path, errno_text(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return FileLock(std::move(fd));
  if (errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
  fail("cannot lock '{}': {}", path, errno_text(errno));
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix) {
  // Between its making and its lock a folder looks abandoned, and may be swept away: then another.
  // (On file systems that know no locks it has none, and nobody can sweep it.)
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const said = std::getenv("TMPDIR");
    throw EnvironmentError(fmt::format("no folder for temporary files, see TMPDIR: '{}'",
                                       said != nullptr ? said : "/tmp"));
  }
  do {
    path_ = (parent / fmt::format("{}-XXXXXX", prefix)).string();
    if (::mkdtemp(path_.data()) == nullptr) {
      fail_to_write("create a temporary folder", path_, errno);
    }
    lock_ = lock_directory_at(path_);
  } while (!lock_ && (errno == EWOULDBLOCK || errno == ENOENT));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // cleaning up never replaces the first error
  std::filesystem::remove_all(path_, ignored);
}

int remove_abandoned_directories(std::string_view prefix) {
  const auto start = fmt::format("{}-", prefix);
  std::error_code ignored;
  int removed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::temp_directory_path(ignored), ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(start) || name.size() != start.size() + 6) continue;
    if (const UniqueFd lock = lock_directory_at(entry.path().string())) {
      removed += std::filesystem::remove_all(entry.path(), ignored) > 0 ? 1 : 0;
    }
  }
  return removed;
}

}  // namespace assay
