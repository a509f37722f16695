// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "lab/run/provenance.h"

namespace assay::cli {
namespace {

constexpr const char* kMainFooter = R"(Examples:
  assay list                              what can be run here
  assay run semiring_matmul --quick       measure one case at its representative points
  assay report results/ --out report.md   what all runs so far say

Exit status: 0 fine, 1 regression, 2 usage or bad input, 3 unresolved, 4 wrong results,
5 environment refused, 130 interrupted.
Documentation: README.md, docs/)";

void add_list(CLI::App& app, ListArguments& a) {
  app.add_option("case", a.cases, "show these cases in full");
  app.add_flag("--json", a.json, "print JSON");
  app.footer(R"(Examples:
  assay list                      every suite, case and provider, and what is available here
  assay list semiring_matmul      its parameters and points)");
}

void add_run(CLI::App& app, RunArguments& a) {
  app.add_option("case", a.cases, "cases to run (see `assay list`), or `all`");
  const std::string what = "What to measure";
  app.add_flag("--quick", a.quick, "representative points, 6 rounds, 0.1 s of steady time")
      ->group(what);
  app.add_option("--points", a.points,
                 "`all`, or JSON: an object or a list of objects; keys not given are the "
                 "representative point's")
      ->group(what);
  app.add_option("--providers", a.providers, "only these, separated by commas")
      ->delimiter(',')
      ->group(what);
  app.add_option("--skip", a.skip, "not these")->delimiter(',')->group(what);
  app.add_option("--platforms", a.platforms, "cpu (default), cuda")->delimiter(',')->group(what);

  const std::string how = "How to measure";
  app.add_option("--rounds", a.rounds, "attempts of each provider at a point (10)")->group(how);
  app.add_option("--steady", a.steady, "steady time of an attempt (0.5s)")->group(how);
  app.add_option("--batches", a.batches, "batches of an attempt (10)")->group(how);
  app.add_option("--warm-up", a.warm_up, "calls before measuring (2)")->group(how);
  app.add_option("--limit", a.limit, "time after which an attempt is killed (600s)")->group(how);
  app.add_option("--memory", a.memory, "memory an attempt may use (80 % of what is free)")
      ->group(how);
  app.add_option("--cpu-slots", a.cpu_slots, "attempts at the same time, on disjoint cores (1)")
      ->group(how);
  app.add_option("--cores", a.cores, "physical cores of an attempt (all over the slots)")
      ->group(how);
  app.add_option("--settle", a.settle, "pause before each attempt, cores held (0s)")->group(how);
  app.add_option("--max-steal", a.max_steal, "steal time that excludes an attempt (2%)")
      ->group(how);
  app.add_option("--tries", a.tries, "tries of an attempt that keeps being excluded (3)")
      ->group(how);
  app.add_option("--seed", a.seed, "of the order of attempts (0)")->group(how);
  app.add_flag("--in-process", a.in_process,
               "inside the runner: fast, and never compared with isolated rows")
      ->group(how);

  const std::string where = "Where it goes";
  app.add_option("--out", a.out, "journal, or folder for it (results/)")->group(where);
  app.add_option("--resume", a.resume, "continue this run: its id, or its journal")->group(where);
  app.add_option("--store", a.store, "also ingest into this store, e.g. sqlite:results/assay.db")
      ->group(where);
  app.add_option("--trace", a.trace, "write a Perfetto trace of each attempt into this folder")
      ->group(where);
  app.add_option("--label", a.label, "a word about this run, kept in its rows")->group(where);
  app.add_flag("--dry-run", a.dry_run, "print the plan and stop")->group(where);
  app.add_flag("--json", a.json, "print the results as JSON")->group(where);
  app.footer(R"(Examples:
  assay run semiring_matmul --quick
  assay run semiring_matmul --points '{"n":1024,"algebra":"log"}' --rounds 20
  assay run all --quick --dry-run
  assay run dense_matmul --providers naive,openblas --cores 1 --store sqlite:results/assay.db
  assay run --resume 20260131T120000.000000Z-abc1234)");
}

void add_report(CLI::App& app, ReportArguments& a) {
  app.add_option("source", a.sources, "journals, folders of journals, stores (results/)");
  app.add_option("--out", a.out, "write the markdown there instead of to standard output");
  app.add_flag("--latest", a.latest, "only the latest run of each provider at each point");
  app.footer(R"(Examples:
  assay report                                 everything under results/
  assay report results/assay.db --latest --out report.md)");
}

// The subcommands of `assay store`, each with the store's URL first.
void add_store(CLI::App& app, StoreArguments& a) {
  const auto action = [&](const char* name, const char* description) {
    auto* sub = app.add_subcommand(name, description);
    sub->add_option("store", a.url, "e.g. sqlite:results/assay.db")->required();
    sub->callback([&a, name] { a.action = name; });
    return sub;
  };
  action("ingest", "take in journals; what is there already is left alone")
      ->add_option("source", a.sources, "journals or folders of journals")
      ->required();
  auto* latest = action("latest", "the latest rows of each provider at each point");
  latest->add_flag("--json", a.json, "print the rows as JSON lines");
  action("prune", "forget all but the newest runs")
      ->add_option("--keep", a.keep, "runs to keep of each provider at each point")
      ->required();
  action("merge", "take in another store")
      ->add_option("source", a.sources, "the other store")
      ->required();
  action("verify", "check every row and the file itself");
  auto* out = action("export", "write the journals back, byte for byte");
  out->add_option("--out", a.out, "folder for the journals, or a file with --run")->required();
  out->add_option("--run", a.run, "only this run");
  action("rebuild", "make the indexed columns anew from the rows")
      ->add_option("source", a.sources, "journals to take in as well");
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay store ingest sqlite:results/assay.db results/
  assay store verify sqlite:results/assay.db
  assay store export sqlite:results/assay.db --out journals/)");
}

