// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker whose providers compute y = 2x, each wrong in its own way.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "lab/measure/attempt.h"
#include "lab/record/case.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::lab {
namespace {

std::string spec_directory;  // of the attempt, for providers that meddle with its files

class Doubling : public Workload {
 public:
  explicit Doubling(const Json& point)
      : n_(point["n"].get<std::int64_t>()),
        seed_(point["seed"].get<std::int64_t>()),
        x_(2),
        y_(n_) {}
  void load(int slot, int set) override {
    const auto stream = input_stream(seed_, "x", set);
    x_[slot].resize(n_);
    for (std::size_t i = 0; i < n_; ++i) x_[slot][i] = unit_interval(stream[i]);
  }
  void call(int slot) override {
    for (std::size_t i = 0; i < n_; ++i) y_[i] = 2 * x_[slot][i];
  }
  void poison_outputs() override { std::memset(y_.data(), 0xFF, n_ * sizeof(double)); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"y", TensorView(DType::kF64, y_.data(), Shape({std::int64_t(n_)}))}});
  }

 protected:
  std::size_t n_;
  std::int64_t seed_;
  std::vector<std::vector<double>> x_;
  std::vector<double> y_;
};

// Does something else as well, or instead, at each call.
template <typename Act>
class Misbehaving : public Doubling {
 public:
  Misbehaving(const Json& point, Act act) : Doubling(point), act_(act) {}
  void call(int slot) override {
    Doubling::call(slot);
    act_(y_, calls_++);
  }

 private:
  Act act_;
  int calls_ = 0;
};

class Cached : public Doubling {  // answers the first call, and remembers by address
 public:
  using Doubling::Doubling;
  void call(int slot) override {
    auto& answer = answers_[x_[slot].data()];
    if (answer.empty()) {
      Doubling::call(slot);
      answer = y_;
    }
    y_ = answer;
  }

 private:
  std::map<const double*, std::vector<double>> answers_;
};

class Unwritten : public Doubling {  // stops writing after a while
 public:
  using Doubling::Doubling;
  void call(int slot) override {
    if (calls_++ < 3) Doubling::call(slot);
  }

 private:
  int calls_ = 0;
};

// Writes something else than it should.
template <typename Write>
class Writing : public Doubling {
 public:
  Writing(const Json& point, Write write) : Doubling(point), write_(write) {}
  void write_outputs(const std::string& path) override { write_(path, y_); }

 private:
  Write write_;
};

void sleep_forever() {
  for (;;) pause();
}

void leave_a_sleeper_behind(std::vector<double>&, int call) {
  if (call != 0 || fork() != 0) return;
  setsid();
  sleep_forever();
}

void exhaust_private_memory(std::vector<double>&, int) {
  std::vector<std::vector<char>> hoard;
  for (;;) hoard.emplace_back(std::size_t{16} << 20, 'x');
}

