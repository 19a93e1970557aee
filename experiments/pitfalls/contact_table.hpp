#pragma once

#include "experiments/pitfalls/pitfalls.hpp"

namespace pliant::experiments {

/// A scene with contact run by the four solvers at several tolerances of the step-length criterion (pitfalls, section
/// 10.3).
struct ContactTable {
  std::shared_ptr<const Model> model;
  int steps = 1;
  std::vector<std::string> solvers;
  std::vector<double> tolerances;  ///< eps_d, m/s
  std::vector<std::string> line_searches = {"robust"};
  int max_iterations = 1000;
};

/// Runs it and adds the rows, with `first` in front of each. Returns false when the user stopped it.
bool run_contact_table(Context& context, const ContactTable& table, const Json& first = Json::object());

/// Claims that PDN needs no more than 10% more iterations than the best of the four, at each tolerance.
void check_pod_newton_is_best(Context& context, const std::string& published);
/// Claims that contact takes less than a quarter of the steps' time.
void check_contact_share(Context& context);

/// The options that all tables have.
std::vector<Option> contact_table_options();
ContactTable contact_table(const Context& context, std::shared_ptr<const Model> model);

}  // namespace pliant::experiments
