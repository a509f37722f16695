// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/sampling_config.h"

#include <filesystem>

#include "base/input_file.h"
#include "base/json.h"
#include "models/config/config_fields.h"

namespace assay::models {

SamplingOptions read_sampling_config(const std::string& folder) {
  SamplingOptions options;
  const auto path = folder + "/generation_config.json";
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return options;
  constexpr std::size_t kLargest = 1 << 20;
  const auto json = parse_json(read_input_file(path, kLargest), path);
  ConfigFields fields(json, path);
  if (fields.flag_or("do_sample", false)) {
    options.temperature = fields.positive_or("temperature", 1);
    constexpr std::int64_t kWithoutAWord = 50;  // as transformers has it
    options.top_k = fields.count_or("top_k", kWithoutAWord, 0, INT64_MAX);
    options.top_p = fields.positive_or("top_p", 1);
    const auto* min_p = fields.find("min_p");
    if (min_p != nullptr && *min_p != 0) options.min_p = fields.positive("min_p");
  }
  options.repetition_penalty = fields.positive_or("repetition_penalty", 1);
  // What others would do with these, and we would not.
  for (const char* key : {"num_beams", "num_beam_groups", "typical_p", "encoder_repetition_penalty",
                          "guidance_scale"}) {
    fields.expect(key, 1);
  }
  for (const char* key : {"no_repeat_ngram_size", "penalty_alpha", "epsilon_cutoff", "eta_cutoff",
                          "min_length", "min_new_tokens"}) {
    fields.expect(key, 0);
  }
  for (const char* key :
       {"bad_words_ids", "force_words_ids", "suppress_tokens", "sequence_bias",
        "begin_suppress_tokens", "forced_bos_token_id", "forced_eos_token_id", "stop_strings",
        "exponential_decay_length_penalty", "top_h", "watermarking_config", "dola_layers"}) {
    fields.expect(key, nullptr);
  }
  const auto* heals = fields.find("token_healing");
  if (heals != nullptr && !heals->is_null()) fields.expect("token_healing", false);
  [[maybe_unused]] const Sampler tried(options);  // says which is outside of its range
  return options;
}

}  // namespace assay::models
