#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"

namespace pliant::app {

/// What `pliant reproduce` was given.
struct ReproduceArguments {
  std::string name;
  bool all = false, quick = false, force = false;
  std::vector<std::string> options;  ///< key=value
  std::vector<std::string> only;     ///< claims that are asked for; empty: all of the experiment
  std::string out = "out/reproduce";
  std::string claims_of, report, record;
  double limit = 0;  ///< seconds an experiment of --all may take; 0: no limit
  int threads = 0;
  int jobs = 0;  ///< experiments of --all at a time; 0: with --quick as many as there are cores, else one
};

std::map<std::string, std::string> parse_options(const std::vector<std::string>& words);

/// Runs one experiment and leaves its results in a folder. Returns an exit code: success when it ran to its end and
/// its own checks pass, whatever the verdicts on the paper's claims.
int run_experiment(const experiments::Experiment& experiment, const ReproduceArguments& arguments);
/// Runs every experiment (of one paper, if a name is given), each in a process of its own, several at a time, but for
/// those whose results are there. Those that need all cores, or the results of others, come last and alone.
int run_all_experiments(const ReproduceArguments& arguments);
/// Prints every claim with its experiment and its last verdict, by a run in the folder or else by a recorded one.
void list_claims(const std::string& paper, const std::string& folder);

}  // namespace pliant::app
