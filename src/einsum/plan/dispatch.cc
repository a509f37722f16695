// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/dispatch.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"

namespace assay::einsum {
namespace {

constexpr const char* kMinFlop = "ASSAY_EINSUM_DEVICE_MIN_FLOP";

std::size_t resident_operands(const Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count(plan.operands, true, &OperandSpec::resident));
}

}  // namespace

Dispatch choose_place(const Plan& processor, const Plan& device, std::optional<double> min_flop) {
  Dispatch d{Backend::kBlas, processor.predicted_s, device.predicted_s, ""};
  if (min_flop) {
    const bool enough = device.flop >= *min_flop;
    d.chosen = enough ? Backend::kCuda : Backend::kBlas;
    d.why = fmt::format("{:.4g} FLOP are {} the {:.4g} of {}", device.flop,
                        enough ? "no less than" : "less than", *min_flop, kMinFlop);
    return d;
  }
  const bool faster = d.device_s < d.processor_s;
  d.chosen = faster ? Backend::kCuda : Backend::kBlas;
  d.why = fmt::format("predicted {} there with transfers, {} on the processor",
                      format_seconds(d.device_s), format_seconds(d.processor_s));
  return d;
}

Dispatch forced_on_device(const Plan& device) {
  return {Backend::kCuda, 0, device.predicted_s, "asked for by name"};
}

std::optional<double> device_min_flop() {
  const char* text = std::getenv(kMinFlop);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view given(text);
  double value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || end != given.data() + given.size() || !(value >= 0)) {
    fail("{} is a number of operations, not '{}'", kMinFlop, given);
  }
  return value;
}

Json to_json(const Dispatch& d, const Plan& device) {
  return {{"chosen", d.chosen == Backend::kCuda},
          {"why", d.why},
          {"predicted_s", d.device_s},
          {"processor_predicted_s", d.processor_s > 0 ? Json(d.processor_s) : Json()},
          {"to_device_bytes", device.transfers.to_bytes},
          {"from_device_bytes", device.transfers.from_bytes},
          {"transfer_predicted_s", device.transfers.seconds},
          {"resident_operands", resident_operands(device)}};
}

std::string dispatch_text(const Dispatch& d, const Plan& device) {
  const auto& t = device.transfers;
  const auto resident = resident_operands(device);
  return fmt::format("device: {}chosen, {}; {} cross to it and {} back, predicted {}{}\n",
                     d.chosen == Backend::kCuda ? "" : "not ", d.why, format_bytes(t.to_bytes),
                     format_bytes(t.from_bytes), format_seconds(t.seconds),
                     resident > 0 ? fmt::format(", {} operands are there already", resident) : "");
}

}  // namespace assay::einsum
