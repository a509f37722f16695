// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The engines, used directly.
#include <CLI/CLI.hpp>

#include "base/names.h"
#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_chip(CLI::App& app, ChipArguments& a) {
  using Action = ChipArguments::Action;
  const auto action = [&](CLI::App& in, Action value, const char* name, const char* description,
                          const char* examples) {
    auto* sub = in.add_subcommand(name, description);
    sub->add_flag("--json", a.json, "print JSON");
    sub->callback([&a, value] { a.action = value; });
    sub->footer(std::string("Examples:\n") + examples);
    return sub;
  };
  const auto gemm = [&](CLI::App* sub, bool is_required) {
    sub->add_option("--topology", a.topology, "file that describes the chip (the default chip)");
    sub->add_option("--gemm", a.gemm, "MxKxN")->required(is_required);
  };
  const auto staged = [&](CLI::App* sub) {
    gemm(sub, true);
    sub->add_option("--variant", a.variant, "ref_ref, load_ref (default), load_load");
    sub->add_option("--order", a.order, "loops over tiles, outer to inner (mnk)");
    sub->add_option("--multicast", a.multicast, "elements that share each tile of B (1)");
  };
  auto* run = action(app, Action::kRun, "run", "simulate a matrix product",
                     "  assay chip run --gemm 512x512x512 --variant load_ref --trace gemm.json\n"
                     "  assay chip run --gemm 256x256x256 --window pe:0+load --op-log ops.csv");
  staged(run);
  run->add_option("--window", a.window,
                  "what is measured: composite (default), pe:N; with the up-front load: +load");
  run->add_option("--trace", a.trace, "write a trace for Perfetto there");
  run->add_option("--op-log", a.op_log, "write every operation there, as CSV");
  staged(action(app, Action::kExplain, "explain", "closed form beside simulation, stage by stage",
                "  assay chip explain --gemm 256x256x256 --variant ref_ref"));
  auto* collective =
      action(app, Action::kCollective, "collective", "simulate a collective on a network of chips",
             "  assay chip collective --network torus:4x4 --algorithm bidirectional_torus "
             "--bytes 64MiB\n"
             "  assay chip collective --network switch --ranks 8 --algorithm double_binary_tree "
             "--segments 16 --bytes 1MiB");
  collective->add_option("--topology", a.topology, "file that describes the network");
  collective->add_option("--network", a.network,
                         "ring, fully_connected, switch, torus:4x4, mesh:4x4, fat_tree:4x4x2");
  collective->add_option("--ranks", a.ranks, "number of ranks, if the network does not say");
  collective->add_option("--collective", a.collective,
                         "all_reduce (default), reduce_scatter, all_gather, all_to_all");
  collective->add_option("--algorithm", a.algorithm,
                         "ring (default), recursive_doubling, halving_doubling, "
                         "double_binary_tree, direct, torus_2d, hierarchical, "
                         "bidirectional_ring, bidirectional_torus");
  collective->add_option("--bytes", a.bytes, "of the vector, e.g. 1MiB")->required();
  collective->add_option("--bandwidth", a.bandwidth, "of a link, e.g. 50GiB/s");
  collective->add_option("--latency", a.latency, "of a link, e.g. 500ns");
  collective->add_option("--endpoint", a.endpoint, "delay at a rank, e.g. 10ns");
  collective->add_option("--splits", a.splits, "parts done one after another (1)");
  collective->add_option("--segments", a.segments, "per tree of double_binary_tree (chosen)");
  collective->add_option("--group", a.group, "ranks per group of hierarchical (chosen)");
  collective->add_option("--contention", a.contention,
                         "fifo (default), fluid, astra, astra-unaware");
  collective->add_option("--trace", a.trace, "write a trace for Perfetto there");
  auto* systolic = action(app, Action::kSystolic, "systolic", "cycles of a systolic array",
                          "  assay chip systolic --gemm 128x128x128\n"
                          "  assay chip systolic --scalesim-topology alexnet.csv "
                          "--scalesim-config scale.cfg");
  gemm(systolic, false);
  systolic->add_option("--scalesim-topology", a.scalesim_topology,
                       "layers in SCALE-Sim's form, instead of --gemm");
  systolic->add_option("--scalesim-config", a.scalesim_config,
                       "array and dataflow in SCALE-Sim's form (those of the topology)");
  auto* topology = app.add_subcommand("topology", "look at a topology file");
  topology->require_subcommand(1);
  topology->footer("Examples:\n  assay chip topology check examples/chip/default.toml");
  action(*topology, Action::kCheckTopology, "check",
         "read it, refuse what is wrong, say what it amounts to",
         "  assay chip topology check examples/chip/default.toml")
      ->add_option("file", a.topology, "the file")
      ->required();
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay chip run --gemm 512x512x512 --variant load_ref --trace gemm.json
  assay chip explain --gemm 256x256x256
  assay chip collective --network torus:4x4 --algorithm torus_2d --bytes 1MiB
  assay chip systolic --gemm 128x128x128
  assay chip topology check examples/chip/default.toml)");
}

