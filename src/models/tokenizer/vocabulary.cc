// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/vocabulary.h"

#include "base/error.h"

namespace assay::models {

void Vocabulary::add(std::string_view added, TokenId id) {
  check(find(added) == kNone && !text(id), "a token is added once");
  ids_.set(added, id);
  if (id >= texts_.size()) texts_.resize(id + 1);
  texts_[id] = added;
}

}  // namespace assay::models
