// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

// Which build of this program is running: a hash of its contents that the linker left in it (the
// GNU build id, in hexadecimal). Empty where the linker was told to leave none.
std::string build_id();

}  // namespace assay
