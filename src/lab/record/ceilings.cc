// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/ceilings.h"

#include <charconv>

#include "base/error.h"
#include "base/machine_files.h"

namespace assay::lab {
namespace {

constexpr std::string_view kRead = "read_";
constexpr std::string_view kCeilingsFile = "ceilings";  // among the machine's files

double positive_number(const Json& object, const char* key, std::string_view what) {
  const auto value = object.value(key, Json());
  if (!value.is_number() || !(value.get<double>() > 0)) {
    fail("{}: '{}' must be a positive number, got {}", what, key, canonical_json(value));
  }
  return value.get<double>();
}

}  // namespace

Ceilings::Device Ceilings::device_from_json(const Json& json, std::string_view what) {
  const auto field = [&](const char* key) {
    return json.is_object() ? json.value(key, Json()) : Json();
  };
  if (!field("name").is_string() || !field("rates").is_object()) {
    fail("{}: a device must have 'name' and 'rates', got {}", what, canonical_json(json));
  }
  Device device{json["name"].get<std::string>(), {}};
  for (const auto& [name, value] : json["rates"].items()) {
    device.rates[name] = positive_number(json["rates"], name.c_str(), what);
  }
  return device;
}

std::optional<double> Ceilings::rate(std::string_view name, int cores) const {
  std::optional<double> of_one;
  for (const auto& group : groups) {
    const auto it = group.rates.find(std::string(name));
    if (it == group.rates.end()) continue;
    if (group.cores == cores) return it->second;
    if (group.cores == 1) of_one = it->second * cores;
  }
  return of_one;
}

std::optional<Ceilings> Ceilings::on_device(std::string_view name, int cores) const {
  for (const auto& device : devices) {
    if (device.name != name) continue;
    Ceilings own{measured, device.name, {}, {}};
    // The device's rates are what they are, however many cores ask it to work.
    own.groups.push_back({1, 0, device.rates});
    if (cores != 1) own.groups.push_back({cores, 0, device.rates});
    return own;
  }
  return std::nullopt;
}

std::optional<Ceilings::ProductTime> Ceilings::product_time(double multiply_adds,
                                                            std::string_view dtype,
                                                            int cores) const {
  const auto by = [&](const std::string& name, double products) -> std::optional<ProductTime> {
    const auto found = rate(name, cores);
    if (!found) return std::nullopt;
    return ProductTime{products * multiply_adds / *found, name};
  };
  if (!of_device()) return by(fmt::format("fma_{}", dtype), 1);
  const auto plain = by(fmt::format("gemm_{}", dtype), 1);
  if (dtype != "f32") return plain;
  const auto split = by("gemm_tf32", 3);
  return split && (!plain || split->seconds < plain->seconds) ? split : plain;
}

std::optional<double> Ceilings::read_rate(double bytes, int cores) const {
  std::string best;
  double best_size = 0;
  for (const auto& group : groups) {
    for (const auto& [name, value] : group.rates) {
      if (!name.starts_with(kRead)) continue;
      double size = 0;
      std::from_chars(name.data() + kRead.size(), name.data() + name.size(), size);
      const bool fits = size >= bytes, best_fits = best_size >= bytes;
      // The smallest that is large enough; failing that, the largest.
      if (best.empty() || (fits && (!best_fits || size < best_size)) ||
          (!fits && !best_fits && size > best_size)) {
        best = name;
        best_size = size;
      }
    }
  }
  return best.empty() ? std::nullopt : rate(best, cores);
}

int Ceilings::operations(std::string_view name) {
  const auto is = [&](std::string_view loop) { return name.starts_with(loop); };
  return is("sub_fma_") ? 3 : is("fma_") || is("add_max") || is("gemm_") ? 2 : 1;
}

Json Ceilings::to_json() const {
  Json list = Json::array();
  for (const auto& group : groups) {
    list.push_back({{"cores", group.cores}, {"clock_hz", group.clock_hz}, {"rates", group.rates}});
  }
  Json json = {{"measured", measured}, {"instruction_set", instruction_set}, {"groups", list}};
  for (const auto& device : devices) {
    json["devices"].push_back({{"name", device.name}, {"rates", device.rates}});
  }
  return json;
}

Ceilings Ceilings::from_json(const Json& json, std::string_view what) {
  const auto groups = json.is_object() ? json.value("groups", Json()) : Json();
  if (!groups.is_array()) fail("{}: no list of 'groups'", what);
  Ceilings c;
  const auto text = [&](const char* key) {
    const auto value = json.value(key, Json());
    if (!value.is_string()) fail("{}: '{}' must be text, got {}", what, key, canonical_json(value));
    return value.get<std::string>();
  };
  c.measured = text("measured");
  c.instruction_set = text("instruction_set");
  for (const auto& from : groups) {
    if (!from.is_object() || !from.value("rates", Json()).is_object()) {
      fail("{}: a group must have 'rates', got {}", what, canonical_json(from));
    }
    Group group;
    group.cores = static_cast<int>(positive_number(from, "cores", what));
    group.clock_hz = positive_number(from, "clock_hz", what);
    for (const auto& [name, value] : from["rates"].items()) {
      group.rates[name] = positive_number(from["rates"], name.c_str(), what);
    }
    c.groups.push_back(std::move(group));
  }
  for (const auto& from : json.value("devices", Json::array())) {
    c.devices.push_back(device_from_json(from, what));
  }
  return c;
}

std::optional<Ceilings> load_ceilings(std::string_view fingerprint) {
  const auto stored = load_machine_file(fingerprint, kCeilingsFile);
  if (!stored) return std::nullopt;
  return Ceilings::from_json(*stored, machine_file(fingerprint, kCeilingsFile));
}

std::string save_ceilings(std::string_view fingerprint, const Ceilings& ceilings) {
  return save_machine_file(fingerprint, kCeilingsFile, ceilings.to_json());
}

}  // namespace assay::lab
