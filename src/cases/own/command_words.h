// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace assay::cases::own {

// The word with every {name} replaced by its value. Braces around anything but a name (letters,
// digits, underscores) stay as they are. Throws UserError for a name that has no value, listing
// those that have.
std::string with_words_replaced(const std::string& word,
                                const std::map<std::string, std::string>& values);

}  // namespace assay::cases::own
