#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/decision.hpp"

namespace pliant::experiments {

/// Something an experiment looks at beyond the papers' claims, with what was expected and what was measured. Numbers
/// that are not finite never pass.
struct Check {
  std::string text;
  Json expected;
  Json measured;
  bool holds = false;
};

/// A setting of an experiment: `pliant reproduce NAME --option key=value`.
struct Option {
  std::string key;
  std::string fallback;        ///< at the paper's size
  std::string quick_fallback;  ///< with --quick
  std::string summary;
};

/// What an experiment gets and what it leaves behind. Rows are handed to a listener as they come, so that a long
/// experiment that is stopped has not run for nothing.
class Context {
 public:
  struct Listener {
    std::function<void(const Json& row)> on_row = [](const Json&) {};
    std::function<void(const Decision&)> on_decision = [](const Decision&) {};
    /// `done` in [0, 1] of the whole experiment.
    std::function<void(double done, const std::string& what)> on_progress = [](double, const std::string&) {};
    std::function<bool()> stop = [] { return false; };
    std::filesystem::path results = {};  ///< folder with the results of other experiments (Archive); empty: none
    std::set<std::string> only = {};     ///< claims that are asked for; empty: all
  };

  Context(std::string experiment, bool quick, std::map<std::string, std::string> options, Listener listener)
      : experiment_(std::move(experiment)),
        quick_(quick),
        options_(std::move(options)),
        listener_(std::move(listener)) {}

  bool quick() const { return quick_; }
  const std::map<std::string, std::string>& options() const { return options_; }
  const std::string& text(const std::string& key) const { return options_.at(key); }
  double number(const std::string& key) const;
  /// Comma-separated.
  std::vector<std::string> list(const std::string& key) const;
  std::vector<int> integers(const std::string& key) const;
  std::vector<double> numbers(const std::string& key) const;

  /// Rows are flat: an entry that is a list (iterations of each step, a curve) goes to curves() with the row's number.
  void row(Json row);
  /// Hands over a claim's verdict; after a request to stop it is undecided, as what it is made of may be incomplete.
  /// Throws std::invalid_argument for a claim of another experiment and for a second verdict on the same.
  void decide(Decision decision);
  /// Hands it over as soon as no further run can change it, for claims that are looked at again after every run. Until
  /// then the last look is kept for the results, where the claim is undecided; once it is decided nothing happens.
  void settle(const Decision& decision);
  void check(Check check);
  /// A file beside results.json: a chart (.svg) or a picture of the scene (.png), which the report shows.
  void file(std::string name, std::string content) { files_[std::move(name)] = std::move(content); }
  void progress(double done, const std::string& what) const { listener_.on_progress(done, what); }
  /// Where the results of other experiments are, for those that look at them side by side.
  const std::filesystem::path& results_folder() const { return listener_.results; }
  /// Whether one of these claims is asked for: a part of an experiment that decides no other can be left out.
  bool wants(std::initializer_list<const char*> ids) const;
  /// True when the user asked to stop: finish with what there is.
  bool stopped() const { return listener_.stop(); }

  const std::vector<Json>& rows() const { return rows_; }
  const std::vector<Json>& curves() const { return curves_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  /// Claims that await further runs, by their ids.
  const std::map<std::string, Decision>& open() const { return open_; }
  const std::vector<Check>& checks() const { return checks_; }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  std::string experiment_;
  bool quick_;
  std::map<std::string, std::string> options_;
  Listener listener_;
  std::vector<Json> rows_;
  std::vector<Json> curves_;
  std::vector<Decision> decisions_;
  std::map<std::string, Decision> open_;
  std::vector<Check> checks_;
  std::map<std::string, std::string> files_;
};

/// One experiment of a paper.
struct Experiment {
  std::string name;     ///< PAPER/EXPERIMENT
  std::string summary;  ///< one sentence, with the figure or table of the paper
  std::vector<Option> options;
  std::function<void(Context&)> run;
  bool alone = false;  ///< after all others, with the machine to itself: it measures threads, or reads others' results
};

/// Every experiment, by paper.
const std::vector<Experiment>& catalogue();
/// Throws InputError naming the nearest one.
const Experiment& find(const std::string& name);
/// Given options over the experiment's defaults. Throws InputError for unknown keys.
std::map<std::string, std::string> complete_options(const Experiment& experiment, bool quick,
                                                    const std::map<std::string, std::string>& given);

/// How a run stands when its results are written.
struct Ending {
  double seconds = 0;
  std::string unfinished;        ///< why it is not at its end; empty when it is
  double processor_seconds = 0;  ///< of all threads: what it took of a machine that other programs share
};
/// The result as it goes into results.json: experiment, size, options, commit, machine, seconds, claims, checks, rows,
/// curves. Every claim of the experiment is among the claims, undecided with a reason where the run did not decide it.
Json results(const Experiment& experiment, const Context& context, const Ending& ending);
/// A table a person can read: one line per row, the columns that all rows share, numbers to four digits.
std::string table(const std::vector<Json>& rows);
/// One row on a line, as key=value: for watching an experiment as it goes.
std::string table_line(const Json& row);

}  // namespace pliant::experiments
