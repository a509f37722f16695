// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/error.h"
#include "base/json.h"
#include "base/names.h"
#include "cli/commands.h"
#include "cli/engines/einsum.h"
#include "cli/engines/einsum_device.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tensor_train.h"
#include "einsum/decompose/tucker.h"
#include "einsum/mp2/hydrogen.h"
#include "einsum/mp2/mp2.h"
#include "einsum/mp2/mp2_synthetic.h"
#include "tensor/npy.h"

namespace assay::cli {
namespace {

constexpr auto kInits = make_names<einsum::CpInit>(
    {{einsum::CpInit::kSvd, "svd"}, {einsum::CpInit::kRandom, "random"}});
constexpr auto kTuckerMethods =
    make_names<einsum::TuckerMethod>({{einsum::TuckerMethod::kHosvd, "hosvd"},
                                      {einsum::TuckerMethod::kStHosvd, "sthosvd"},
                                      {einsum::TuckerMethod::kHooi, "hooi"}});

void show(const EinsumArguments& a, const Json& json, const std::string& text) {
  std::fputs((a.json ? pretty_json(json) + "\n" : text).c_str(), stdout);
}

// Writes PREFIX.NAME.npy where a prefix was given.
void write_part(const EinsumArguments& a, const std::string& name, const Tensor& tensor) {
  if (!a.out.empty()) write_npy(fmt::format("{}.{}.npy", a.out, name), tensor.view());
}

std::vector<std::int64_t> ranks_for(const EinsumArguments& a, std::size_t count) {
  if (a.ranks.size() == 1) return std::vector<std::int64_t>(count, a.ranks[0]);
  return a.ranks;
}

std::vector<double> energies_of(const std::string& path, const char* flag) {
  if (path.empty()) fail("mp2: --b needs {} with the orbital energies", flag);
  const Tensor values = Tensor::converted(NpyFile(path).view(), DType::kF64);
  return {values.as<double>().begin(), values.as<double>().end()};
}

int chain_atoms(const std::string& text) {
  int atoms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), atoms);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail("--chain is a number of atoms, not '{}'", text);
  }
  return atoms;
}

}  // namespace

int decompose_cp(const EinsumArguments& a) {
  if (a.ranks.size() != 1) fail("cp: --rank is one number, not {}", a.ranks.size());
  if (a.restarts < 0) fail("--restarts is at least 0, not {}", a.restarts);
  const auto init = kInits.find(a.init);
  if (!init) fail("--init is svd or random, not '{}'", a.init);
  const einsum::CpOptions options{.rank = a.ranks[0],
                                  .max_sweeps = a.sweeps,
                                  .init = *init,
                                  .restarts = a.restarts,
                                  .nonnegative = a.nonnegative,
                                  .seed = a.seed};
  const NpyFile file(a.tensor);
  const auto d = place_of(a) == EinsumPlace::kProcessor ? einsum::cp(file.view(), options)
                                                        : cp_on_device(file.view(), options);
  write_part(a, "weights", d.weights);
  for (std::size_t m = 0; m < d.factors.size(); ++m) {
    write_part(a, fmt::format("factor{}", m), d.factors[m]);
  }
  show(a,
       {{"fit", d.fit},
        {"relative_error", d.relative_error},
        {"stop", name_of(d.stop)},
        {"sweeps", d.sweeps},
        {"congruence", d.congruence},
        {"degenerate", d.degenerate},
        {"truncated_solves", d.truncated},
        {"ridge_solves", d.ridged},
        {"trace", d.trace}},
       fmt::format("fit {:.10f}, relative error {:.4e}, {} sweeps: {}\n{}", d.fit, d.relative_error,
                   d.sweeps, name_of(d.stop),
                   d.degenerate
                       ? fmt::format("degenerate: two components cancel (cosine {:.4f}) with "
                                     "growing weights; no best approximation may exist\n",
                                     d.congruence)
                       : ""));
  return kFine;
}

