// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/libraries.h"

#include <complex>
#include <cstdlib>

#include "base/error.h"

namespace assay::kernels::cuda {
namespace {

// cublasStatus_t: 3 is that an allocation failed.
void check_cublas(int status, const char* what) {
  if (status == 0) return;
  throw DeviceError(status == 3 ? Trouble::kMemory : Trouble::kOther,
                    fmt::format("cuBLAS, {}: status {}", what, status));
}

// As cuBLAS numbers them: cudaDataType_t, and the cublasComputeType_t that is a type's own.
template <typename T>
struct CublasType;
template <>
struct CublasType<float> {
  static constexpr int kData = 0, kCompute = 68;
};
template <>
struct CublasType<double> {
  static constexpr int kData = 1, kCompute = 70;
};
template <>
struct CublasType<std::complex<float>> {
  static constexpr int kData = 4, kCompute = 68;
};
template <>
struct CublasType<std::complex<double>> {
  static constexpr int kData = 5, kCompute = 70;
};
constexpr int kItsChoice = -1;  // of an algorithm

}  // namespace

SharedLibrary open_library(const std::string& name) {
  std::vector<std::string> folders = {""};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    folders.push_back(std::string(home) + "/lib64/");
  }
  folders.emplace_back("/usr/local/cuda/lib64/");
  for (const auto& folder : folders) {
    for (const char* release : {".13", ".12"}) {
      try {
        return SharedLibrary(folder + name + release);
      } catch (const EnvironmentError&) {  // the next place may have it
      }
    }
  }
  throw EnvironmentError(fmt::format(
      "cannot load library '{}' of CUDA 13 or 12 (LD_LIBRARY_PATH or CUDA_HOME may say where)",
      name));
}

Cublas::Cublas(Stream stream) : library_(open_library("libcublas.so")) {
  library_.bind(sgemm_, "cublasSgemm_v2");
  library_.bind(dgemm_, "cublasDgemm_v2");
  library_.bind(batched_dgemm_, "cublasDgemmStridedBatched");
  library_.bind(gemm_ex_, "cublasGemmEx");
  library_.bind(stepped_ex_, "cublasGemmStridedBatchedEx");
  library_.bind(listed_ex_, "cublasGemmBatchedEx");
  library_.bind(dgetrf_, "cublasDgetrfBatched");
  library_.bind(dgetrs_, "cublasDgetrsBatched");
  check_cublas(library_.function<int(void**)>("cublasCreate_v2")(&handle_), "starting");
  library_.bind(set_stream_, "cublasSetStream_v2");
  library_.bind(set_workspace_, "cublasSetWorkspace_v2");
  check_cublas(set_stream_(handle_, stream), "setting the stream");
}

Cublas::~Cublas() { library_.function<int(void*)>("cublasDestroy_v2")(handle_); }

// Its matrices lie column after column: what we call A B is to it the product of the transposes.
void Cublas::gemm(int m, int n, int k, const float* a, const float* b, float* c) const {
  const float one = 1, zero = 0;
  check_cublas(sgemm_(handle_, 0, 0, n, m, k, &one, b, n, a, k, &zero, c, n), "sgemm");
}
void Cublas::gemm(int m, int n, int k, const double* a, const double* b, double* c) const {
  const double one = 1, zero = 0;
  check_cublas(dgemm_(handle_, 0, 0, n, m, k, &one, b, n, a, k, &zero, c, n), "dgemm");
}

void Cublas::gemm_columns(int m, int n, int k, const Columns& a, const Columns& b, double beta,
                          const Columns& c, int count) const {
  const double one = 1;
  check_cublas(batched_dgemm_(handle_, 0, 0, m, n, k, &one, a.data, a.ld, a.step, b.data, b.ld,
                              b.step, &beta, c.data, c.ld, c.step, count),
               "batched dgemm");
}

void Cublas::square(int n, const void* a, const void* b, void* c, int type, int compute) const {
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const bool wide = compute == CublasType<double>::kCompute;
  const void* const alpha = wide ? static_cast<const void*>(&wide_one) : &one;
  const void* const beta = wide ? static_cast<const void*>(&wide_zero) : &zero;
  check_cublas(gemm_ex_(handle_, 0, 0, n, n, n, alpha, b, type, n, a, type, n, beta, c, type, n,
                        compute, kItsChoice),
               "gemm");
}

