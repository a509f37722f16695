// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a contraction runs on the processor or on a device, and why.

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "einsum/plan/plan.h"

namespace assay::einsum {

struct Dispatch {
  Backend chosen = Backend::kBlas;
  double processor_s = 0, device_s = 0;  // predicted, the device's with its transfers
  std::string why;                       // a clause for people
};

// The one that is predicted to be done first; `min_flop`, where it is given, decides instead: the
// device from so many operations on. Both plans are of the same contraction.
Dispatch choose_place(const Plan& processor, const Plan& device, std::optional<double> min_flop);

// A device that was asked for by name, and the reason.
Dispatch forced_on_device(const Plan& device);

// ASSAY_EINSUM_DEVICE_MIN_FLOP, a number that is not negative; nothing if it is not set. Throws
// UserError.
std::optional<double> device_min_flop();

Json to_json(const Dispatch& dispatch, const Plan& device);
// "device: chosen, …; 64 MiB go there and 1 MiB comes back (…)"
std::string dispatch_text(const Dispatch& dispatch, const Plan& device);

}  // namespace assay::einsum
