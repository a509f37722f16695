// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/model_peers.h"

#include "cases/llm/graph_peers.h"

namespace assay::cases::llm {
namespace {

lab::Provider model_peer(std::string id, std::string description,
                         std::vector<std::string> modules) {
  return {.id = std::move(id),
          .description = std::move(description),
          .runtime = lab::Runtime::kPython,
          .modules = std::move(modules)};
}

}  // namespace

std::vector<lab::Provider> model_providers() {
  return {
      {.id = "assay",
       .description =
           "our compiler: the fastest of 40 programs, or of those of 60 s, each verified"},
      {.id = "assay-unsearched", .description = "our compiler, without search"},
      model_peer("hf-eager", "Hugging Face transformers on PyTorch, eager; a static cache",
                 {"transformers", "torch"}),
      model_peer("torch-compile",
                 "the same model through torch.compile, whole graph, static shapes",
                 {"transformers", "torch"}),
      model_peer("llama-cpp", "llama.cpp by llama-cpp-python; the same weights as GGUF",
                 {"llama_cpp", "gguf"}),
      model_peer("onnxruntime",
                 "ONNX Runtime on the CPU, all optimisations: GroupQueryAttention over a shared "
                 "cache, weights as initialisers",
                 {"onnxruntime", "onnx"}),
  };
}

std::optional<lab::Skip> why_no_model(std::string_view provider, const ModelPoint& point) {
  const auto type = point.config().at("model_type").get<std::string>();
  const bool is_written = type == "llama" || type == "qwen3";  // as a file of theirs
  if ((provider == "onnxruntime" || provider == "llama-cpp") && !is_written) {
    return lab::Skip{"provider_not_applicable",
                     fmt::format("models of llama and qwen3 are written for it, not {}", type)};
  }
  if ((provider == "hf-eager" || provider == "torch-compile") && type.starts_with("gemma")) {
    return lab::Skip{"provider_not_applicable",
                     "its static cache forgets what is outside of windows, and calls begin anew"};
  }
  if (provider != "onnxruntime") return std::nullopt;
  if (point.dtype == DType::kF32 && point.weight_bytes() > 0x1p31)
    return lab::Skip{"provider_not_applicable", "a model in memory has 2 GiB at most"};
  return why_no_graph(provider, point.dtype, true);
}

std::uint64_t model_worker_bytes(std::string_view provider, const ModelPoint& point) {
  // Weights as they are and as a provider keeps them; frameworks, and what they compile with.
  const bool is_ours = provider.starts_with("assay");
  const double copies = is_ours ? 1.2 : 3;
  const double framework = is_ours ? 256e6 : 3e9;
  const double caches = 2 * point.cache_bytes(point.context);
  return static_cast<std::uint64_t>(copies * point.weight_bytes() + caches + framework);
}

}  // namespace assay::cases::llm
