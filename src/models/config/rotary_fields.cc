// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/rotary_fields.h"

#include <optional>

#include "base/error.h"

namespace assay::models {
namespace {

RotaryConfig rotary_from(ConfigFields fields, std::optional<double> theta_beside) {
  RotaryConfig rotary;
  const std::string_view type_key = fields.has("rope_type") ? "rope_type" : "type";
  const auto type = fields.has(type_key)
                        ? fields.one_of(type_key, {"default", "linear", "llama3", "proportional"})
                        : "default";
  rotary.theta = theta_beside ? fields.positive_or("rope_theta", *theta_beside)
                              : fields.positive("rope_theta");
  if (type == "linear") {
    rotary.kind = RotaryConfig::Kind::kLinear;
    rotary.factor = fields.positive("factor");
  } else if (type == "llama3") {
    rotary.kind = RotaryConfig::Kind::kLlama3;
    rotary.factor = fields.positive("factor");
    rotary.low_factor = fields.positive("low_freq_factor");
    rotary.high_factor = fields.positive("high_freq_factor");
    if (rotary.high_factor <= rotary.low_factor) {
      fields.refuse("high_freq_factor", "expected more than low_freq_factor");
    }
    rotary.original_context = fields.count("original_max_position_embeddings", 1, kMostPositions);
  } else if (type == "proportional") {
    rotary.kind = RotaryConfig::Kind::kProportional;
    rotary.factor = fields.positive_or("factor", 1);
    rotary.part = fields.positive_or("partial_rotary_factor", 1);
    if (rotary.part > 1) fields.refuse("partial_rotary_factor", "expected at most 1");
  }
  fields.expect("partial_rotary_factor", rotary.part);
  fields.finish();
  return rotary;
}

}  // namespace

RotaryConfig read_common_rotary(ConfigFields& fields) {
  if (const auto* json = fields.find("rope_parameters")) {
    fields.expect("rope_scaling", nullptr);
    std::optional<double> beside;
    if (fields.has("rope_theta")) beside = fields.positive("rope_theta");
    return rotary_from(ConfigFields(*json, fields.what() + ": rope_parameters"), beside);
  }
  const double theta = fields.positive_or("rope_theta", 10000);
  if (const auto* json = fields.find("rope_scaling")) {
    return rotary_from(ConfigFields(*json, fields.what() + ": rope_scaling"), theta);
  }
  RotaryConfig rotary;
  rotary.theta = theta;
  return rotary;
}

std::vector<RotaryConfig> read_rotaries_by_layer_type(ConfigFields& fields, Family family) {
  if (const auto* json = fields.find("rope_parameters")) {
    ConfigFields types(*json, fields.what() + ": rope_parameters");
    std::vector<RotaryConfig> rotaries;
    for (const char* type : {"full_attention", "sliding_attention"}) {
      const auto of_type = types.field(type);
      rotaries.push_back(rotary_from(ConfigFields(of_type.value(), of_type.where()), std::nullopt));
    }
    types.finish();
    return rotaries;
  }
  if (family != Family::kGemma3) fields.field("rope_parameters");  // is missing
  RotaryConfig full, local;
  const double theta = fields.positive_or("rope_theta", 1e6);
  if (const auto* json = fields.find("rope_scaling")) {
    full = rotary_from(ConfigFields(*json, fields.what() + ": rope_scaling"), theta);
  }
  full.theta = theta;
  local.theta = fields.positive_or("rope_local_base_freq", 1e4);
  return {full, local};
}

}  // namespace assay::models
