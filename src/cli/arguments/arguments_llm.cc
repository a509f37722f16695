// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_llm(CLI::App& app, LlmArguments& a) {
  using Action = LlmArguments::Action;
  const auto action = [&](Action value, const char* name, const char* description,
                          const char* examples) {
    auto* sub = app.add_subcommand(name, description);
    sub->callback([&a, value] { a.action = value; });
    sub->footer(std::string("Examples:\n") + examples);
    return sub;
  };
  const auto add_model = [&a](CLI::App* to) {
    to->add_option("--model", a.model,
                   "folder with config.json, weights (.safetensors) and tokenizer.json")
        ->required();
    to->add_option("--threads", a.threads, "cores to use (all)");
    to->add_option("--device", a.device, "cpu (default) or cuda: an NVIDIA GPU");
    to->add_flag("--json", a.json, "print JSON");
  };
  const auto set_seed = [&a](std::uint64_t seed) { a.seed = seed; };

  const auto add_sampling = [&](CLI::App* to) {
    to->add_option("--max-tokens", a.max_tokens, "at most so many new ones at a time (128)");
    to->add_option("--temperature", a.temperature,
                   "0: always the likeliest; 1: as the model has it (what generation_config.json "
                   "says, or 0)");
    to->add_option("--top-k", a.top_k, "only among that many of the likeliest (0: all)");
    to->add_option("--top-p", a.top_p, "only the fewest with this probability together (1)");
    to->add_option("--min-p", a.min_p, "only with this share of the likeliest's probability (0)");
    to->add_option("--repetition-penalty", a.repetition_penalty,
                   "divides the logits of what was said before (1)");
    add_seed(*to, "of sampling (0)", set_seed);
    to->add_option("--context", a.context, "tokens to make room for (prompt and new ones)");
    to->add_option("--chunk", a.chunk, "tokens of the prompt to read at once (256)");
    auto* search = to->add_option("--search", a.search,
                                  "first look for a faster program among so many, each verified; "
                                  "what is found is kept (0: use "
                                  "what was found before)");
    to->add_option("--search-seconds", a.search_seconds, "no longer than that (60)")->needs(search);
    to->add_option("--search-seed", a.search_seed, "of the search (0)")->needs(search);
  };

  auto* init = action(Action::kInit, "init", "write a model with weights by chance",
                      "  assay llm init --family qwen3 --size tiny --out model\n"
                      "  assay llm init --family llama --size 160m --dtype f32 --seed 7 --out m");
  init->add_option("--family", a.family, "llama, qwen3, gemma3, qwen3-moe, gemma4")->required();
  init->add_option("--size", a.size,
                   "tiny (default), 160m, and those of known models, e.g. 0.6b of qwen3");
  init->add_option("--dtype", a.dtype, "bf16 (default), f16, f32");
  init->add_option("--out", a.out, "folder, which has no model yet")->required();
  add_seed(*init, "of the weights (0)", set_seed);

  auto* generate =
      action(Action::kGenerate, "generate", "what a model says of a prompt",
             "  assay llm generate --model model --prompt 'Once upon a time' --stream\n"
             "  assay llm generate --model model --prompt Hello --temperature 0.8 "
             "--top-p 0.95 --seed 3\n"
             "  assay llm generate --model model --tokens 1,2,3 --max-tokens 20 --json");
  add_model(generate);
  auto* prompt = generate->add_option("--prompt", a.prompt, "a text to go on from");
  generate
      ->add_option("--tokens", a.tokens, "the same as token numbers, e.g. 1,2,3; so is the answer")
      ->delimiter(',')
      ->check([](const std::string& text) {
        return text.empty() ? "a token is a number, not ''" : std::string();
      })
      ->excludes(prompt);
  generate->add_flag("--chat", a.chat, "the prompt is a message: put it into the chat template");
  generate->add_option("--system", a.system, "with --chat: what the model is told before");
  add_sampling(generate);
  generate->add_flag("--stream", a.stream, "print each token as it comes");
  generate->add_flag("--ignore-end", a.ignore_end, "go on behind tokens that end a text");

  auto* chat =
      action(Action::kChat, "chat", "talk to a model: a message is a line",
             "  assay llm chat --model model\n"
             "  assay llm chat --model model --system 'Answer briefly.' --temperature 0.7\n"
             "  printf 'Hello!\\nAnd now?\\n' | assay llm chat --model model --json");
  add_model(chat);
  chat->add_option("--system", a.system, "what the model is told before");
  add_sampling(chat);

  auto* shown = action(Action::kPrompt, "prompt", "the text that a chat template makes of messages",
                       "  assay llm prompt --model model --messages talk.json\n"
                       "  assay llm prompt --model model --messages talk.json --tools tools.json");
  shown->add_option("--model", a.model, "folder with chat_template.jinja or tokenizer_config.json")
      ->required();
  shown
      ->add_option("--messages", a.messages,
                   "JSON: a list of messages, [{\"role\": \"user\", \"content\": \"Hello\"}, …]")
      ->required();
  shown->add_option("--tools", a.tools, "JSON: a list of functions that the model may call");

  auto* explain = action(Action::kExplain, "explain", "the program of a model, step by step",
                         "  assay llm explain --model model\n"
                         "  assay llm explain --model model --new 128 --cached 0 --trace t.json");
  add_model(explain);
  explain->add_option("--new", a.new_tokens, "tokens to read at once (1)");
  explain->add_option("--cached", a.cached_tokens, "tokens that are there already (128)");
  explain->add_option("--dot", a.dot, "write the program there, for Graphviz");
  explain->add_option("--trace", a.trace, "write the measured steps there, for Perfetto");

  auto* tokenize =
      action(Action::kTokenize, "tokenize", "a text's tokens, or the text of tokens",
             "  assay llm tokenize --model Qwen3-0.6B --text 'Hello, world'\n"
             "  assay llm tokenize --model Qwen3-0.6B --json < prompt.txt\n"
             "  assay llm tokenize --model Qwen3-0.6B --decode '9707 11 1879'\n"
             "  assay llm tokenize --model Qwen3-0.6B --lines < texts.jsonl > ids.jsonl");
  tokenize->add_option("--model", a.model, "a model's folder, or its tokenizer.json")->required();
  auto* text = tokenize->add_option("--text", a.text, "what to encode (standard input)");
  auto* decode =
      tokenize->add_option("--decode", a.decode, "ids to decode instead, e.g. '72 101' or 72,101")
          ->excludes(text);
  tokenize
      ->add_flag("--lines", a.lines,
                 "each line of standard input is JSON: a text to encode, or ids to decode")
      ->excludes(text)
      ->excludes(decode);
  tokenize->add_flag("--no-special", a.no_special,
                     "put no special tokens around a text; leave them out of decoded text");
  tokenize->add_flag("--json", a.json, "print ids, tokens and their number as JSON");

  auto* train = action(Action::kTrainTokenizer, "train-tokenizer",
                       "a tokenizer.json (byte-level BPE), learned from a text",
                       "  assay llm train-tokenizer --out tiny --special '<s>,</s>' --begin '<s>'\n"
                       "  assay llm train-tokenizer --out mine --text corpus.txt --vocabulary "
                       "32000 --style qwen3");
  train->add_option("--out", a.out, "folder to write tokenizer.json to")->required();
  train->add_option("--text", a.learn_from, "file to learn from (a short text of our own)");
  train->add_option("--vocabulary", a.vocabulary, "tokens to learn, bytes among them (2048)");
  train->add_option("--style", a.style, "how texts are cut into words: llama3 (default), qwen3");
  train->add_option("--special", a.special, "special tokens, separated by commas")->delimiter(',');
  train->add_option("--begin", a.begin, "one of them, to come before every text");

  auto* bench = action(Action::kBench, "bench",
                       "time to first token, time per token, what a search brings: the suite "
                       "beside what people use",
                       "  assay llm bench\n"
                       "  assay llm bench --config llm.toml --no-sweep --out results/");
  bench->add_option("name", a.run.cases, "configurations of the file (its [suite] models, or all)");
  bench->add_option("--config", a.run.config,
                    "TOML file of models, [configs.NAME] (without it the suite's quick points)");
  bench->add_flag("--no-sweep", a.no_sweep, "no search over budgets, the comparison alone");
  bench->add_option("--providers", a.run.providers, "only these, separated by commas")
      ->delimiter(',');
  bench->add_option("--skip", a.run.skip, "not these")->delimiter(',');
  add_measure_options(*bench, a.run.measure,
                      {.rounds = "attempts of each provider at a point (10; quick: 6)",
                       .budget = "no attempt starts after this time (10m)",
                       .cores = "all"},
                      "How to measure");
  bench->add_option("--settle", a.run.settle, "pause before each attempt, cores held (0s)");
  bench->add_option("--memory", a.run.memory, "memory an attempt may use (80 % of what is free)");
  bench->add_option("--out", a.run.out, "journal, or folder for it (results/)");
  bench->add_option("--store", a.run.store, "also into this store, row by row");
  bench->add_flag("--dry-run", a.run.dry_run, "print the plan and stop");
  bench->add_flag("--json", a.run.json, "print JSON");
  keep_options(*bench, a.run.again);
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay llm init --family qwen3 --size tiny --out model
  assay llm generate --model model --prompt 'Once upon a time' --stream
  assay llm chat --model model
  assay llm explain --model model
  assay llm tokenize --model model --text 'Hello, world'
  assay llm bench)");
}

}  // namespace assay::cli
