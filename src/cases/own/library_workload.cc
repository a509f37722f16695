// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/library_workload.h"

#include <assay/workload.h>
#include <dlfcn.h>

#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "cases/own/guarded_tensor.h"
#include "cases/own/inputs.h"
#include "tensor/safetensors.h"

namespace assay::cases::own {
namespace {

using lab::ProviderFailure;
using lab::Status;

std::int32_t abi_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return ASSAY_BOOL;
    case DType::kU8:
      return ASSAY_U8;
    case DType::kI8:
      return ASSAY_I8;
    case DType::kU16:
      return ASSAY_U16;
    case DType::kI16:
      return ASSAY_I16;
    case DType::kU32:
      return ASSAY_U32;
    case DType::kI32:
      return ASSAY_I32;
    case DType::kU64:
      return ASSAY_U64;
    case DType::kI64:
      return ASSAY_I64;
    case DType::kF16:
      return ASSAY_F16;
    case DType::kF32:
      return ASSAY_F32;
    case DType::kF64:
      return ASSAY_F64;
    default:
      throw InternalError("case files have no other dtypes");
  }
}

// The functions of a loaded library. It stays loaded: threads of its own may outlive a call.
class Library {
 public:
  explicit Library(const std::string& path) : path_(path) {
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw ProviderFailure(Status::kEnvMissing, "library_missing", ::dlerror());
    }
    const auto version = function<decltype(&assay_workload_version)>("assay_workload_version");
    if (const int its = version(); its != ASSAY_WORKLOAD_VERSION) {
      throw ProviderFailure(Status::kFailed, "version",
                            fmt::format("the library is of version {} of assay/workload.h, this is "
                                        "version {}: '{}'",
                                        its, ASSAY_WORKLOAD_VERSION, path));
    }
    prepare = function<decltype(&assay_prepare)>("assay_prepare");
    call = function<decltype(&assay_call)>("assay_call");
    release = function<decltype(&assay_release)>("assay_release");
    message_ = reinterpret_cast<decltype(&assay_message)>(::dlsym(handle_, "assay_message"));
  }

  void expect_success(const char* name, int status) const {
    if (status == 0) return;
    const char* const why = message_ != nullptr ? message_() : nullptr;
    throw ProviderFailure(Status::kFailed, name,
                          fmt::format("assay_{} returned {}{}{}", name, status,
                                      why != nullptr ? ": " : "", why != nullptr ? why : ""));
  }

  decltype(&assay_prepare) prepare = nullptr;
  decltype(&assay_call) call = nullptr;
  decltype(&assay_release) release = nullptr;

 private:
  template <typename Function>
  Function function(const char* name) const {
    void* const symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) {
      throw ProviderFailure(Status::kFailed, "symbol_missing",
                            fmt::format("no function {} in '{}'", name, path_));
    }
    return reinterpret_cast<Function>(symbol);
  }

  std::string path_;
  void* handle_ = nullptr;
  decltype(&assay_message) message_ = nullptr;
};

// Tensors as the library sees them; the names and extents that it points to live here.
class HandedOver {
 public:
  void add(const std::string& name, const TensorView& view) {
    auto& extents = extents_.emplace_back(std::make_unique<Extents>());
    extents->name = name;
    for (std::size_t axis = 0; axis < view.rank(); ++axis) {
      extents->shape.push_back(view.extent(axis));
      extents->strides.push_back(view.stride(axis));
    }
    tensors_.push_back({extents->name.c_str(), const_cast<void*>(view.raw_data()),
                        abi_dtype(view.dtype()), static_cast<std::int32_t>(view.rank()),
                        extents->shape.data(), extents->strides.data()});
  }
  const assay_tensor* data() const { return tensors_.data(); }
  int size() const { return static_cast<int>(tensors_.size()); }

 private:
  struct Extents {
    std::string name;
    std::vector<std::int64_t> shape, strides;
  };
  std::vector<std::unique_ptr<Extents>> extents_;
  std::vector<assay_tensor> tensors_;
};