constexpr auto kTransportActions = make_names<TransportArguments::Action>({
    {TransportArguments::Action::kRun, "run"},
    {TransportArguments::Action::kScan, "scan"},
    {TransportArguments::Action::kInspect, "inspect"},
    {TransportArguments::Action::kConverge, "converge"},
    {TransportArguments::Action::kDatabase, "database"},
    {TransportArguments::Action::kProfiles, "profiles"},
    {TransportArguments::Action::kSolve, "solve"},
});

std::string_view name_of(TransportArguments::Action action) { return kTransportActions[action]; }

void add_transport(CLI::App& app, TransportArguments& a) {
  const auto solver = [&a](CLI::App& sub) {
    sub.add_option("--method", a.method, "auto, dense, structured, parity or mixed");
    sub.add_flag("--json", a.json, "print JSON");
    sub.add_flag("--strict", a.strict, "warnings about the numbers are exit status 3");
  };
  const auto is_something = [](const std::string& text) {
    return text.empty() ? std::string("nothing was given") : std::string();
  };
  const auto many = [&](CLI::App& sub) {
    sub.add_option("--output", a.output, "file to write: .nc, .h5 or .npz");
    sub.add_option("--threads", a.threads, "cases solved at the same time (all cores)");
    sub.add_option("--batch", a.batch,
                   "most cases that MPI's ranks are given at a time (32), or that are on a device "
                   "at a time (as many as it has room for)");
    sub.add_option("--device", a.device, "cpu (default) or cuda: an NVIDIA GPU, all cases at once");
    solver(sub);
  };
  const auto run = [&](CLI::App& sub) {
    many(sub);
    sub.add_flag("--plot", a.plot, "draw a panel beside the output (.png)");
    sub.add_flag("--verbose", a.verbose, "say on standard error what is being done");
  };
  const auto normalised = [&a](CLI::App& sub) {
    sub.add_option("--normalisation", a.normalisation,
                   "print coefficients as dkes, monkes or sfincs have them as well");
  };
  const auto limits = [&](CLI::App& sub) {
    sub.add_option("--max-points", a.max_points, "largest n_theta*n_zeta (2500)");
    sub.add_option("--max-xi", a.max_xi, "largest n_xi (400)");
  };
  // Lists are numbers and ranges: 0,1e-5:1e-2:7log.
  const auto list = [&](CLI::App& sub, const char* name, std::vector<std::string>& values,
                        const char* description) {
    sub.add_option(name, values, description)->type_name("LIST");
  };
  const auto accuracy = [&](CLI::App& sub) {
    sub.add_option("--accuracy", a.accuracy,
                   "choose the grid of each case for this relative error, e.g. 1%")
        ->check(is_something);
    limits(sub);
  };
  const auto jobs = [&](CLI::App& sub) {
    add_executor_options(sub, a.cluster,
                         {.executor = "local, or slurm: a job of MPI ranks under srun",
                          .nodes = "nodes of the job (Slurm's choice)",
                          .time = "limit of a job, as sbatch has it; what it finished is kept"});
    sub.add_option("--ranks", a.ranks, "with slurm: processes of the job (one on each of --nodes)")
        ->group("On a cluster (docs/cluster.md)");
  };
  using Action = TransportArguments::Action;
  const auto action = [&](Action value, const char* description, const char* examples) {
    auto* sub = app.add_subcommand(std::string(name_of(value)), description);
    sub->callback([&a, value] { a.action = value; });
    sub->footer(std::string("Examples:\n") + examples);
    return sub;
  };
  app.add_option("input", a.input, "input file (TOML)");
  run(app);
  normalised(app);
  auto* scan =
      action(Action::kScan, "solve every case of the file's lists; resumes what was interrupted",
             "  assay transport scan examples/w7x_scan.toml --output scan.h5\n"
             "  assay transport scan w7x_eim_sample --accuracy 1% --nu 1e-4:1e-1:7log --er 0,1e-3\n"
             "  mpirun -n 2 assay transport scan examples/w7x_scan.toml --output scan.h5\n"
             "  assay transport scan examples/w7x_scan.toml --output scan.h5 --executor slurm "
             "--nodes 4 --ranks 64");
  scan->add_option("input", a.input, "input file (TOML), or the name of a built-in surface")
      ->required();
  list(*scan, "--nu", a.nu_list, "nu/v [1/m], in place of the file's (1e-5:1e2:15log)");
  list(*scan, "--er", a.er_list, "E_r/v [T], in place of the file's (0,1e-5:1e-2:7log)");
  accuracy(*scan);
  scan->add_option("--journal", a.journal, "where finished cases are kept (OUTPUT.journal)");
  run(*scan);
  jobs(*scan);
  normalised(*scan);
  auto* solve =
      action(Action::kSolve, "solve what flags say, without a file",
             "  assay transport solve --surface w7x_eim_sample --nu 1e-3 --er 0 --grid 25x25x60\n"
             "  assay transport solve --surface wout.nc --psi-n 0.25 --nu 1e-4,1e-3 --er 0,1e-3");
  solve
      ->add_option("--surface", a.surface,
                   "a built-in name, or a file: wout, boozmn, ddkes2 or MONKES' text")
      ->required();
  solve->add_option("--psi-n", a.psi_n, "normalised toroidal flux, for wout and boozmn");
  list(*solve, "--nu", a.nu_list, "nu/v [1/m]");
  solve->get_option("--nu")->required();
  list(*solve, "--er", a.er_list, "E_r/v [T] (0)");
  solve->add_option("--grid", a.grid, "n_theta x n_zeta x n_xi (25x25x60)")->check(is_something);
  run(*solve);
  normalised(*solve);
  auto* inspect = action(Action::kInspect, "the surface, its fields and what a solve would cost",
                         "  assay transport inspect examples/w7x.toml");
  inspect->add_option("input", a.input, "input file (TOML)")->required();
  inspect->add_flag("--json", a.json, "print JSON");
  auto* converge = action(Action::kConverge, "raise the grid until the coefficients stop changing",
                          "  assay transport converge w7x_eim_sample --nu 1e-3 --er 1e-3\n"
                          "  assay transport converge examples/w7x.toml --tolerance 0.003");
  converge->add_option("input", a.input, "input file, or the name of a built-in surface")
      ->required();
  converge->add_option("--nu", a.nu, "collisionality nu/v [1/m], in place of the file's");
  converge->add_option("--er", a.er, "radial field E_r/v [T], in place of the file's");
  converge->add_option("--tolerance", a.tolerance, "relative change that counts as small (0.01)");
  limits(*converge);
  solver(*converge);
  auto* database =
      action(Action::kDatabase, "coefficients over an equilibrium, as NEOPAX reads them",
             "  assay transport database --wout wout.nc --rho 0.25,0.5 "
             "--nu 1e-4,1e-3 --er 0,1e-3 --output Dij.h5\n"
             "  assay transport database --wout wout.nc --accuracy 1% --rho 0.1:0.9:5 "
             "--output Dij.h5");
  database->add_option("--wout", a.wout, "VMEC file")->required();
  database->add_option("--booz", a.booz, "Boozer file, for the surfaces (else VMEC angles)");
  list(*database, "--rho", a.rho_list, "radii (0.1:0.9:9)");
  list(*database, "--nu", a.nu_list, "nu/v [1/m] (1e-5:1e2:15log)");
  list(*database, "--er", a.er_list, "Er_tilde (0,1e-5:1e-2:7log)");
  database->add_option("--min-bmn", a.min_bmn, "modes below this share of B_00 are left out (0)");
  accuracy(*database);
  database->add_option("--grid", a.grid, "n_theta x n_zeta x n_xi (25x25x60)")->check(is_something);
  many(*database);
  jobs(*database);
  auto* profiles =
      action(Action::kProfiles, "fluxes, bootstrap current and ambipolar E_r from profiles",
             "  assay transport profiles examples/profiles.toml --output answers.h5 --plot\n"
             "  assay transport profiles plasma.toml --database Dij.h5 --json");
  profiles->add_option("input", a.input, "profiles (TOML)")->required();
  profiles->add_option("--database", a.database, "coefficients, as `database` writes them");
  run(*profiles);
  app.footer(R"(Examples:
  assay transport examples/w7x.toml --output run.nc --plot
  assay transport solve --surface w7x_eim_sample --nu 1e-3 --er 0 --grid 25x25x60
  assay transport scan examples/w7x_scan.toml --threads 2 --output scan.h5
  mpirun -n 2 assay transport scan examples/w7x_scan.toml --output scan.h5
  assay transport converge w7x_eim_sample --nu 1e-3 --er 1e-3
  assay transport database --wout wout.nc --rho 0.25,0.5 --nu 1e-4,1e-3 --er 0,1e-3 --output Dij.h5
  assay transport profiles examples/profiles.toml --output answers.h5 --plot)");
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
  app.add_option("--memory", a.memory,
                 "bound on all tensors and packing alive at once, e.g. 64MiB");
  app.add_option("--backend", a.backend, "blas (default), reference, cuda");
  const auto add_device = [&a](CLI::App& to, const char* what) {
    to.add_option("--device", a.device, what);
  };
  add_device(app,
             "cpu (default), cuda: an NVIDIA GPU, auto: whichever is predicted to be done first "
             "(ASSAY_EINSUM_DEVICE_MIN_FLOP: the GPU from so many operations on)");
  app.add_option("--exact-limit", a.exact_limit, "terms that are searched exactly (16)");
  app.add_option("--tries", a.tries,
                 "of the search beyond that: more take longer and find no worse (128)");
  app.add_option("--budget", a.budget,
                 "seconds for more rounds of that search, the best order is kept (0: one round)");
  const auto set_seed = [&a](std::uint64_t seed) { a.seed = seed; };
  add_seed(app, "of the search and of generated operands (0)", set_seed);
  app.add_option("--calibration", a.calibration, "file of `calibrate` (the one of this machine)");
  const auto common = [&](CLI::App* sub) {
    sub->add_flag("--json", a.json, "print JSON");
    sub->add_option("--threads", a.threads, "cores to use (all)");
    return sub;
  };
  common(&app);
  using Action = EinsumArguments::Action;
  const auto action = [&](Action value, const char* name, const char* description,
                          const char* examples) {
    auto* sub = common(app.add_subcommand(name, description));
    sub->callback([&a, value] { a.action = value; });
    sub->footer(std::string("Examples:\n") + examples);
    return sub;
  };
  auto* calibrate =
      action(Action::kCalibrate, "calibrate",
             "measure the kernels here, so that plans know how long things take",
             "  assay einsum calibrate\n  assay einsum calibrate --threads 1 --out one_core.json\n"
             "  assay einsum calibrate --device cuda");
  calibrate->add_option("--out", a.out, "file (one for this machine in the cache folder)");
  add_device(*calibrate, "cpu (default), cuda: the kernels of an NVIDIA GPU and the way to it");
  const auto decomposition = [&](Action value, const char* name, const char* description,
                                 const char* examples) {
    auto* sub = action(value, name, description, examples);
    sub->add_option("tensor", a.tensor, ".npy file")->required();
    sub->add_option("--ranks,--rank", a.ranks, "one, or one for each mode")->delimiter(',');
    sub->add_option("--out", a.out, "prefix of the .npy files with the parts");
    return sub;
  };
  auto* cp = decomposition(Action::kCp, "cp", "canonical polyadic decomposition",
                           "  assay einsum cp x.npy --rank 4 --out parts\n"
                           "  assay einsum cp x.npy --rank 7 --init random --restarts 30");
  cp->add_option("--sweeps", a.sweeps, "at most (200)");
  cp->add_option("--restarts", a.restarts, "further random starts (0)");
  cp->add_option("--init", a.init, "svd (default), random");
  add_seed(*cp, "of random starts (0)", set_seed);
  cp->add_flag("--nonnegative", a.nonnegative, "factors without negative entries");
  auto* tucker = decomposition(Action::kTucker, "tucker", "Tucker decomposition",
                               "  assay einsum tucker x.npy --ranks 4,4,8 --out parts\n"
                               "  assay einsum tucker x.npy --tolerance 1e-3 --method sthosvd");
  for (auto* on_device : {cp, tucker}) {
    add_device(*on_device, "cpu (default), cuda: products with the tensor on an NVIDIA GPU");
  }
  tucker->add_option("--tolerance", a.tolerance, "relative error, instead of ranks")
      ->excludes("--ranks");
  tucker->add_option("--method", a.method, "hosvd, sthosvd, hooi (default)");
  decomposition(Action::kTensorTrain, "tt", "tensor train",
                "  assay einsum tt x.npy --ranks 8 --out parts\n"
                "  assay einsum tt x.npy --tolerance 1e-6")
      ->add_option("--tolerance", a.tolerance, "relative error, instead of ranks")
      ->excludes("--ranks");
  auto* mp2 = action(Action::kMp2, "mp2", "density-fitted MP2 correlation energy",
                     "  assay einsum mp2 --b b.npy --occupied eo.npy --virtual ev.npy\n"
                     "  assay einsum mp2 --chain 10 --spacing 1.8 --basis 6-31g");
  mp2->add_option("--b", a.b, ".npy of B, occupied x virtual x auxiliary");
  mp2->add_option("--occupied", a.occupied, ".npy of the occupied orbital energies")->needs("--b");
  mp2->add_option("--virtual", a.virtuals, ".npy of the virtual ones")->needs("--b");
  mp2->add_option("--synthetic", a.synthetic, "nocc,nvir,naux: a problem with known energies")
      ->delimiter(',');
  mp2->add_option("--chain", a.chain, "a chain of this many hydrogen atoms");
  mp2->add_option("--spacing", a.spacing, "of the chain, in bohr (1.4)")->needs("--chain");
  mp2->add_option("--basis", a.basis, "of the chain: sto-3g (default), 6-31g")->needs("--chain");
  add_device(*mp2, "cpu (default), cuda: an NVIDIA GPU");
  mp2->add_option("--frozen-occupied", a.frozen_occupied, "lowest orbitals left out (0)");
  mp2->add_option("--frozen-virtual", a.frozen_virtual, "highest orbitals left out (0)");
  app.require_subcommand(0, 1);
  app.footer(R"(Examples:
  assay einsum 'ij,jk->ik' --shapes 512x512,512x512 --explain --analyze
  assay einsum 'ij,jk->ik' --operands a.npy b.npy --out c.npy
  assay einsum 'bij,bjk->bik' --shapes 32x1024x1024,32x1024x1024 --device auto --explain
  assay einsum calibrate
  assay einsum cp x.npy --rank 4 --out parts
  assay einsum mp2 --chain 10 --spacing 1.8 --basis 6-31g)");
}

