// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From tokens back to text. Of tokenizer.json's "decoder": ByteLevel, Replace, ByteFallback, Fuse,
// Strip, Metaspace, and Sequence of those; others are refused by name. Without one, tokens have a
// space between.
//
// Decoding is a stream: each token goes through all the steps as it comes, and a step keeps back
// only what later tokens may change. So what streams is, put together, what decodes at once.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/config/json_field.h"
#include "models/tokenizer/pattern.h"

namespace assay::models {

struct DecoderStep {
  enum Kind {
    kByteLevel,     // characters of the byte alphabet are bytes; what is no UTF-8 becomes U+FFFD
    kReplace,       // every match of a pattern
    kByteFallback,  // a run of <0x…> is text where all of it is UTF-8, else U+FFFD for each
    kFuse,          // what follows sees one token
    kStrip,         // up to `start` and `stop` times `content` off a token's ends
    kMetaspace,     // the pattern is a space; in the first token, where it drops_first, nothing
    kJoin,          // a space between tokens
  } kind;
  std::optional<Pattern> pattern;
  std::string content;
  std::size_t start = 0, stop = 0;
  bool drops_first = false;
};

// The steps in order; no field: none is given.
std::vector<DecoderStep> read_decoder(const std::optional<JsonField>& field);

class DecoderStream {
 public:
  explicit DecoderStream(const std::vector<DecoderStep>& steps);

  // Text that is certain now: valid UTF-8 that no later token changes. May be empty.
  std::string push(std::string_view token);
  // The rest.
  std::string finish();

 private:
  // What a step remembers of the tokens before.
  struct State {
    std::string held;
    std::size_t left = 0;    // characters that may still be stripped
    bool started = false;    // a token has been here
    bool in_one = false;     // all that comes is one token, in pieces
    bool holds_all = false;  // until the end: later pieces may change it
  };
  void hand(std::size_t step, std::string_view token);
  void hand_characters(std::size_t step, bool at_end);
  void flush_fallback(std::size_t step);
  std::string stripped(const DecoderStep& step, State& state, std::string_view token);

  const std::vector<DecoderStep>* steps_;
  std::vector<State> states_;
  std::string ready_;
};

}  // namespace assay::models
