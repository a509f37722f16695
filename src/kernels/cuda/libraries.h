// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one door to CUDA's libraries: opened when they are first used, never linked, so that a
// program starts without them and can say which is missing.

#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/shared_library.h"

namespace assay::kernels::cuda {

// A library of the toolkit by its plain name ("libcublas.so"): the newest release that the loader
// finds, in its own places, under CUDA_HOME or in /usr/local/cuda. Throws EnvironmentError.
SharedLibrary open_library(const std::string& name);

class Cublas {
 public:
  // On the current device; work goes to that stream. Throws EnvironmentError, DeviceError.
  explicit Cublas(Stream stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // C = A B for contiguous matrices in device memory, row after row, in the arithmetic of their
  // type: no TF32.
  void gemm(int m, int n, int k, const float* a, const float* b, float* c) const;
  void gemm(int m, int n, int k, const double* a, const double* b, double* c) const;

  // C ← α op(A) op(B) + βC for `count` triples of matrices that lie row after row, each of them
  // `step` elements behind the one before. T is float, double, or std::complex of either; op
  // transposes or does nothing. In the arithmetic of T: no TF32.
  template <typename T>
  struct Product {
    bool turn_a = false, turn_b = false;
    int m = 0, n = 0, k = 0;
    T alpha = 1, beta = 0;
    const T *a = nullptr, *b = nullptr;
    T* c = nullptr;
    int lda = 0, ldb = 0, ldc = 0;
    std::int64_t step_a = 0, step_b = 0, step_c = 0;
    int count = 1;
  };
  template <typename T>
  void multiply(const Product<T>& product) const;
  // The same where the matrices lie anywhere: p.a, p.b and p.c are ignored, and the device's memory
  // has `count` addresses of each.
  template <typename T>
  void multiply_at(const Product<T>& p, const T* const* a, const T* const* b, T* const* c) const;
  // C ← op(A) op(B) + βC for factors in f16 or bf16 and C in f32, laid out as a Product is; sums
  // are the matrix instructions' own. On that stream.
  struct Halves {
    bool is_bf16 = false, turn_a = false, turn_b = false;
    int m = 0, n = 0, k = 0;
    float beta = 0;
    const void *a = nullptr, *b = nullptr;
    float* c = nullptr;
    int lda = 0, ldb = 0, ldc = 0;
    std::int64_t step_a = 0, step_b = 0, step_c = 0;
    int count = 1;
    // Of the device, for parts of sums; without it each captured call allocates its own.
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
  };
  void multiply(const Halves& product, Stream stream) const;
  // C = A B of n × n matrices of a cudaDataType_t, computed as a cublasComputeType_t says.
  void square(int n, const void* a, const void* b, void* c, int type, int compute) const;

  // C ← A B + βC for `count` triples of matrices in f64, column after column, each of them `step`
  // elements behind the one before.
  struct Columns {
    double* data = nullptr;
    int ld = 0;
    std::int64_t step = 0;
  };
  void gemm_columns(int m, int n, int k, const Columns& a, const Columns& b, double beta,
                    const Columns& c, int count) const;

  // Square matrices that are factored in place, PA = LU, and the right sides that go with them;
  // cuBLAS wants them by address.
  struct Factors {
    int n = 0;
    double **matrices = nullptr, **sides = nullptr;
    int matrix_ld = 0, side_ld = 0;
    std::int32_t *pivots = nullptr, *info = nullptr;
    static Factors make(int n, const Columns& matrices, const Columns& sides, int count,
                        Memory& memory);
  };
  void factor(const Factors& factors, int count) const;
  // `vectors` columns for each matrix.
  void solve(const Factors& factors, bool transposed, int vectors, int count) const;
  // Which of them have a pivot that is exactly zero.
  static std::vector<bool> singular(const Factors& factors, int count, Stream stream);

  std::string version() const;  // "13.0.2"

 private:
  template <typename T>
  using Gemm = int(void* handle, int op_a, int op_b, int m, int n, int k, const T* alpha,
                   const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);
  SharedLibrary library_;
  void* handle_ = nullptr;
  Gemm<float>* sgemm_ = nullptr;
  Gemm<double>* dgemm_ = nullptr;
  using Batched = int(void* handle, int op_a, int op_b, int m, int n, int k, const double* alpha,
                      const double* a, int lda, long long step_a, const double* b, int ldb,
                      long long step_b, const double* beta, double* c, int ldc, long long step_c,
                      int count);
  Batched* batched_dgemm_ = nullptr;
  using GemmEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                     const void* a, int type_a, int lda, const void* b, int type_b, int ldb,
                     const void* beta, void* c, int type_c, int ldc, int compute, int algorithm);
  using SteppedEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                        const void* a, int type_a, int lda, long long step_a, const void* b,
                        int type_b, int ldb, long long step_b, const void* beta, void* c,
                        int type_c, int ldc, long long step_c, int count, int compute,
                        int algorithm);
  using ListedEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                       const void* const* a, int type_a, int lda, const void* const* b, int type_b,
                       int ldb, const void* beta, void* const* c, int type_c, int ldc, int count,
                       int compute, int algorithm);
  int (*set_stream_)(void* handle, void* stream) = nullptr;
  int (*set_workspace_)(void* handle, void* workspace, std::size_t bytes) = nullptr;
  GemmEx* gemm_ex_ = nullptr;
  SteppedEx* stepped_ex_ = nullptr;
  ListedEx* listed_ex_ = nullptr;
  int (*dgetrf_)(void* handle, int n, double* const* a, int lda, int* pivots, int* info,
                 int count) = nullptr;
  int (*dgetrs_)(void* handle, int op, int n, int vectors, const double* const* a, int lda,
                 const int* pivots, double* const* b, int ldb, int* info, int count) = nullptr;
};

}  // namespace assay::kernels::cuda
