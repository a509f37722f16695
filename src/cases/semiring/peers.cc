// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/peers.h"

#include <iterator>

namespace assay::cases::semiring {
namespace {

lab::Provider peer(std::string id, std::string description, std::vector<std::string> modules,
                   std::string unequal_work = "") {
  return {.id = std::move(id),
          .description = std::move(description),
          .runtime = lab::Runtime::kPython,
          .modules = std::move(modules),
          .unequal_work = std::move(unequal_work)};
}

lab::Provider on(std::vector<std::string> platforms, lab::Provider provider) {
  provider.platforms = std::move(platforms);
  return provider;
}
lab::Provider on_both(lab::Provider provider) { return on({"cpu", "cuda"}, std::move(provider)); }
lab::Provider on_gpu(lab::Provider provider) { return on({"cuda"}, std::move(provider)); }

constexpr std::string_view kPeers[] = {
    "torch",          "torch-compile", "torch-exp", "torch-exp-graph", "jax", "pyg",
    "pyg-edge-index", "keops",         "cupy",      "triton"};
constexpr std::int64_t kUnrolledSlots = 32;  // python/assay_worker/edges.py

}  // namespace

std::vector<lab::Provider> matmul_peers() {
  return {
      on_both(
          peer("torch",
               "PyTorch, eager: matmul, cdist (by differences for near-duplicates), else broadcast "
               "and reduce over blocks of rows; boolean through an f32 matmul of 0 and 1",
               {"torch"})),
      on_both(peer("torch-compile",
                   "torch.compile of the whole expression, terms and reduction fused; matmul and "
                   "cdist as torch",
                   {"torch"})),
      on_gpu(peer("torch-exp",
                  "torch.compile of the logarithm of a matmul of exponentials, less the maxima of "
                  "rows and columns",
                  {"torch"}, "no certificate: wide ranges of terms are lost")),
      on_gpu(peer("torch-exp-graph", "torch-exp, recorded in a CUDA graph and replayed", {"torch"},
                  "no certificate: wide ranges of terms are lost")),
      on_both(
          peer("jax",
               "JAX, jitted: matmul, distances by a matmul (by differences for near-duplicates), "
               "fused broadcast and reduce, log a row at a time; boolean through an f32 matmul of "
               "0 and 1",
               {"jax", "jaxlib"})),
      on_gpu(peer("cupy", "CuPy: matmul for real, broadcast and reduce over blocks of rows",
                  {"cupy"})),
      on_gpu(peer("triton",
                  "Triton kernels: three TF32 products for real, terms and reduction fused for the "
                  "others",
                  {"triton", "torch"})),
      peer("keops", "KeOps: compiled reductions over k, rows as batches; log in two reductions",
           {"pykeops"}, "its max and min do not propagate NaN"),
  };
}

std::vector<lab::Provider> dense_matmul_peers() {
  return {on_both(peer("torch", "torch.matmul", {"torch"})),
          on_both(peer("torch-compile", "torch.compile of torch.matmul", {"torch"})),
          on_both(peer("jax", "jax.numpy.matmul, jitted", {"jax", "jaxlib"})),
          on_gpu(peer("cupy", "cupy.matmul", {"cupy"})),
          on_gpu(peer("triton", "a Triton kernel of three TF32 products", {"triton", "torch"}))};
}

std::vector<lab::Provider> edge_peers() {
  return {
      on_both(peer("torch",
                   "PyTorch, eager: x Wᵀ once for each vertex; embedding_bag for sum, gathered "
                   "over blocks of vertices for max",
                   {"torch"})),
      on_both(peer("torch-compile",
                   "torch.compile: x Wᵀ once for each vertex, then gather, weigh and reduce fused",
                   {"torch"})),
      on_both(peer("jax",
                   "JAX, jitted: x Wᵀ once for each vertex, then gather, weigh and reduce fused",
                   {"jax", "jaxlib"})),
      on_gpu(peer("cupy", "CuPy: x Wᵀ once for each vertex, gathered over blocks of vertices",
                  {"cupy"})),
      on_gpu(peer("triton",
                  "x Wᵀ by torch once for each vertex, then a Triton kernel that gathers, weighs "
                  "and reduces",
                  {"triton", "torch"})),
      on_both(peer("pyg",
                   "PyTorch Geometric: x Wᵀ once for each vertex, adjacency as a CSR matrix made "
                   "before, spmm for sum and, on a processor, max",
                   {"torch_geometric", "torch"})),
      on_both(
          peer("pyg-edge-index",
               "PyTorch Geometric: x Wᵀ once for each vertex, edge index made before, a message "
               "in memory for every edge, scattered",
               {"torch_geometric", "torch"})),
  };
}

std::vector<lab::Provider> device_matmul_providers() {
  return {
      {.id = "assay",
       .description =
           "CUDA kernels; f32 real, log and euclidean by three products of halves on the tensor "
           "cores, certified by tile; f16 and bf16 real by cuBLAS, the range of bf16 certified; "
           "max_plus and min_plus bit for bit the plain loop's",
       .platforms = {"cuda"}},
      {.id = "cublas",
       .description = "cuBLAS gemm without TF32, for the real algebra",
       .platforms = {"cuda"},
       .library = "libcublas.so"}};
}

std::vector<lab::Provider> device_edge_providers() {
  return {{.id = "assay",
           .description = "CUDA kernels; W before the edges for max, after them for sum",
           .platforms = {"cuda"}}};
}

std::vector<lab::Provider> with_peers(std::vector<lab::Provider> own,
                                      std::vector<lab::Provider> peers) {
  own.insert(own.end(), std::make_move_iterator(peers.begin()),
             std::make_move_iterator(peers.end()));
  return own;
}

std::optional<lab::Skip> why_peer_cannot(std::string_view provider,
                                         assay::semiring::Algebra algebra) {
  if (provider == "keops" && algebra == assay::semiring::Algebra::kBoolean) {
    return lab::Skip{"provider_not_applicable", "KeOps knows no bool"};
  }
  if (provider == "triton" && algebra == assay::semiring::Algebra::kBoolean) {
    return lab::Skip{"provider_not_applicable", "no Triton kernel is written for it"};
  }
  if (provider.starts_with("torch-exp") && algebra != assay::semiring::Algebra::kLog) {
    return lab::Skip{"provider_not_applicable", "a form of the log algebra alone"};
  }
  return std::nullopt;
}

bool takes_halves_on_gpu(std::string_view provider) {
  return provider == "assay" || provider == "torch" || provider == "torch-compile";
}

std::uint64_t framework_bytes(std::string_view provider) {
  for (const auto name : kPeers) {
    if (name == provider) return std::uint64_t{1} << 30;
  }
  return 0;
}

bool keeps_all_edges(std::string_view provider, std::int64_t slots) {
  if (provider == "pyg-edge-index") return true;
  return slots > kUnrolledSlots && provider == "torch-compile";
}

}  // namespace assay::cases::semiring