void add_doctor(CLI::App& app, DoctorArguments& a) {
  app.add_flag("--json", a.json, "print JSON");
  app.add_flag("--peaks", a.peaks, "measure this machine's ceilings, and keep them");
  app.footer(R"(Examples:
  assay doctor          what this machine is, how noisy it is, what the harness costs
  assay doctor --peaks  its ceilings as well (some 20 s): rows then tell their fraction of them)");
}

void add_chip(CLI::App& app, ChipArguments& a) {
  const auto action = [&](CLI::App& in, const char* name, const char* description) {
    auto* sub = in.add_subcommand(name, description);
    sub->add_flag("--json", a.json, "print JSON");
    sub->callback([&a, name] { a.action = name; });
    return sub;
  };
  const auto gemm = [&](CLI::App* sub) {
    sub->add_option("--topology", a.topology, "file that describes the chip (the default chip)");
    sub->add_option("--gemm", a.gemm, "MxKxN")->required();
    sub->add_option("--variant", a.variant, "ref_ref, load_ref (default), load_load");
    sub->add_option("--order", a.order, "loops over tiles, outer to inner (mnk)");
    sub->add_option("--multicast", a.multicast, "elements that share each tile of B (1)");
  };
  auto* run = action(app, "run", "simulate a matrix product");
  gemm(run);
  run->add_option("--trace", a.trace, "write a trace for Perfetto there");
  gemm(action(app, "explain", "closed form beside simulation, stage by stage"));
  auto* collective = action(app, "collective", "simulate a collective on a network of chips");
  collective->add_option("--topology", a.topology, "file that describes the network");
  collective->add_option("--network", a.network,
                         "ring, fully_connected, switch, torus:4x4, mesh:4x4, fat_tree:4x4x2");
  collective->add_option("--ranks", a.ranks, "ranks, where the network does not tell");
  collective->add_option("--collective", a.collective,
                         "all_reduce (default), reduce_scatter, all_gather, all_to_all");
  collective->add_option("--algorithm", a.algorithm,
                         "ring (default), recursive_doubling, halving_doubling, "
                         "double_binary_tree, direct, torus_2d, hierarchical");
  collective->add_option("--bytes", a.bytes, "of the vector, e.g. 1MiB")->required();
  collective->add_option("--bandwidth", a.bandwidth, "of a link, e.g. 50GiB/s");
  collective->add_option("--latency", a.latency, "of a link, e.g. 500ns");
  collective->add_option("--endpoint", a.endpoint, "delay at a rank, e.g. 10ns");
  collective->add_option("--splits", a.splits, "parts done one after another (1)");
  collective->add_option("--contention", a.contention,
                         "fifo (default), fluid, astra, astra-unaware");
  collective->add_option("--trace", a.trace, "write a trace for Perfetto there");
  auto* topology = app.add_subcommand("topology", "look at a topology file");
  topology->require_subcommand(1);
  action(*topology, "check", "read it, refuse what is wrong, say what it amounts to")
      ->add_option("file", a.topology, "the file")
      ->required();
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay chip run --gemm 512x512x512 --variant load_ref --trace gemm.json
  assay chip explain --gemm 256x256x256
  assay chip collective --network torus:4x4 --algorithm torus_2d --bytes 1MiB
  assay chip topology check examples/chip/default.toml)");
}

