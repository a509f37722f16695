// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether all that a program calls is covered, asked before anything is made of it.

#include <string>
#include <string_view>

#include "models/config/json_field.h"

namespace assay::models::pt2 {

// Calls of another graph that is an argument, and that runs as it is.
inline constexpr std::string_view kWithGrad = "torch.ops.higher_order.wrap_with_set_grad_enabled",
                                  kWithAutocast = "torch.ops.higher_order.wrap_with_autocast";
bool is_wrapper(std::string_view target);

struct Coverage {
  bool has_writes = false;  // in place, anywhere
};
// Throws UserError that names the file and all operators that are not covered, with how often each
// is called, and why where that is known.
Coverage check_coverage(const JsonField& graph, const std::string& path);

}  // namespace assay::models::pt2