void exhaust_shared_memory(std::vector<double>&, int) {  // not counted by RLIMIT_DATA
  for (;;) {
    void* p = mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    std::memset(p, 1, 16 << 20);
    usleep(20'000);  // slow enough for the watchdog, which looks ten times a second
  }
}

void leave_report(const std::string& text) {
  write_file_atomically(report_path(spec_directory, 0), text);
  _exit(0);
}

template <typename Act>
WorkloadRegistry::Factory misbehaving(Act act) {
  return [act](const Json& point, int) { return std::make_unique<Misbehaving<Act>>(point, act); };
}
template <typename Write>
WorkloadRegistry::Factory writing(Write write) {
  return [write](const Json& point, int) { return std::make_unique<Writing<Write>>(point, write); };
}
template <typename T>
WorkloadRegistry::Factory plainly() {
  return [](const Json& point, int) { return std::make_unique<T>(point); };
}

// The GPU's file (src/base/test_fake_nvml.cc) says that smoke attempts fail from now on.
void break_device() {
  if (const char* gpu = std::getenv("FAKE_GPU")) write_file_atomically(gpu, "smoke_fails 1");
}

class TellsDevice : public Doubling {
 public:
  using Doubling::Doubling;
  std::map<std::string, std::string> versions() const override {
    const char* device = std::getenv("CUDA_VISIBLE_DEVICES");
    return {{"device", device == nullptr ? "" : device}};
  }
};

WorkloadRegistry fault_workloads() {
  using Values = std::vector<double>;
  WorkloadRegistry w;
  const auto add = [&](const char* id, WorkloadRegistry::Factory f) {
    w.add("toy_double", id, std::move(f));
  };
  add("plain", plainly<Doubling>());
  add("twin", plainly<Doubling>());
  add("cached", plainly<Cached>());
  add("unwritten", plainly<Unwritten>());
  add("wrong", misbehaving([](Values& y, int) { y.back() *= 1 + 1e-9; }));
  add("nan", misbehaving([](Values& y, int) { y.front() = std::nan(""); }));
  add("nothing", misbehaving([](Values&, int) { _exit(0); }));
  add("sleeper", misbehaving([](Values&, int) { sleep_forever(); }));
  add("forker", misbehaving(leave_a_sleeper_behind));
  add("exit3", misbehaving([](Values&, int) { _exit(3); }));
  add("segv", misbehaving([](Values&, int) {
        signal(SIGSEGV, SIG_DFL);  // the sanitisers would turn it into an exit code
        raise(SIGSEGV);
      }));
  add("hog", misbehaving(exhaust_private_memory));
  add("hog-shared", misbehaving(exhaust_shared_memory));
  add("thrower",
      misbehaving([](Values&, int) { throw std::runtime_error("the provider gave up"); }));
  add("noisy", misbehaving([](Values&, int call) {
        if (call > 3) return;
        for (int i = 0; i < 1000; ++i) std::printf("{\"status\": \"ok\"} \x01\xff garbage\n");
        std::fprintf(stderr, "\x02 more garbage\n");
      }));
  add("bad-report", misbehaving([](Values&, int) { leave_report("{\"protocol\": 1, \"stat"); }));
  add("lying-report", misbehaving([](Values&, int) {
        leave_report(R"({"protocol":1,"status":"ok","metrics":{"speed_of_light":1}})");
      }));
  add("no-output", writing([](const std::string&, const Values&) {}));
  add("garbage-output", writing([](const std::string& path, const Values&) {
        write_file_atomically(path, std::string(100, '\xff'));
      }));
  add("shape", writing([](const std::string& path, const Values& y) {
        write_safetensors(
            path, {{"y", TensorView(DType::kF64, y.data(), Shape({1, std::int64_t(y.size())}))}});
      }));
  add("dtype", writing([](const std::string& path, const Values& y) {
        const auto f32 = Tensor::converted(
            TensorView(DType::kF64, y.data(), Shape({std::int64_t(y.size())})), DType::kF32);
        write_safetensors(path, {{"y", f32.view()}});
      }));
  add("tells-device", plainly<TellsDevice>());
  add("device-memory", misbehaving([](Values&, int) {
        throw ProviderFailure(Status::kOutOfMemory, "device_memory", "no room on the device");
      }));
  add("device-lost", misbehaving([](Values&, int) {
        break_device();
        throw ProviderFailure(Status::kFailed, "device_lost", "an illegal address");
      }));
  // Both compute as they should, see main().
  add("understated", plainly<Doubling>());
  add("overstated", plainly<Doubling>());
  add("simulated", plainly<Doubling>());
  w.add("toy_double", "simulated-crash", [](const Json& point, int) -> std::unique_ptr<Workload> {
    if (point["n"] == 16) _exit(9);
    return std::make_unique<Doubling>(point);
  });
  return w;
}

// A right answer with a wrong time.
void scale_reported_times(const std::string& spec_file) {
  const auto provider = read_json_file(spec_file)["provider"].get<std::string>();
  const double factor = provider == "understated" ? 1e-3 : provider == "overstated" ? 1e3 : 1;
  if (factor == 1) return;
  const auto path = report_path(spec_directory, 0);
  auto report = report_from_json(read_json_file(path), path);
  for (double& seconds : report.steady_s) seconds *= factor;
  write_file_atomically(path, canonical_json(report_to_json(report)));
}

}  // namespace
}  // namespace assay::lab

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string spec = argv[1];
  if (spec == assay::lab::kSmokeOption) {
    const auto says = assay::read_small_file(std::getenv("FAKE_GPU")).value_or("");
    return says.find("smoke_fails") == std::string::npos ? 0 : 1;
  }
  assay::lab::spec_directory = spec.substr(0, spec.rfind('/'));
  const int status = assay::lab::run_worker(spec, assay::lab::fault_workloads());
  assay::lab::scale_reported_times(spec);
  return status;
}
