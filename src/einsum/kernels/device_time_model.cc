// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/device_time_model.h"

namespace assay::einsum {

TimeModel default_device_model() {
  TimeModel model;
  model.on_device = true;
  model.id = "default-device";
  constexpr double kLaunch_s = 3e-6;
  // Second-level cache; beyond it, memory.
  constexpr double kCacheBytes = 3e7, kCacheBandwidth = 6e12, kBandwidth = 3.5e12;
  for (const bool wide : {false, true}) {
    PartModel product = {.fixed = 1e-6,
                         .per_call = kLaunch_s,
                         .rate = 4.8e13,
                         .half_m = 200,
                         .half_n = 100,
                         .half_k = 64,
                         .exposed = 0.3,
                         .bandwidth = kBandwidth,
                         .cache_bandwidth = kCacheBandwidth,
                         .cache_bytes = kCacheBytes,
                         .per_jump = 0};
    model.part(Part::kGemm, wide) = product;
    model.part(Part::kGett, wide) = product;  // no plan for a device has it
    PartModel narrow = product;
    narrow.half_m = narrow.half_n = 0;
    narrow.half_k = 8;
    narrow.rate = 4e13;
    narrow.bandwidth = 2e12;
    narrow.cache_bandwidth = 4e12;
    model.part(Part::kSmallGemm, wide) = narrow;
    product.half_m = product.half_n = product.half_k = 0;
    product.bandwidth = 2e12;
    product.rate = 5e12;
    model.part(Part::kThinGemm, wide) = product;
    model.part(Part::kGemv, wide) = product;  // nor this
    const PartModel moving = {.fixed = 1e-6,
                              .per_call = kLaunch_s,
                              .rate = wide ? 4e12 : 5e12,
                              .exposed = 0.2,
                              .bandwidth = 2.5e12,
                              .cache_bandwidth = 4e12,
                              .cache_bytes = kCacheBytes,
                              .per_jump = 0};
    model.part(Part::kLoops, wide) = moving;
    model.part(Part::kPermute, wide) = moving;
  }
  // From memory that the system may swap, as users' tensors are.
  model.to_device = {.fixed = 1e-5, .bandwidth = 1e10};
  model.from_device = {.fixed = 1e-5, .bandwidth = 1e10};
  return model;
}

}  // namespace assay::einsum
