// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/graph_peers.h"

#include <algorithm>

namespace assay::cases::llm {
namespace {

lab::Provider framework(std::string id, std::string description, std::vector<std::string> modules) {
  return {.id = std::move(id),
          .description = std::move(description),
          .runtime = lab::Runtime::kPython,
          .modules = std::move(modules)};
}

}  // namespace

std::vector<lab::Provider> graph_providers() {
  return {
      {.id = "assay", .description = "our compiler, without search: the program that it chooses"},
      {.id = "assay-searched",
       .description = "the fastest program of a search, 40 candidates or 20 s, each verified"},
      {.id = "assay-reference",
       .description = "the compiler's reference: the graph node by node, plain loops in f64"},
      framework("torch",
                "PyTorch, eager: linear, rms_norm, scaled_dot_product_attention; a static cache "
                "written in place",
                {"torch"}),
      framework("torch-compile", "torch.compile of the same, whole graph, static shapes",
                {"torch"}),
      framework("jax", "JAX, jitted; caches donated", {"jax", "jaxlib"}),
      framework("onnxruntime",
                "ONNX Runtime on the CPU, all optimisations: GroupQueryAttention over a shared "
                "cache, weights as initialisers",
                {"onnxruntime", "onnx"}),
  };
}

std::optional<lab::Skip> why_no_graph(std::string_view provider, DType dtype, bool has_products) {
  if (provider != "onnxruntime") return std::nullopt;
  if (dtype == DType::kBF16)
    return lab::Skip{"provider_not_applicable", "its kernels for the CPU know no bf16"};
  if (dtype == DType::kF16 && has_products)
    return lab::Skip{"provider_not_applicable", "it sums products of f16 in f16"};
  return std::nullopt;
}

std::uint64_t graph_worker_bytes(std::string_view provider) {
  const bool is_ours = provider.starts_with("assay");
  return std::uint64_t{is_ours ? 64U : 1024U} << 20;
}

std::optional<lab::Limit> graph_limit(double multiply_adds, double bytes, int cores,
                                      const lab::Ceilings& ceilings) {
  const auto rate = ceilings.rate("fma_f32", cores), triad = ceilings.rate("triad", cores);
  if (!rate || !triad) return std::nullopt;
  // Neither is a bound: 16-bit types have faster units somewhere, and caches hold what is small.
  const double arithmetic = multiply_adds / *rate, memory = bytes / *triad;
  if (arithmetic > memory) return lab::Limit{arithmetic, "fma_f32", false};
  return lab::Limit{memory, "triad", false};
}

}  // namespace assay::cases::llm
