// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What engines and cases share of an NVIDIA GPU: errors that say what kind of trouble it is, memory
// that is counted, and a clock of the device's own. No CUDA type stands in this header. Everything
// is about the current device: the first that CUDA_VISIBLE_DEVICES leaves, where no CurrentDevice
// names another.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::kernels::cuda {

using Stream = void*;  // a cudaStream_t

enum class Trouble {
  kMemory,    // the device has no room
  kNoDevice,  // there is none, or none that this program's code runs on
  kLost,      // it does not answer any more, or only with errors: the process cannot use it again
  kOther,
};

class DeviceError : public std::runtime_error {
 public:
  DeviceError(Trouble trouble, const std::string& what)
      : std::runtime_error(what), trouble_(trouble) {}
  Trouble trouble() const { return trouble_; }

 private:
  Trouble trouble_;
};

// Throws DeviceError, which names the call (not for kNoDevice), unless `status` is cudaSuccess.
void check(int status, const char* what);

// Makes a device the current one of this thread until the end of the scope. Throws DeviceError: no
// such device.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0, device_;
};

// Device memory that is freed together; each part begins on a boundary of 1024 bytes.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  void* allocate(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }  // that were asked for

 private:
  std::vector<void*> parts_;
  std::size_t bytes_ = 0;
};

std::size_t free_bytes();  // that the device has left

// A piece by itself, for those who keep count otherwise; aligned to 256 bytes. Releasing waits for
// the device, and never fails.
void* allocate_piece(std::size_t bytes);
void release_piece(void* piece) noexcept;

// Return when it is done.
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
// Behind the work of that stream; those to the device return when `from` may be changed.
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream after);
void fill_bytes(void* to, int value, std::size_t bytes, Stream after);
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream after);
// The first `row_bytes` of rows that begin `step_bytes` apart.
void copy_rows_to_host(void* to, std::size_t row_bytes, const void* from, std::size_t step_bytes,
                       std::size_t rows, Stream after);
void fill_bytes(void* to, int value, std::size_t bytes);

// A stream of its own, and events by which one waits for another.
class OwnStream {
 public:
  // `urgent`: its kernels begin before those of other streams that wait, too.
  explicit OwnStream(bool urgent = false);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  Stream get() const { return stream_; }
  // What is enqueued here from now on waits for all work of the other stream so far.
  void wait_for(Stream other);
  // What is enqueued on the other stream from now on waits for all work here so far.
  void release(Stream other);

 private:
  Stream stream_ = nullptr;
  void* event_ = nullptr;
};
// Returns when all work of the stream is done.
void wait_for(Stream stream);
// The same of all streams, whoever's they are.
void wait_for_device();
// Whether what is enqueued on the stream is recorded into a graph instead of being done.
bool is_captured(Stream stream);

// Measures calls on a stream of its own by the device's events. Without sweeps a batch is timed
// from its first call to its last; with them, the cache is overwritten before each call, and each
// call is timed by itself.
class Clock {
 public:
  explicit Clock(bool sweeps = false);
  ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  Stream stream() const { return stream_; }
  void begin();
  void before_call();
  void after_call();
  struct Times {
    double calls_s = 0, sweeps_s = 0;
  };
  Times end();  // waits for all of the stream's work

 private:
  void* next_event();
  Stream stream_ = nullptr;
  bool sweeps_;
  void* swept_ = nullptr;
  std::size_t swept_bytes_ = 0;
  Memory memory_;
  std::vector<void*> events_;
  std::size_t used_ = 0;
};

struct Facts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t l2_bytes = 0, memory_bytes = 0;
  int runtime = 0, driver = 0;  // as CUDA counts: 13000 is 13.0
};
Facts device_facts();
std::string version_text(int cuda_version);  // "13.0"

}  // namespace assay::kernels::cuda
