// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::cases::own {

// The parameters of a point, as they stand in a command line.
std::map<std::string, std::string> point_words(const Json& point);

// The word with every {name} replaced by its value. Braces around anything but a name (letters,
// digits, underscores) stay as they are. Throws UserError for a name that has no value, listing
// those that have.
std::string with_words_replaced(const std::string& word,
                                const std::map<std::string, std::string>& values);
// The same for the text of a shell, which has braces of its own: names without a value stay.
std::string with_known_replaced(const std::string& text,
                                const std::map<std::string, std::string>& values);

// The words of a command that no shell reads: quotes and backslashes as a shell has them. Throws
// UserError for a quote that does not end.
std::vector<std::string> words_of(const std::string& command);

}  // namespace assay::cases::own
