// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/candidate.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "compiler/program/program_json.h"

namespace assay::compiler {
namespace {

// A signature as text and back: JSON's numbers end at 2^53.
std::string hex_of(Signature signature) { return fmt::format("{:016x}", signature); }
Signature signature_from(const std::string& text) { return std::stoull(text, nullptr, 16); }

Signature kernel_signature(const Kernel& kernel) {
  auto plain = kernel;
  plain.variant = 0;
  return signature_from(short_hash(canonical_json(kernel_to_json(plain))));
}

}  // namespace

Json genome_to_json(const Genome& genome) {
  Json json = Json::object();
  for (const auto& [signature, option] : genome.options) {
    json["options"][hex_of(signature)] = option;
  }
  for (const auto signature : genome.kept) json["kept"].push_back(hex_of(signature));
  for (const auto& [signature, variant] : genome.variants) {
    json["variants"][hex_of(signature)] = variant;
  }
  if (!genome.epilogues) json["epilogues"] = false;
  if (!genome.shares) json["shares"] = false;
  return json;
}

Genome genome_from_json(const Json& json, std::string_view what) {
  Genome genome;
  try {
    const auto members = [&](const char* key) {
      return json.contains(key) ? json.at(key) : Json::object();
    };
    const auto options = members("options"), variants = members("variants");
    for (const auto& [key, value] : options.items()) {
      genome.options[signature_from(key)] = value.get<std::uint32_t>();
    }
    for (const auto& [key, value] : variants.items()) {
      genome.variants[signature_from(key)] = value.get<std::uint32_t>();
    }
    if (json.contains("kept")) {
      for (const auto& value : json.at("kept")) {
        genome.kept.insert(signature_from(value.get<std::string>()));
      }
    }
    genome.epilogues = json.value("epilogues", true);
    genome.shares = json.value("shares", true);
  } catch (const std::exception&) {
    fail("{}: not the choices of a program", what);
  }
  return genome;
}

Candidates::Candidates(const Graph& graph, const CompileOptions& options)
    : options_(options), terms_(std::make_unique<TensorEGraph>(graph)) {
  report_ = recognise(*terms_, tensor_rules(*terms_, options.disabled));
}

ChosenGraph Candidates::chosen(const Genome& genome) const {
  return chosen_graph(*terms_, [&](Signature signature, std::size_t count) -> std::size_t {
    const auto found = genome.options.find(signature);
    return found == genome.options.end() ? 0 : found->second % count;
  });
}

Program Candidates::program(const Genome& genome, const Runtime& runtime) const {
  const auto chosen = this->chosen(genome);
  auto fuse = fuse_choices(options_);
  fuse.epilogues = fuse.epilogues && genome.epilogues;
  fuse.shares = fuse.shares && genome.shares;
  for (NodeId id = 0; id < chosen.signatures.size(); ++id) {
    const auto signature = chosen.signatures[id];
    if (signature != 0 && genome.kept.contains(signature)) fuse.kept.insert(id);
  }
  auto program = lower(chosen.work, fuse);
  if (genome.variants.empty()) return program;
  for (auto& kernel : program.kernels) {
    const auto found = genome.variants.find(kernel_signature(kernel));
    if (found != genome.variants.end()) {
      kernel.variant = found->second % std::max(1U, runtime.variants(kernel));
    }
  }
  return program;
}

Candidates::Freedom Candidates::freedom(const Genome& genome, const Runtime& runtime) const {
  Freedom freedom;
  const auto chosen = this->chosen(genome);
  freedom.options = chosen.option_counts;
  std::set<Signature> seen;
  for (NodeId id = 0; id < chosen.work.nodes.size(); ++id) {
    const auto& work = chosen.work.nodes[id];
    const auto signature = chosen.signatures[id];
    const bool is_fixed = work.is_kernel() || work.node.operands.empty();
    if (signature != 0 && !is_fixed && seen.insert(signature).second) {
      freedom.nodes.push_back(signature);
    }
  }
  for (const auto& kernel : program(genome, runtime).kernels) {
    const auto count = runtime.variants(kernel);
    if (count > 1) freedom.kernels.emplace_back(kernel_signature(kernel), count);
  }
  return freedom;
}

std::string program_hash(const Program& program) {
  auto json = program_to_json(program);
  for (auto& kernel : json["kernels"]) kernel.erase("rules");
  return short_hash(canonical_json(json));
}

}  // namespace assay::compiler
