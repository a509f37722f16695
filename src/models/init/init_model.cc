// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/init/init_model.h"

#include <algorithm>

#include "base/error.h"
#include "models/init/model_sizes.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/train.h"

namespace assay::models {
namespace {

struct SpecialTokens {
  const char *begin, *end;
  std::vector<std::string> all;
  bool begins_texts;  // `begin` comes before every text
};

SpecialTokens special_tokens_of(Family family) {
  switch (family) {
    case Family::kLlama:
      return {"<|begin_of_text|>",
              "<|end_of_text|>",
              {"<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
               "<|eot_id|>"},
              true};
    case Family::kQwen3:
    case Family::kQwen3Moe:
      return {
          "<|endoftext|>", "<|im_end|>", {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, false};
    case Family::kGemma3:
    case Family::kGemma4:
      return {
          "<bos>", "<eos>", {"<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"}, true};
  }
  throw InternalError("a family is one of its enumerators");
}

const char* hugging_face_name(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return "bfloat16";
    case DType::kF16:
      return "float16";
    case DType::kF32:
      return "float32";
    default:
      fail("weights are bf16, f16 or f32, not {}", assay::name_of(dtype));
  }
}

}  // namespace

SmallTokenizer small_tokenizer(Family family, std::int64_t vocab) {
  const auto special = special_tokens_of(family);
  const auto room = vocab - static_cast<std::int64_t>(special.all.size());
  if (room < 256)
    fail("a vocabulary with all bytes has at least {} tokens, not {}", vocab - room + 256, vocab);
  TrainOptions options;
  const bool is_qwen = family == Family::kQwen3 || family == Family::kQwen3Moe;
  options.style = is_qwen ? TrainOptions::kQwen3 : TrainOptions::kLlama3;
  options.vocabulary = static_cast<std::size_t>(std::min<std::int64_t>(2048, room));
  options.special_tokens = special.all;
  if (special.begins_texts) options.begin = special.begin;
  SmallTokenizer result;
  result.tokenizer_json = train_tokenizer(kTrainingText, options);
  const auto tokenizer = Tokenizer::from_json(result.tokenizer_json, "tokenizer.json");
  result.begin = static_cast<std::int64_t>(tokenizer.find(special.begin).value());
  result.end = static_cast<std::int64_t>(tokenizer.find(special.end).value());
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"bos_token", special.begin},
                       {"eos_token", special.end},
                       {"clean_up_tokenization_spaces", false}};
  result.tokenizer_config_json = pretty_json(config) + "\n";
  return result;
}

void init_model(Family family, std::string_view size, const std::string& folder,
                const WriteOptions& options) {
  auto config = config_of_size(family, size, hugging_face_name(options.dtype));
  const auto tokenizer = small_tokenizer(family, config.at("vocab_size").get<std::int64_t>());
  config["bos_token_id"] = tokenizer.begin;
  config["eos_token_id"] = tokenizer.end;
  auto all = options;
  all.files["tokenizer.json"] = tokenizer.tokenizer_json;
  all.files["tokenizer_config.json"] = tokenizer.tokenizer_config_json;
  write_model(config, folder, all);
}

}  // namespace assay::models
