#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pliant::experiments {

using Json = nlohmann::ordered_json;

/// A statement of a paper (or of ours) with what was published and what was measured here.
struct Claim {
  std::string text;
  Json published;
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
    /// `done` in [0, 1] of the whole experiment.
    std::function<void(double done, const std::string& what)> on_progress = [](double, const std::string&) {};
    std::function<bool()> stop = [] { return false; };
  };

  Context(bool quick, std::map<std::string, std::string> options, Listener listener)
      : quick_(quick), options_(std::move(options)), listener_(std::move(listener)) {}

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
  void claim(Claim claim) { claims_.push_back(std::move(claim)); }
  /// A file beside results.json, such as a chart.
  void file(std::string name, std::string content) { files_[std::move(name)] = std::move(content); }
  void progress(double done, const std::string& what) const { listener_.on_progress(done, what); }
  /// True when the user asked to stop: finish with what there is.
  bool stopped() const { return listener_.stop(); }

  const std::vector<Json>& rows() const { return rows_; }
  const std::vector<Json>& curves() const { return curves_; }
  const std::vector<Claim>& claims() const { return claims_; }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  bool quick_;
  std::map<std::string, std::string> options_;
  Listener listener_;
  std::vector<Json> rows_;
  std::vector<Json> curves_;
  std::vector<Claim> claims_;
  std::map<std::string, std::string> files_;
};

/// One experiment of a paper.
struct Experiment {
  std::string name;     ///< PAPER/EXPERIMENT
  std::string summary;  ///< one sentence, with the figure or table of the paper
  std::vector<Option> options;
  std::function<void(Context&)> run;
};

/// Every experiment, by paper.
const std::vector<Experiment>& catalogue();
/// Throws InputError naming the nearest one.
const Experiment& find(const std::string& name);
/// Given options over the experiment's defaults. Throws InputError for unknown keys.
std::map<std::string, std::string> complete_options(const Experiment& experiment, bool quick,
                                                    const std::map<std::string, std::string>& given);

/// The result as it goes into results.json: experiment, parameters, commit, machine, rows, claims, curves.
Json results(const Experiment& experiment, const Context& context);
/// A table a person can read: one line per row, the columns that all rows share, numbers to four digits.
std::string table(const std::vector<Json>& rows);
/// One row on a line, as key=value: for watching an experiment as it goes.
std::string table_line(const Json& row);

}  // namespace pliant::experiments