void add_transport(CLI::App& app, TransportArguments& a) {
  const auto common = [&a](CLI::App& sub) {
    sub.add_option("--output", a.output, "file to write: .nc, .h5 or .npz");
    sub.add_option("--threads", a.threads, "cases solved at the same time (1)");
    sub.add_option("--batch", a.batch, "cases between two journal entries (32)");
    sub.add_option("--method", a.method, "auto, dense, structured, parity or mixed");
    sub.add_flag("--plot", a.plot, "draw a panel beside the output (.png)");
    sub.add_flag("--verbose", a.verbose, "say on standard error what is being done");
    sub.add_flag("--json", a.json, "print JSON");
  };
  const auto action = [&](const char* name, const char* description) {
    auto* sub = app.add_subcommand(name, description);
    sub->callback([&a, name] { a.action = name; });
    return sub;
  };
  app.add_option("input", a.input, "input file (TOML)");
  common(app);
  auto* scan = action("scan", "solve every case of the file's lists; resumes what was interrupted");
  scan->add_option("input", a.input, "input file (TOML)")->required();
  scan->add_option("--journal", a.journal, "where finished cases are kept (OUTPUT.journal)");
  common(*scan);
  auto* inspect = action("inspect", "the surface, its fields and what a solve would cost");
  inspect->add_option("input", a.input, "input file (TOML)")->required();
  inspect->add_flag("--json", a.json, "print JSON");
  auto* converge = action("converge", "raise the grid until the coefficients stop changing");
  converge->add_option("input", a.input, "input file, or the name of a built-in surface")
      ->required();
  converge->add_option("--nu", a.nu, "collisionality nu/v [1/m], in place of the file's");
  converge->add_option("--er", a.er, "radial field E_r/v [T], in place of the file's");
  converge->add_option("--tolerance", a.tolerance, "relative change that counts as small (0.01)");
  converge->add_option("--max-points", a.max_points, "largest n_theta*n_zeta (2500)");
  converge->add_option("--max-xi", a.max_xi, "largest n_xi (400)");
  common(*converge);
  auto* database = action("database", "coefficients over an equilibrium, as NEOPAX reads them");
  database->add_option("--wout", a.wout, "VMEC file")->required();
  database->add_option("--booz", a.booz, "Boozer file, for the surfaces (else VMEC angles)");
  database->add_option("--rho", a.rho_list, "radii, separated by commas")
      ->delimiter(',')
      ->required();
  database->add_option("--nu", a.nu_list, "nu/v [1/m]")->delimiter(',')->required();
  database->add_option("--er", a.er_list, "Er_tilde")->delimiter(',')->required();
  database->add_option("--grid", a.grid, "n_theta x n_zeta x n_xi (25x25x60)");
  database->add_option("--device", a.device, "cpu (default) or cuda");
  common(*database);
  app.footer(R"(Examples:
  assay transport examples/w7x.toml --output run.nc --plot
  assay transport scan examples/w7x_scan.toml --threads 2 --output scan.h5
  mpirun -n 2 assay transport scan examples/w7x_scan.toml --output scan.h5
  assay transport converge w7x_eim_sample --nu 1e-3 --er 1e-3
  assay transport database --wout wout.nc --rho 0.25,0.5 --nu 1e-4,1e-3 --er 0,1e-3 --output Dij.h5)");
}

