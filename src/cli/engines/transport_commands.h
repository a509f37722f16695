// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `assay-transport` is made of: one function for each action of `assay transport`.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/arguments/arguments.h"
#include "transport/files/data_file.h"
#include "transport/scan/accuracy.h"
#include "transport/scan/input.h"
#include "transport/scan/scan.h"

namespace assay::transport {
class Ranks;
}

namespace assay::cli {

// Solves the cases of a file: `assay transport FILE` and `assay transport scan FILE`. `ranks` are
// those of mpirun, if that started the program.
int transport_run(const TransportArguments& arguments);
int transport_inspect(const TransportArguments& arguments);
int transport_converge(const TransportArguments& arguments);
int transport_database(const TransportArguments& arguments);
int transport_profiles(const TransportArguments& arguments);

// Runs an action with the ranks of mpirun, if that started the program, else with none; every rank
// returns the status of rank 0.
int over_ranks(const std::function<int(transport::Ranks*)>& action);

// Seconds of the parts of a run; what was not done is 0.
struct RunTimes {
  double prepare_s = 0, solve_s = 0, write_s = 0, plot_s = 0, total_s = 0;
};

// "25x25x60". Throws UserError.
transport::Grid parse_grid(const std::string& text);

// The file, or what the flags of `solve` say; with what was typed in place of what it says.
transport::RunInput input_with_flags(const TransportArguments& arguments);

// The input file and the equilibria that an action on cases reads.
std::vector<std::string> files_read(const TransportArguments& arguments,
                                    const transport::RunInput& input);

// How many cases to solve at the same time: as many as asked for, otherwise one for each core as
// far as memory goes. Throws UserError with the figures where that is more memory than there is.
// `parity`: see lane_bytes().
struct Lanes {
  int count = 1;
  bool whole_system = true;  // see transport::SolveOptions: false where memory is too small for it
};
Lanes lanes_that_fit(const transport::Grid& grid, transport::Method method, bool parity,
                     std::optional<int> asked, std::size_t cases);

// Whether two names are one file, whether or not it is there yet.
bool is_same_file(const std::string& a, const std::string& b);
// Throws UserError where a file that is going to be written (an output, the image beside it, a
// journal) is one of those that are read.
void refuse_overwriting(const std::vector<std::string>& written,
                        const std::vector<std::string>& read);

// What --accuracy and its limits ask for; nothing without it. Throws UserError where they make no
// sense, or where `ranks` should share the work.
std::optional<transport::AccuracyOptions> accuracy_asked(const TransportArguments& arguments,
                                                         const transport::Ranks* ranks);
// Threads for so many cases of which each may become as large as memory allows.
int threads_for(std::optional<int> asked, std::size_t cases);
// A list that was typed, or the default.
std::vector<double> typed_list(const std::vector<std::string>& items, const char* flag,
                               const char* otherwise);
Json cost_json(const transport::AccuracyCost& cost);

// The exit status of an answer with these warnings: --strict makes them count.
int status_of(const TransportArguments& arguments, bool warned);

// Which program made an output, when, and from which files (with their SHA-256).
std::map<std::string, std::string> provenance_texts(const std::vector<std::string>& files);

// What is printed on standard output.
std::string run_text(const transport::RunInput& input, const transport::Prepared& prepared,
                     const std::vector<transport::Solution>& solutions, const RunTimes& times,
                     const std::vector<std::string>& written,
                     std::optional<transport::Normalisation> normalisation);
// `memory`: peak bytes until the cases were solved, of all ranks together.
Json run_json(const transport::RunInput& input, const std::vector<transport::Solution>& solutions,
              const RunTimes& times, double memory,
              const std::map<std::string, std::string>& provenance,
              const transport::Geometry& geometry,
              std::optional<transport::Normalisation> normalisation);

// The name of an output with .png.
std::string image_beside(const std::string& output);
// Draws the panel of a run beside `output` and returns the image's name.
std::string draw_panel(const transport::RunInput& input, const transport::Prepared& prepared,
                       const std::vector<transport::Solution>& solutions,
                       const std::string& output);

// What is said when SIGINT or SIGTERM ends the program, which happens at once, in the middle of
// whatever it solves (status 130): finished cases are in the journal by then. `words` must outlive
// the program.
void say_when_interrupted(const char* words);
inline constexpr const char* kGoesOn = "interrupted; the same command goes on from here\n";

// While one of these lives, both signals wait: for what is to be done whole or not at all.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace assay::cli
