// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/equilibrium.h"

#include <cmath>

#include "transport/files/booz.h"
#include "transport/files/vmec.h"
#include "transport/surface/surface_text.h"

namespace assay::transport {
namespace {

Surface load_vmec(const SurfaceRequest& request) {
  auto s = read_vmec(request.path, request.psi_n.value());
  if (request.minor_radius) {
    s.psi_prime *= s.minor_radius / *request.minor_radius;
    s.minor_radius = *request.minor_radius;
  }
  if (request.psi_prime) s.psi_prime = std::abs(*request.psi_prime);  // r points outward
  return s;
}

}  // namespace

std::vector<std::string> files_of(const SurfaceRequest& request) {
  std::vector<std::string> files;
  const auto beside = request.type == "booz" ? wout_beside(request.path) : "";
  for (const auto& file : {request.path, request.wout, beside}) {
    if (!file.empty()) files.push_back(file);
  }
  return files;
}

Surface load_surface(const SurfaceRequest& request) {
  Surface s = request.spelled          ? *request.spelled
              : request.type == "dkes" ? read_dkes(request.path)
              : request.type == "text" ? read_surface_text(request.path)
              : request.type == "vmec" ? load_vmec(request)
              : request.type == "booz"
                  ? read_booz(request.path, request.psi_n.value(),
                              {request.psi_prime, request.minor_radius, request.wout})
                  : builtin_surface(request.type);
  const bool equilibrium = request.type == "vmec" || request.type == "booz";
  if (request.psi_prime && !equilibrium) s.psi_prime = *request.psi_prime;
  if (request.psi_n && s.psi_n == 0) s.psi_n = *request.psi_n;
  if (request.min_bmn > 0) drop_small_modes(s, request.min_bmn);
  validate(s);
  return s;
}

}  // namespace assay::transport