void add_compile(CLI::App& app, CompileArguments& a) {
  app.add_option("graph", a.graph,
                 "a graph as JSON, or an archive of torch.export.save (docs/compiler.md)");
  app.add_flag("--operators", a.operators, "list the operators of archives that are covered");
  app.add_flag("--explain", a.explain,
               "measure each kernel, and predict it by this machine's limits");
  app.add_option("--search", a.search, "programs to try beside the default one (0)");
  app.add_option("--seconds", a.seconds, "no further one is tried after that (60)");
  add_seed(app, "of the search and of generated inputs (0)",
           [&a](std::uint64_t seed) { a.seed = seed; });
  app.add_option(
         "--symbols", a.symbols,
         "values to measure and run at, e.g. s=16,p=0 (what --inputs have, else the greatest, "
         "256 at most)")
      ->delimiter(',');
  app.add_option("--threads", a.threads, "cores to use (all)");
  app.add_option("--runtime", a.runtime, "cpu (default), plain");
  app.add_flag("--verify", a.verify, "hold the program to the interpreter, search or not");
  app.add_option("--dot", a.dot, "write the program there, for Graphviz");
  app.add_option("--trace", a.trace, "write the measured steps there, for Perfetto");
  app.add_flag("--run", a.run, "run it once, on generated inputs or on those of --inputs");
  app.add_option(
         "--inputs", a.inputs,
         ".safetensors file with a tensor for each input (of an archive: that forward() takes; "
         "others replace what is stored)")
      ->needs("--run");
  app.add_option("--out", a.out, "write the outputs there, as .safetensors")->needs("--run");
  app.add_flag("--json", a.json, "print JSON");
  app.add_flag("--verbose", a.verbose, "a line for each program that is tried");
  app.footer(R"(Examples:
  assay compile examples/block.json --explain
  assay compile examples/block.json --search 100 --seconds 20 --symbols s=16
  assay compile examples/block.json --symbols s=4 --verify --run --out y.safetensors
  assay compile model.pt2 --run --inputs x.safetensors --out y.safetensors)");
}

}  // namespace assay::cli