int decompose_tucker(const EinsumArguments& a) {
  const NpyFile file(a.tensor);
  einsum::TuckerOptions options;
  options.ranks = ranks_for(a, file.view().rank());
  options.tolerance = a.tolerance;
  const auto method = kTuckerMethods.find(a.method);
  if (!method) fail("--method is hosvd, sthosvd or hooi, not '{}'", a.method);
  options.method = *method;
  const auto d = place_of(a) == EinsumPlace::kProcessor ? einsum::tucker(file.view(), options)
                                                        : tucker_on_device(file.view(), options);
  write_part(a, "core", d.core);
  for (std::size_t m = 0; m < d.factors.size(); ++m) {
    write_part(a, fmt::format("factor{}", m), d.factors[m]);
  }
  show(a,
       {{"relative_error", d.relative_error},
        {"core", d.core.shape().extents()},
        {"sweeps", d.sweeps}},
       fmt::format("core {}, relative error {:.10e}, {} sweeps\n", d.core.shape().to_string(),
                   d.relative_error, d.sweeps));
  return kFine;
}

int decompose_train(const EinsumArguments& a) {
  const NpyFile file(a.tensor);
  const auto modes = file.view().rank();
  const auto d = einsum::tensor_train(
      file.view(),
      {.ranks = modes > 1 ? ranks_for(a, modes - 1) : a.ranks, .tolerance = a.tolerance});
  std::vector<std::int64_t> ranks;
  for (std::size_t k = 0; k < d.cores.size(); ++k) {
    write_part(a, fmt::format("core{}", k), d.cores[k]);
    if (k > 0) ranks.push_back(d.cores[k].shape()[0]);
  }
  show(a, {{"relative_error", d.relative_error}, {"ranks", ranks}},
       fmt::format("ranks {}, relative error {:.10e}\n", fmt::join(ranks, ","), d.relative_error));
  return kFine;
}

int mp2(const EinsumArguments& a) {
  if (!a.b.empty() + !a.synthetic.empty() + !a.chain.empty() != 1) {
    fail("mp2: one of --b, --synthetic and --chain says what to compute");
  }
  const auto options = engine_options(a);
  const einsum::Mp2Options mp2_options{a.frozen_occupied, a.frozen_virtual, options.threads};
  const auto energy_of = [&](const TensorView& b, std::span<const double> occupied,
                             std::span<const double> virtuals) {
    return place_of(a) == EinsumPlace::kProcessor
               ? einsum::mp2_energy(b, occupied, virtuals, mp2_options)
               : mp2_on_device(b, occupied, virtuals, mp2_options);
  };
  einsum::Mp2Energy e;
  Json json = Json::object();
  std::string text;
  if (!a.synthetic.empty()) {
    if (a.synthetic.size() != 3)
      fail("--synthetic is nocc,nvir,naux, not {} numbers", a.synthetic.size());
    for (const auto n : a.synthetic) {
      if (n < 1) fail("--synthetic: sizes are at least 1, not {}", n);
    }
    const auto s = einsum::synthetic_mp2(a.synthetic[0], a.synthetic[1], a.synthetic[2]);
    e = energy_of(s.b.view(), s.occupied, s.virtuals);
  } else if (!a.chain.empty()) {
    const auto field = einsum::solve_mean_field(
        {chain_atoms(a.chain), a.spacing, einsum::hydrogen_basis_from_name(a.basis)});
    einsum::Engine engine(options);
    const auto c = field.coefficients.view();
    const auto o = static_cast<std::int64_t>(field.occupied);
    const auto b =
        einsum::ao_to_mo(engine, field.b.view(), c.slice(1, 0, o), c.slice(1, o, c.extent(1)));
    const std::span energies(field.orbital_energies);
    e = energy_of(b.view(), energies.first(static_cast<std::size_t>(o)),
                  energies.subspan(static_cast<std::size_t>(o)));
    json["scf"] = field.energy;
    text = fmt::format("SCF           {:.12f}\n", field.energy);
  } else {
    e = energy_of(NpyFile(a.b).view(), energies_of(a.occupied, "--occupied"),
                  energies_of(a.virtuals, "--virtual"));
  }
  json.update({{"mp2", e.total}, {"opposite_spin", e.opposite_spin}, {"same_spin", e.same_spin}});
  text += fmt::format("MP2           {:.15g}\nopposite spin {:.15g}\nsame spin     {:.15g}\n",
                      e.total, e.opposite_spin, e.same_spin);
  show(a, json, text);
  return kFine;
}

}  // namespace assay::cli