class LibraryWorkload : public lab::Workload {
 public:
  LibraryWorkload(const std::string& path, Problem problem, Json point,
                  const std::array<int, 3>& sets)
      : path_(path),
        library_(path),
        problem_(std::move(problem)),
        point_(std::move(point)),
        point_text_(canonical_json(point_)),
        sets_(sets) {
    for (const auto& output : problem_.outputs) {
      outputs_.emplace_back(output.dtype_at(point_), output.shape_at(point_));
      outputs_.back().poison();
      handed_outputs_.add(output.name, outputs_.back().view());
    }
    for (auto& slot : slots_) {
      for (const auto& input : problem_.inputs) {
        slot.inputs.emplace_back(input.dtype_at(point_), input.shape_at(point_));
        slot.handed.add(input.name, slot.inputs.back().view());
      }
    }
  }
  ~LibraryWorkload() override {
    for (auto& slot : slots_) release(slot);
  }

  void load(int which, int set) override {
    auto& slot = slots_[static_cast<std::size_t>(which)];
    if (has_called_) check_bounds("assay_call");
    release(slot);
    for (std::size_t i = 0; i < slot.inputs.size(); ++i) {
      slot.inputs[i].protect(false);
      fill_input(problem_.inputs[i], point_, sets_[static_cast<std::size_t>(set)],
                 slot.inputs[i].mutable_view());
      slot.inputs[i].protect(true);
    }
    library_.expect_success(
        "prepare", library_.prepare(point_text_.c_str(), slot.handed.data(), slot.handed.size(),
                                    handed_outputs_.data(), handed_outputs_.size(), &slot.state));
    slot.is_prepared = true;
    check_bounds("assay_prepare");
  }
  void call(int which) override {
    has_called_ = true;
    const int status = library_.call(slots_[static_cast<std::size_t>(which)].state);
    if (status != 0) [[unlikely]]
      library_.expect_success("call", status);
  }
  bool is_judged_again() const override { return true; }
  void poison_outputs() override {
    check_bounds("assay_call");
    for (auto& output : outputs_) output.poison();
  }
  void write_outputs(const std::string& path) override {
    check_bounds("assay_call");
    std::vector<std::pair<std::string, TensorView>> tensors;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      tensors.emplace_back(problem_.outputs[i].name, outputs_[i].view());
    }
    write_safetensors(path, tensors);
  }
  std::map<std::string, std::string> versions() const override {
    return {{path_.substr(path_.rfind('/') + 1), "sha256:" + sha256_file(path_)}};
  }

 private:
  struct Slot {
    std::vector<GuardedTensor> inputs;
    HandedOver handed;
    void* state = nullptr;
    bool is_prepared = false;
  };

  void release(Slot& slot) {
    if (slot.is_prepared) library_.release(slot.state);
    slot.is_prepared = false;
    slot.state = nullptr;
  }
  void check_bounds(const char* function) const {
    const auto check_one = [&](const GuardedTensor& tensor, const std::string& name) {
      if (tensor.is_intact()) return;
      throw ProviderFailure(Status::kFailed, "out_of_bounds",
                            fmt::format("{} wrote beside '{}'", function, name));
    };
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      check_one(outputs_[i], problem_.outputs[i].name);
    }
  }

  const std::string path_;
  const Library library_;
  const Problem problem_;
  const Json point_;
  const std::string point_text_;
  const std::array<int, 3> sets_;
  std::vector<GuardedTensor> outputs_;
  HandedOver handed_outputs_;
  std::array<Slot, 2> slots_;
  bool has_called_ = false;
};

}  // namespace

std::unique_ptr<lab::Workload> library_workload(const std::string& library, Problem problem,
                                                Json point, const std::array<int, 3>& sets) {
  return std::make_unique<LibraryWorkload>(library, std::move(problem), std::move(point), sets);
}

}  // namespace assay::cases::own
