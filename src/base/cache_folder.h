// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

// What can be made again lives here: assay in XDG_CACHE_HOME, or in ~/.cache. Throws UserError if
// neither that nor HOME is an absolute path.
std::string cache_folder();

}  // namespace assay