void add_einsum(CLI::App& app, EinsumArguments& a) {
  app.add_option("expression", a.expression, "e.g. 'bij,bjk->bik'; a label is a letter or {n}");
  app.add_option("--shapes", a.shapes, "of the operands, e.g. 512x512,512x512 (scalar: `scalar`)")
      ->delimiter(',');
  app.add_option("--operands", a.operands, ".npy files instead, one for each operand");
  app.add_option("--out", a.out, "write the result there, as .npy");
  app.add_option("--dtype", a.dtype, "of operands given by --shapes (f32), or of the result");
  app.add_flag("--explain", a.explain, "show the plan");
  app.add_flag("--analyze", a.analyze, "run it and add what was measured to the plan");
  app.add_option("--objective", a.objective, "time (default), mac, flop, write");
  app.add_option("--memory", a.memory, "bound on all tensors alive at once, e.g. 64MiB");
  app.add_option("--backend", a.backend, "blas (default), reference");
  app.add_option("--exact-limit", a.exact_limit, "terms that are searched exactly (16)");
  app.add_option("--tries", a.tries, "of the random greedy search beyond that (128)");
  app.add_option("--seed", a.seed, "of the search and of generated operands (0)");
  app.add_option("--calibration", a.calibration, "file of `calibrate` (the one of this machine)");
  const auto common = [&](CLI::App* sub) {
    sub->add_flag("--json", a.json, "print JSON");
    sub->add_option("--threads", a.threads, "cores to use (all)");
    return sub;
  };
  common(&app);
  const auto action = [&](const char* name, const char* description) {
    auto* sub = common(app.add_subcommand(name, description));
    sub->callback([&a, name] { a.action = name; });
    return sub;
  };
  action("calibrate", "measure the kernels here, so that plans know how long things take")
      ->add_option("--out", a.out, "file (one for this machine in the cache folder)");
  const auto decomposition = [&](const char* name, const char* description) {
    auto* sub = action(name, description);
    sub->add_option("tensor", a.tensor, ".npy file")->required();
    sub->add_option("--rank,--ranks", a.ranks, "one, or one for each mode")->delimiter(',');
    sub->add_option("--out", a.out, "prefix of the .npy files with the parts");
    return sub;
  };
  auto* cp = decomposition("cp", "canonical polyadic decomposition");
  cp->add_option("--sweeps", a.sweeps, "at most (200)");
  cp->add_option("--restarts", a.restarts, "further random starts (0)");
  cp->add_option("--init", a.init, "svd (default), random");
  cp->add_option("--seed", a.seed, "of random starts (0)");
  cp->add_flag("--nonnegative", a.nonnegative, "factors of no negative entries");
  auto* tucker = decomposition("tucker", "Tucker decomposition");
  tucker->add_option("--tolerance", a.tolerance, "relative error, instead of ranks");
  tucker->add_option("--method", a.method, "hosvd, sthosvd, hooi (default)");
  decomposition("tt", "tensor train")
      ->add_option("--tolerance", a.tolerance, "relative error, instead of ranks");
  auto* mp2 = action("mp2", "density-fitted MP2 correlation energy");
  mp2->add_option("--b", a.b, ".npy of B, occupied x virtual x auxiliary");
  mp2->add_option("--occupied", a.occupied, ".npy of the occupied orbital energies");
  mp2->add_option("--virtual", a.virtuals, ".npy of the virtual ones");
  mp2->add_option("--synthetic", a.synthetic, "nocc,nvir,naux: a problem with known energies")
      ->delimiter(',');
  mp2->add_option("--chain", a.chain, "hydrogen chain of so many atoms");
  mp2->add_option("--spacing", a.spacing, "of the chain, in bohr (1.4)");
  mp2->add_option("--basis", a.basis, "of the chain: sto-3g (default), 6-31g");
  mp2->add_option("--frozen-occupied", a.frozen_occupied, "lowest orbitals left out (0)");
  mp2->add_option("--frozen-virtual", a.frozen_virtual, "highest orbitals left out (0)");
  app.require_subcommand(0, 1);
  app.footer(R"(Examples:
  assay einsum 'ij,jk->ik' --shapes 512x512,512x512 --explain --analyze
  assay einsum 'ij,jk->ik' --operands a.npy b.npy --out c.npy
  assay einsum calibrate
  assay einsum cp x.npy --rank 4 --out parts
  assay einsum mp2 --chain 10 --spacing 1.8 --basis 6-31g)");
}

}  // namespace

std::variant<Command, int> parse_arguments(int argc, char** argv) {
  CLI::App app("Assay, a laboratory for tensor programs.", "assay");
  app.set_version_flag("--version", "assay " + lab::version());
  app.footer(kMainFooter);
  app.require_subcommand(1);

  ListArguments list;
  RunArguments run;
  ReportArguments report;
  StoreArguments store;
  DoctorArguments doctor;
  ChipArguments chip;
  TransportArguments transport;
  EinsumArguments einsum;
  auto* list_app =
      app.add_subcommand("list", "suites, cases, points, providers, and what is available here");
  auto* run_app = app.add_subcommand(
      "run", "measure: each provider in processes of its own, judged, one row each");
  auto* report_app = app.add_subcommand("report", "a markdown report from rows");
  auto* store_app = app.add_subcommand("store", "a database of many runs");
  auto* doctor_app = app.add_subcommand("doctor", "what this machine is, and its noise");
  auto* chip_app = app.add_subcommand("chip", "the accelerator simulator, used directly");
  auto* transport_app =
      app.add_subcommand("transport", "the drift-kinetic solver for flux surfaces, used directly");
  add_list(*list_app, list);
  add_run(*run_app, run);
  add_report(*report_app, report);
  add_store(*store_app, store);
  add_doctor(*doctor_app, doctor);
  add_chip(*chip_app, chip);
  add_transport(*transport_app, transport);
  add_einsum(*app.add_subcommand("einsum", "tensor contractions and decompositions, used directly"),
             einsum);

  // CLI11 would only say that a subcommand is missing.
  const auto is_first = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::ranges::none_of(app.get_subcommands({}), is_first)) {
    fail("unknown command (see assay --help): '{}'", argv[1]);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // help and version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    std::ranges::replace(message, '\n', ' ');
    throw UserError(message + " (see assay --help)");
  }
  if (list_app->parsed()) return Command(list);
  if (run_app->parsed()) return Command(run);
  if (report_app->parsed()) return Command(report);
  if (store_app->parsed()) return Command(store);
  if (chip_app->parsed()) return Command(chip);
  if (transport_app->parsed()) return Command(transport);
  if (app.got_subcommand("einsum")) return Command(einsum);
  return Command(doctor);
}

}  // namespace assay::cli
