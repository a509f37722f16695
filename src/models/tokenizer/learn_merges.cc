// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "models/tokenizer/train.h"

namespace assay::models {
namespace {

using TokenPair = std::pair<std::uint32_t, std::uint32_t>;

struct PairHash {
  std::size_t operator()(const TokenPair& pair) const {
    return (std::uint64_t{pair.first} << 32 | pair.second) * 0x9e3779b97f4a7c15;
  }
};

// How often a pair is there, and in which words it may be. Both change as others are merged.
struct PairPlaces {
  std::int64_t count = 0;
  std::set<std::uint32_t> words;
};

class MergeLearner {
 public:
  MergeLearner(const std::vector<CountedWord>& words, std::string_view alphabet) {
    std::array<std::uint32_t, 256> id_of_byte{};
    for (std::uint32_t id = 0; id < 256; ++id) {
      id_of_byte[static_cast<unsigned char>(alphabet[id])] = id;
      learned_.tokens.emplace_back(1, alphabet[id]);
      ids_.emplace(learned_.tokens.back(), id);
    }
    for (const auto& word : words) {
      std::vector<std::uint32_t> tokens;
      for (const char c : word.bytes) tokens.push_back(id_of_byte[static_cast<unsigned char>(c)]);
      words_.push_back(std::move(tokens));
      counts_.push_back(static_cast<std::int64_t>(word.count));
    }
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::size_t i = 0; i + 1 < words_[word].size(); ++i) {
        change({words_[word][i], words_[word][i + 1]}, word, 1);
      }
    }
    queue_changed();
  }

  LearnedMerges learn(std::size_t vocabulary) {
    while (learned_.tokens.size() < vocabulary && !queue_.empty()) {
      const auto [count, reversed] = queue_.top();
      queue_.pop();
      const TokenPair pair = {~reversed.first, ~reversed.second};
      auto& places = pairs_[pair];
      if (places.count != count) {  // it was changed since; if it is still there, it is queued anew
        if (places.count > 0) queue_.push({places.count, reversed});
        continue;
      }
      merge(pair, std::exchange(places.words, {}));
    }
    return std::move(learned_);
  }

 private:
  void change(TokenPair pair, std::uint32_t word, int sign) {
    auto& places = pairs_[pair];
    places.count += sign * counts_[word];
    if (sign < 0) return;
    places.words.insert(word);
    changed_.insert(pair);
  }
  void queue_changed() {
    for (const auto& pair : changed_) {
      const auto count = pairs_[pair].count;
      if (count > 0) queue_.push({count, {~pair.first, ~pair.second}});
    }
    changed_.clear();
  }

  void merge(TokenPair pair, const std::set<std::uint32_t>& words) {
    const std::string text = learned_.tokens[pair.first] + learned_.tokens[pair.second];
    const auto next = static_cast<std::uint32_t>(learned_.tokens.size());
    const auto [known, is_new] = ids_.emplace(text, next);
    if (is_new) learned_.tokens.push_back(text);
    learned_.merges.push_back(pair);
    for (const auto word : words) merge_in(word, pair, known->second);
    pairs_[pair].count = 0;
    queue_changed();
  }

  void merge_in(std::uint32_t word, TokenPair pair, std::uint32_t whole) {
    auto& tokens = words_[word];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i + 1 == tokens.size() || TokenPair{tokens[i], tokens[i + 1]} != pair) {
        tokens[kept++] = tokens[i];
        continue;
      }
      if (kept > 0) {
        change({tokens[kept - 1], pair.first}, word, -1);
        change({tokens[kept - 1], whole}, word, 1);
      }
      if (i + 2 < tokens.size()) {
        change({pair.second, tokens[i + 2]}, word, -1);
        change({whole, tokens[i + 2]}, word, 1);
      }
      tokens[kept++] = whole;
      ++i;
    }
    tokens.resize(kept);
  }

  LearnedMerges learned_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::vector<std::uint32_t>> words_;
  std::vector<std::int64_t> counts_;
  std::unordered_map<TokenPair, PairPlaces, PairHash> pairs_;
  std::set<TokenPair> changed_;
  // The most frequent, and of those the least pair (whose complement is greatest).
  std::priority_queue<std::pair<std::int64_t, TokenPair>> queue_;
};

}  // namespace

LearnedMerges learn_merges(const std::vector<CountedWord>& words, std::string_view alphabet,
                           std::size_t vocabulary) {
  check(alphabet.size() == 256, "the alphabet has every byte once");
  return MergeLearner(words, alphabet).learn(vocabulary);
}

}  // namespace assay::models