// To it the rows are columns: B first, and n before m.
template <typename T>
void Cublas::multiply(const Product<T>& p) const {
  constexpr int kType = CublasType<T>::kData, kCompute = CublasType<T>::kCompute;
  const int op_a = p.turn_a ? 1 : 0, op_b = p.turn_b ? 1 : 0;
  const int status =
      p.count == 1 ? gemm_ex_(handle_, op_b, op_a, p.n, p.m, p.k, &p.alpha, p.b, kType, p.ldb, p.a,
                              kType, p.lda, &p.beta, p.c, kType, p.ldc, kCompute, kItsChoice)
                   : stepped_ex_(handle_, op_b, op_a, p.n, p.m, p.k, &p.alpha, p.b, kType, p.ldb,
                                 p.step_b, p.a, kType, p.lda, p.step_a, &p.beta, p.c, kType, p.ldc,
                                 p.step_c, p.count, kCompute, kItsChoice);
  check_cublas(status, "gemm");
}
void Cublas::multiply(const Halves& p, Stream stream) const {
  const int type = p.is_bf16 ? 14 : 2;
  const float one = 1;
  check_cublas(set_stream_(handle_, stream), "setting the stream");
  if (p.workspace != nullptr)
    check_cublas(set_workspace_(handle_, p.workspace, p.workspace_bytes), "setting the workspace");
  constexpr int kType = CublasType<float>::kData, kCompute = CublasType<float>::kCompute;
  const int op_b = p.turn_b ? 1 : 0, op_a = p.turn_a ? 1 : 0;
  // One product may be split along its terms, which is what few rows need.
  check_cublas(p.count == 1
                   ? gemm_ex_(handle_, op_b, op_a, p.n, p.m, p.k, &one, p.b, type, p.ldb, p.a, type,
                              p.lda, &p.beta, p.c, kType, p.ldc, kCompute, kItsChoice)
                   : stepped_ex_(handle_, op_b, op_a, p.n, p.m, p.k, &one, p.b, type, p.ldb,
                                 p.step_b, p.a, type, p.lda, p.step_a, &p.beta, p.c, kType, p.ldc,
                                 p.step_c, p.count, kCompute, kItsChoice),
               "gemm of halves");
}

template <typename T>
void Cublas::multiply_at(const Product<T>& p, const T* const* a, const T* const* b,
                         T* const* c) const {
  constexpr int kType = CublasType<T>::kData, kCompute = CublasType<T>::kCompute;
  const auto listed = [](const auto* list) { return reinterpret_cast<const void* const*>(list); };
  check_cublas(
      listed_ex_(handle_, p.turn_b ? 1 : 0, p.turn_a ? 1 : 0, p.n, p.m, p.k, &p.alpha, listed(b),
                 kType, p.ldb, listed(a), kType, p.lda, &p.beta, reinterpret_cast<void* const*>(c),
                 kType, p.ldc, p.count, kCompute, kItsChoice),
      "gemm by addresses");
}
#define ASSAY_INSTANTIATE(T)                                                                \
  template void Cublas::multiply<T>(const Product<T>&) const;                               \
  template void Cublas::multiply_at<T>(const Product<T>&, const T* const*, const T* const*, \
                                       T* const*) const;
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

Cublas::Factors Cublas::Factors::make(int n, const Columns& matrices, const Columns& sides,
                                      int count, Memory& memory) {
  const auto addresses = [&](const Columns& of) {
    std::vector<double*> all;
    for (int i = 0; i < count; ++i) all.push_back(of.data + i * of.step);
    auto* to = static_cast<double**>(memory.allocate(all.size() * sizeof(double*)));
    copy_to_device(to, all.data(), all.size() * sizeof(double*));
    return to;
  };
  const auto numbers = [&](std::size_t each) {
    return static_cast<std::int32_t*>(
        memory.allocate(static_cast<std::size_t>(count) * each * sizeof(std::int32_t)));
  };
  return {n,
          addresses(matrices),
          addresses(sides),
          matrices.ld,
          sides.ld,
          numbers(static_cast<std::size_t>(n)),
          numbers(1)};
}

void Cublas::factor(const Factors& f, int count) const {
  check_cublas(dgetrf_(handle_, f.n, f.matrices, f.matrix_ld, f.pivots, f.info, count),
               "batched dgetrf");
}
void Cublas::solve(const Factors& f, bool transposed, int vectors, int count) const {
  int wrong_argument = 0;
  check_cublas(dgetrs_(handle_, transposed ? 1 : 0, f.n, vectors, f.matrices, f.matrix_ld, f.pivots,
                       f.sides, f.side_ld, &wrong_argument, count),
               "batched dgetrs");
}
std::vector<bool> Cublas::singular(const Factors& f, int count, Stream stream) {
  std::vector<std::int32_t> info(static_cast<std::size_t>(count));
  copy_to_host(info.data(), f.info, info.size() * sizeof(std::int32_t), stream);
  return {info.begin(), info.end()};
}

std::string Cublas::version() const {
  int version = 0;
  library_.function<int(void*, int*)>("cublasGetVersion_v2")(handle_, &version);
  const int major = version >= 100000 ? version / 10000 : version / 1000;
  return version >= 100000 ? fmt::format("{}.{}.{}", major, version / 100 % 100, version % 100)
                           : fmt::format("{}.{}.{}", major, version / 100 % 10, version % 100);
}

}  // namespace assay::kernels::cuda
