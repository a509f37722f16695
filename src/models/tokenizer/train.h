// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tokenizer for a model of one's own: byte-level BPE, learned from a text, as a tokenizer.json.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::models {

struct TrainOptions {
  // How texts are cut into words, and what is done to them before.
  enum Style { kLlama3, kQwen3 } style = kLlama3;
  // Tokens to have, the 256 bytes among them, special ones not. A small text has fewer.
  std::size_t vocabulary = 2048;
  // Their ids follow those of the vocabulary.
  std::vector<std::string> special_tokens;
  // One of them that comes before every text.
  std::optional<std::string> begin;
};

// The content of a tokenizer.json; the same for the same text and options, whatever the machine. It
// is what PyPI's tokenizers would learn (BpeTrainer, every pair that is there at all). Throws
// UserError where the text is not UTF-8, or an option cannot be met.
std::string train_tokenizer(std::string_view text, const TrainOptions& options);

// Pairs of tokens to merge, most frequent first, of equally frequent ones the least: ids 0 to 255
// are bytes (in any order that the caller has), the i-th merge makes 256 + i, unless its text is a
// token already.
struct LearnedMerges {
  std::vector<std::string> tokens;  // texts in bytes, by id
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;
};
struct CountedWord {
  std::string bytes;
  std::uint64_t count;
};
// `alphabet`: the byte of each of the first 256 ids.
LearnedMerges learn_merges(const std::vector<CountedWord>& words, std::string_view alphabet,
                           std::size_t vocabulary);

// A text of a few kilobytes to learn from where there is none.
extern const std::string_view kTrainingText;

}  // namespace assay::models
