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
  const char* end_of_turn;  // what is said in a conversation ends with it
  std::vector<std::string> all;
  bool begins_texts;  // `begin` comes before every text
  const char* chat_template;
};

constexpr const char* kLlamaChat = R"({{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})";

constexpr const char* kQwenChat = R"({%- for message in messages %}
    {{- '<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %})";

// No role for a system: what it says stands before the first message.
constexpr const char* kGemmaChat = R"({{- bos_token }}
{%- set space = namespace(before='') %}
{%- for message in messages %}
    {%- if message['role'] == 'system' %}
        {%- set space.before = message['content'] | trim + '\n\n' %}
    {%- else %}
        {{- '<start_of_turn>' + ('model' if message['role'] == 'assistant' else 'user') + '\n' }}
        {{- space.before + message['content'] | trim + '<end_of_turn>\n' }}
        {%- set space.before = '' %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<start_of_turn>model\n' }}
{%- endif %})";

SpecialTokens special_tokens_of(Family family) {
  switch (family) {
    case Family::kLlama:
      return {"<|begin_of_text|>",
              "<|end_of_text|>",
              "<|eot_id|>",
              {"<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
               "<|eot_id|>"},
              true,
              kLlamaChat};
    case Family::kQwen3:
    case Family::kQwen3Moe:
      return {"<|endoftext|>", "<|im_end|>",
              "<|im_end|>",    {"<|endoftext|>", "<|im_start|>", "<|im_end|>"},
              false,           kQwenChat};
    case Family::kGemma3:
    case Family::kGemma4:
      return {"<bos>",
              "<eos>",
              "<end_of_turn>",
              {"<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"},
              true,
              kGemmaChat};
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
  for (const std::string_view token : {special.end, special.end_of_turn}) {
    const auto id = static_cast<std::int64_t>(tokenizer.find(token).value());
    if (std::ranges::find(result.ends, id) == result.ends.end()) result.ends.push_back(id);
  }
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"bos_token", special.begin},
                       {"eos_token", special.end},
                       {"clean_up_tokenization_spaces", false},
                       {"chat_template", special.chat_template}};
  result.tokenizer_config_json = pretty_json(config) + "\n";
  return result;
}

void init_model(Family family, std::string_view size, const std::string& folder,
                const WriteOptions& options) {
  auto config = config_of_size(family, size, hugging_face_name(options.dtype));
  const auto tokenizer = small_tokenizer(family, config.at("vocab_size").get<std::int64_t>());
  config["bos_token_id"] = tokenizer.begin;
  config["eos_token_id"] = tokenizer.ends;
  auto all = options;
  all.files["tokenizer.json"] = tokenizer.tokenizer_json;
  all.files["tokenizer_config.json"] = tokenizer.tokenizer_config_json;
  write_model(config, folder, all);
}

}  // namespace assay::models
