// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/nvrtc.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace assay::compiler::cuda {
namespace {

using NvrtcProgram = void*;
// Values are rounded where the graph says so: products and sums are not fused but where asked for.
constexpr std::array kFlags = {"--std=c++17", "--fmad=false"};

}  // namespace

Nvrtc::Nvrtc() : library_(kernels::cuda::open_library("libnvrtc.so")) {
  int major = 0, minor = 0;
  library_.function<int(int*, int*)>("nvrtcVersion")(&major, &minor);
  toolchain_ = fmt::format("nvrtc {}.{}", major, minor);
  for (const auto* flag : kFlags) toolchain_ += fmt::format(" {}", flag);
}

std::string Nvrtc::compile(const std::string& source, const std::string& architecture) const {
  NvrtcProgram program = nullptr;
  const auto ok = [&](int status, const char* what) {
    if (status == 0) return;
    const auto* text = library_.function<const char*(int)>("nvrtcGetErrorString")(status);
    throw InternalError(fmt::format("NVRTC, {}: {}", what, text));
  };
  ok(library_.function<int(NvrtcProgram*, const char*, const char*, int, const char* const*,
                           const char* const*)>("nvrtcCreateProgram")(
         &program, source.c_str(), "kernel.cu", 0, nullptr, nullptr),
     "beginning");
  struct Destroyed {
    const kernels::SharedLibrary& library;
    NvrtcProgram& program;
    ~Destroyed() { library.function<int(NvrtcProgram*)>("nvrtcDestroyProgram")(&program); }
  } destroyed{library_, program};
  const auto target = "--gpu-architecture=" + architecture;
  std::vector<const char*> flags(kFlags.begin(), kFlags.end());
  flags.push_back(target.c_str());
  const int status = library_.function<int(NvrtcProgram, int, const char* const*)>(
      "nvrtcCompileProgram")(program, static_cast<int>(flags.size()), flags.data());
  if (status != 0) {
    std::size_t size = 0;
    library_.function<int(NvrtcProgram, std::size_t*)>("nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    library_.function<int(NvrtcProgram, char*)>("nvrtcGetProgramLog")(program, log.data());
    throw InternalError("NVRTC does not compile a generated source: " + log);
  }
  std::size_t size = 0;
  ok(library_.function<int(NvrtcProgram, std::size_t*)>("nvrtcGetCUBINSize")(program, &size),
     "asking for machine code");
  std::string cubin(size, '\0');
  ok(library_.function<int(NvrtcProgram, char*)>("nvrtcGetCUBIN")(program, cubin.data()),
     "reading machine code");
  return cubin;
}

}  // namespace assay::compiler::cuda
